import { EMPTY } from '../uid-set.js';
import { uidsOf } from '../variable.js';
import { invalid } from './argument.js';
import type { CallOperator } from './contract.js';
import { holdsCount } from './count.js';

/** `eq(len(x), 3)`: how many nodes a variable holds is the same for every candidate, so all of them pass or none. */
export const lengthCall: CallOperator = {
  async root(call) {
    throw invalid('no block starts from len(..)', call.position, 'Start from uid(..) and put len(..) into @filter.');
  },

  async filter(call, candidates, execution) {
    if (call.subject?.kind !== 'length') throw invalid('len(..) expected', call.position, 'Write it as eq(len(x), 3).');
    const { length } = uidsOf(execution.variables.get(call.subject.variable));
    return holdsCount(call, length, execution) ? candidates : EMPTY;
  },
};
