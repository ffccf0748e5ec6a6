import { checkPassword, decodeValue } from '../../../values/index.js';
import { readValues } from '../batch.js';
import { EMPTY } from '../uid-set.js';
import { invalid, subjectOf, textOf } from './argument.js';
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
    const stored = await readValues(predicate, candidates, '', execution);
    const kept: number[] = [];
    for (let i = 0; i < candidates.length; i++) {
      const bytes = stored.at(i);
      if (!bytes) continue;
      // One check takes some 40 ms by design.
      await execution.checkpoint();
      const value = decodeValue(bytes);
      if (value.type === 'password' && (await checkPassword(value.value, text))) kept.push(candidates[i]);
    }
    return Float64Array.from(kept);
  },
};
