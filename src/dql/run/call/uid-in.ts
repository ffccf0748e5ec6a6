import type { GraphsteadError } from '../../../base/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import { readColumn } from '../batch.js';
import type { Execution } from '../execution.js';
import { contains, EMPTY, filterUids, intersect, union } from '../uid-set.js';
import { invalid, missingIndex, subjectOf } from './argument.js';
import type { CallOperator } from './contract.js';
import { argumentUids } from './uid.js';

/** `uid_in(friend, 0x1, uid(x))`: has an edge to one of them. Only a filter. */
export const uidInCall: CallOperator = {
  async root(call) {
    throw invalid(
      'uid_in filters, it cannot be a root function',
      call.position,
      'Start from the other end: uid(..) { ~edge }.',
    );
  },

  async filter(call, candidates, execution) {
    const { name, reverse } = subjectOf(call);
    const predicate = execution.predicate(name);
    if (!predicate) return EMPTY;
    if (predicate.type !== 'uid')
      throw invalid(
        `uid_in needs an edge, ${name} is of type ${predicate.type}`,
        call.position,
        `Compare its value: eq(${name}, ...).`,
      );
    if (reverse && !predicate.reverse) throw noReverse(name, call, execution);
    const targets = argumentUids(call, execution);
    if (targets.length === 0) return EMPTY;
    const other = reverse || predicate.reverse;
    // Few targets and many candidates: walk from the targets back.
    if (other && targets.length * 4 < candidates.length) {
      const matrix = await execution.reader.edges(predicate, targets, { reverse: !reverse });
      return intersect(candidates, union(matrix.rows));
    }
    const rows = await readColumn(candidates, execution, async (batch) => {
      const matrix = await execution.reader.edges(predicate, batch, { reverse });
      return matrix.rows;
    });
    return filterUids(candidates, (_, i) => rows[i].some((uid) => contains(targets, uid)));
  },
};

/** `~p` of a predicate without @reverse. */
export function noReverse(name: string, call: FunctionCall, execution: Execution): GraphsteadError {
  return missingIndex(
    `~${name} follows edges backwards, which @reverse keeps, and ${name} has none`,
    name,
    execution.predicate(name),
    '@reverse',
    call,
  );
}
