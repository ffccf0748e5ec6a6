import { checkPassword, decodeValue } from '../../../values/index.js';
import { EMPTY } from '../uid-set.js';
import { invalid, subjectOf, textOf } from './argument.js';
import { filterByValue } from './by-value.js';
import type { CallOperator } from './contract.js';

/** `checkpwd(password, "secret")` as a filter. */
export const passwordCall: CallOperator = {
  async root(call) {
    throw invalid('checkpwd is not allowed at root', call.position, 'Use it as a filter or as a selection.');
  },
  async filter(call, candidates, execution) {
    const text = textOf(call.args[0], call);
    const predicate = execution.predicate(subjectOf(call).name);
    if (!predicate) return EMPTY;
    return filterByValue(execution, predicate, candidates, [], (bytes) => {
      const value = decodeValue(bytes);
      return value.type === 'password' && checkPassword(value.value, text);
    });
  },
};
