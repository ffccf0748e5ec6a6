import type { UidList } from '../../../graph/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { fromUids, intersect, union } from '../uid-set.js';
import { uidsOf } from '../variable.js';
import { invalid } from './argument.js';
import type { CallOperator } from './contract.js';

/** The uids that arguments stand for: literals, uid variables, and the uids that have a value in a value variable. */
export function argumentUids(call: FunctionCall, execution: Execution): UidList {
  const literals: number[] = [];
  const lists: UidList[] = [];
  for (const argument of call.args) {
    if (argument.kind === 'uid') literals.push(argument.uid);
    else if (argument.kind === 'uidVariable') lists.push(uidsOf(execution.variables.get(argument.name)));
    else if (argument.kind === 'value') lists.push(uidsOf(execution.variables.get(argument.variable)));
    else throw invalid(`${call.name} takes uids and uid variables`, argument.position, 'Write uid(0x1f, v).');
  }
  return union([fromUids(literals), ...lists]);
}

/** `uid(0x1, x)` */
export const uidCall: CallOperator = {
  size: (call, execution) => argumentUids(call, execution).length,
  root: async (call, execution) => argumentUids(call, execution),
  filter: async (call, candidates, execution) => intersect(candidates, argumentUids(call, execution)),
};
