import type { FunctionCall } from '../../syntax/index.js';
import { readColumn } from '../batch.js';
import type { Execution } from '../execution.js';
import { checkReverse, missingIndex, undeclared } from '../missing.js';
import { EMPTY, filterUids, union } from '../uid-set.js';
import { invalid, textOf } from './argument.js';
import type { CallOperator } from './contract.js';
import { valuesOf } from './argument.js';

/** Counts from `min` to `max`, both included. */
interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** `ge(count(friend), 2)` */
export const countCall: CallOperator = {
  async root(call, execution) {
    const { name, reverse } = countedBy(call);
    const bounds = boundsOf(call, execution);
    refuseZero(call, bounds);
    const predicate = execution.predicate(name) ?? undeclared(name);
    if (reverse && (predicate.count || predicate.type !== 'uid')) checkReverse(predicate, call.position, execution);
    if (!predicate.count) {
      const message = `counts at root are read from an index that @count keeps, and ${name} has none`;
      const lacking = { count: true, reverse: reverse || predicate.reverse };
      throw missingIndex(message, predicate, lacking, call.position, execution);
    }
    const lists = [];
    for (const { min, max } of bounds) {
      await execution.checkpoint();
      if (min <= max) lists.push(await execution.reader.byCount(predicate, min, max, reverse ? { reverse } : {}));
    }
    return union(lists);
  },

  async filter(call, candidates, execution) {
    const { name, reverse } = countedBy(call);
    const bounds = boundsOf(call, execution);
    const predicate = execution.predicate(name);
    if (!predicate) return bounds.some(({ min }) => min <= 0) ? candidates : EMPTY;
    if (reverse) checkReverse(predicate, call.position, execution);
    const options = reverse ? { reverse } : {};
    const counts = await readColumn(candidates, execution, (batch) =>
      execution.reader.counts(predicate, batch, options),
    );
    return filterUids(candidates, (_, i) => lies(counts[i], bounds));
  },
};

/** Whether a count is what a call compares it with, as in `eq(len(v), 0)`. Throws INVALID_VALUE for what is no whole number. */
export function holdsCount(call: FunctionCall, count: number, execution: Execution): boolean {
  return lies(count, boundsOf(call, execution));
}

function lies(count: number, bounds: readonly Bounds[]): boolean {
  return bounds.some(({ min, max }) => count >= min && count <= max);
}

/** The index holds what has edges; whatever has none cannot be found by it. */
function refuseZero(call: FunctionCall, bounds: readonly Bounds[]): void {
  if (!bounds.some(({ min, max }) => max <= 0 || (min <= 0 && (call.name === 'ge' || call.name === 'gt')))) return;
  throw invalid(
    'the count index holds no nodes with a count of zero, and no count is below zero',
    call.position,
    'Use it in a filter, on nodes that another function finds.',
  );
}

function countedBy(call: FunctionCall): { name: string; reverse: boolean } {
  if (call.subject?.kind === 'count') return call.subject;
  throw invalid('count(..) expected', call.position, 'Write it as ge(count(friend), 2).');
}

function boundsOf(call: FunctionCall, execution: Execution): Bounds[] {
  const numbers = valuesOf(call, 'int', execution).map((value) => Number(value.value));
  const [first, second] = numbers;
  const last = Number.MAX_SAFE_INTEGER;
  if (call.name === 'eq') return numbers.map((count) => ({ min: count, max: count }));
  if (first === undefined) return [];
  switch (call.name) {
    case 'le':
      return [{ min: 0, max: first }];
    case 'lt':
      return [{ min: 0, max: first - 1 }];
    case 'ge':
      return [{ min: first, max: last }];
    case 'gt':
      return [{ min: first + 1, max: last }];
    case 'between':
      return [{ min: first, max: second ?? Number(textOf(call.args[1], call)) }];
    default:
      throw invalid(`${call.name} cannot compare a count`, call.position, 'Use eq, le, lt, ge, gt or between.');
  }
}
