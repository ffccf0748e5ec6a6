import { GraphsteadError } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import {
  compareStored,
  compareTexts,
  compareValues,
  decodeValue,
  type StoredValue,
  valueText,
} from '../../values/index.js';
import type { OrderKey } from '../syntax/index.js';
import { BATCH, listOf, readColumn } from './batch.js';
import type { Execution } from './execution.js';
import { chooseValues } from './language.js';
import { valueFor } from './variable.js';

/** Compares two positions of the list that is being sorted; what has no value comes last, whatever the direction. */
type Comparator = (a: number, b: number) => number;

/** Positions of the uids in the order of the keys; ties in uid order. */
export async function sortedPositions(
  uids: UidList,
  keys: readonly OrderKey[],
  execution: Execution,
): Promise<Uint32Array> {
  const comparators: Comparator[] = [];
  // Among several keys, two without a value for a descending one stand in descending order themselves, as Dgraph has them.
  const lateFirst = keys.length > 1 && execution.names.dgraph;
  for (const key of keys) comparators.push(await comparatorOf(key, uids, lateFirst, execution));
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

/** Positions that are sorted at once, without a pause: a few milliseconds. */
const RUN = 2_048;

/** The positions 0 to length - 1, sorted: runs first, which are then merged. Equal ones keep their order. */
export async function sortInSteps(length: number, compare: Comparator, execution: Execution): Promise<Uint32Array> {
  let from = new Uint32Array(length);
  for (let start = 0; start < length; start += RUN) {
    await execution.checkpoint();
    const run = Array.from({ length: Math.min(RUN, length - start) }, (_, i) => start + i);
    from.set(run.sort(compare), start);
  }
  let to = new Uint32Array(from.length > RUN ? length : 0);
  for (let width = RUN; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      await mergeRuns(from, to, { start, middle: start + width, end: start + 2 * width }, compare, execution);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges two runs that lie next to each other. */
async function mergeRuns(
  from: Uint32Array,
  to: Uint32Array,
  { start, middle, end }: { readonly start: number; readonly middle: number; readonly end: number },
  compare: Comparator,
  execution: Execution,
): Promise<void> {
  const leftEnd = Math.min(middle, from.length);
  const rightEnd = Math.min(end, from.length);
  let left = start;
  let right = leftEnd;
  for (let at = start; at < rightEnd; at++) {
    if ((at & (BATCH - 1)) === 0) await execution.checkpoint();
    const takesLeft = right >= rightEnd || (left < leftEnd && compare(from[left], from[right]) <= 0);
    to[at] = takesLeft ? from[left++] : from[right++];
  }
}

async function comparatorOf(
  key: OrderKey,
  uids: UidList,
  lateFirst: boolean,
  execution: Execution,
): Promise<Comparator> {
  await execution.checkpoint();
  const { by } = key;
  if (by.kind === 'variable') {
    const variable = execution.variables.get(by.name);
    const values = await readColumn(uids, execution, (batch) => Array.from(batch, (uid) => valueFor(variable, uid)));
    return nullsLast(values, compareValues, key.descending);
  }
  if (by.kind === 'facet') {
    throw new GraphsteadError('INVALID_QUERY', 'facets order edges, not nodes', {
      position: key.position,
      fix: 'Write @facets(orderasc: key) at the edge.',
    });
  }
  const predicate = execution.predicate(by.name);
  if (!predicate) return () => 0;
  const chosen = await chooseValues(execution, predicate, uids, by.langs);
  const values = await listOf(chosen.values, execution);
  const lang = by.langs.find((one) => one !== '.');
  if (!lang) return nullsLast(values, compareStored, key.descending, lateFirst);
  const texts = await textsOf(values, execution);
  return nullsLast(texts, (a, b) => compareTexts(a, b, lang), key.descending, lateFirst);
}

async function textsOf(
  values: readonly (StoredValue | undefined)[],
  execution: Execution,
): Promise<readonly (string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for (const value of values) {
    if ((texts.length & (BATCH - 1)) === 0) await execution.checkpoint();
    texts.push(value && valueText(decodeValue(value)));
  }
  return texts;
}

function nullsLast<T>(
  column: readonly (T | undefined)[],
  compare: (a: T, b: T) => number,
  descending: boolean,
  lateFirst = false,
): Comparator {
  const tie = (a: number, b: number): number => (lateFirst && descending ? b - a : 0);
  const direction = descending ? -1 : 1;
  return (a, b) => {
    const left = column[a];
    const right = column[b];
    if (left === undefined) return right === undefined ? tie(a, b) : 1;
    return right === undefined ? -1 : direction * compare(left, right);
  };
}
