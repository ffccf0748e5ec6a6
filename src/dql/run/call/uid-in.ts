import { readColumn } from '../batch.js';
import { checkReverse } from '../missing.js';
import { contains, EMPTY, filterUids, intersect, union } from '../uid-set.js';
import { invalid, subjectOf } from './argument.js';
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
    if (reverse) checkReverse(predicate, call.position, execution);
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
