import type { UidList } from '../../graph/index.js';
import type { OrderKey } from '../syntax/index.js';
import type { Execution } from './execution.js';
import { readSortColumn, type SortColumn } from './sort-column.js';
import { type Comparator, RUN, sortInSteps } from './sort-in-steps.js';
import { sortMany } from './sort-many.js';

/** The whole of an order. */
export const WHOLE = [0, Number.POSITIVE_INFINITY] as const;

/**
 * Positions of the uids in the order of the keys; ties in uid order.
 * @param range which places of the order are asked for, from one up to another: what stands before and behind may be in any order
 */
export async function sortedPositions(
  uids: UidList,
  keys: readonly OrderKey[],
  execution: Execution,
  range: readonly [start: number, end: number] = WHOLE,
): Promise<Uint32Array> {
  // Among several keys, two without a value for a descending one stand in descending order themselves, as Dgraph has them.
  const lateFirst = keys.length > 1 && execution.names.dgraph;
  if (uids.length > RUN) return await sortMany(uids, keys, { lateFirst, range }, execution);
  const comparators: Comparator[] = [];
  for (const key of keys) {
    const column = await readSortColumn(key, uids, execution);
    if (column) comparators.push(nullsLast(itemsOf(column), column, lateFirst));
  }
  return await sortInSteps(uids.length, byAll(comparators), execution);
}

/** The uids in the order of the keys; ties in uid order. */
export async function sortUids(uids: UidList, keys: readonly OrderKey[], execution: Execution): Promise<UidList> {
  if (uids.length < 2) return uids;
  return Float64Array.from(await sortedPositions(uids, keys, execution), (at) => uids[at]);
}

function byAll(comparators: readonly Comparator[]): Comparator {
  if (comparators.length === 1) return comparators[0];
  return (a, b) => {
    for (const compare of comparators) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

/** All that stand in a column of few. */
function itemsOf<T>(column: SortColumn<T>): readonly (T | undefined)[] {
  return Array.from({ length: column.length }, (_, i) => column.at(i));
}

function nullsLast<T>(
  items: readonly (T | undefined)[],
  { compare, descending }: SortColumn<T>,
  lateFirst: boolean,
): Comparator {
  const tie = (a: number, b: number): number => (lateFirst && descending ? b - a : 0);
  const direction = descending ? -1 : 1;
  return (a, b) => {
    const left = items[a];
    const right = items[b];
    if (left === undefined) return right === undefined ? tie(a, b) : 1;
    return right === undefined ? -1 : direction * compare(left, right);
  };
}
