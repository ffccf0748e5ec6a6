import type { Predicate, UidList } from '../../../graph/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import { filterBatches } from '../batch.js';
import type { Execution } from '../execution.js';
import { checkReverse } from '../missing.js';
import { subjectOf } from './argument.js';
import { filterByValue, joined } from './by-value.js';
import type { CallOperator } from './contract.js';

/** `has(name)`, `has(~friend)`, `has(name@en)`: on a predicate with languages, no tag means the untagged value. */
export const hasCall: CallOperator = {
  root: (call, execution) => scanHaving(call, execution, 0, Number.POSITIVE_INFINITY),
  size: (call, execution) => (execution.predicate(subjectOf(call).name) ? Number.POSITIVE_INFINITY : 0),
  first: (call, execution, { after, count }) => scanHaving(call, execution, after, count),
  async filter(call, candidates, execution) {
    const subject = subjectOf(call);
    const predicate = execution.predicate(subject.name);
    if (!predicate) return candidates.subarray(0, 0);
    const reverse = subject.reverse;
    if (reverse) checkReverse(predicate, call.position, execution);
    const options = reverse ? { reverse } : {};
    const having = await filterBatches(candidates, execution, (batch) =>
      execution.reader.filterHaving(predicate, batch, options),
    );
    return await narrow(call, predicate, having, execution);
  },
};

/** The first `enough` uids above `after`: what a page without filter and order needs. */
export async function scanHaving(
  call: FunctionCall,
  execution: Execution,
  after: number,
  enough: number,
): Promise<UidList> {
  const subject = subjectOf(call);
  const predicate = execution.predicate(subject.name);
  const found: UidList[] = [];
  let total = 0;
  if (subject.reverse && predicate) checkReverse(predicate, call.position, execution);
  if (predicate) {
    const options = { ...(subject.reverse ? { reverse: true } : {}), ...(after > 0 ? { after } : {}) };
    for await (const page of execution.reader.having(predicate, options)) {
      await execution.checkpoint();
      const kept = await narrow(call, predicate, page, execution);
      found.push(kept);
      total += kept.length;
      if (total >= enough) break;
    }
  }
  return joined(found);
}

async function narrow(call: FunctionCall, predicate: Predicate, uids: UidList, execution: Execution): Promise<UidList> {
  if (!predicate.lang) return uids;
  return await filterByValue(execution, predicate, uids, subjectOf(call).langs, () => true);
}
