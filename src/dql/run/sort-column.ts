import { GraphsteadError, type MaybePromise } from '../../base/index.js';
import type { StoredColumn, UidList } from '../../graph/index.js';
import {
  compareStored,
  compareTexts,
  compareValues,
  decodeValue,
  type OrderKind,
  orderKind,
  orderNumber,
  type Value,
  valueText,
} from '../../values/index.js';
import type { OrderKey } from '../syntax/index.js';
import { BATCH, readColumn } from './batch.js';
import type { Execution } from './execution.js';
import { chooseValues } from './language.js';
import { valueFor } from './variable.js';

/** What one key of an order says of some uids. */
export interface SortColumn<T = unknown> {
  readonly length: number;
  readonly descending: boolean;
  /** undefined where there is no value */
  at(index: number): T | undefined;
  compare(a: T, b: T): number;
  has(index: number): boolean;
  /**
   * Numbers in whose ascending order some of those that have a value stand. Equal numbers may still hide a difference, except
   * where they are asked for of these alone and all of them are equal. undefined: only comparing tells the order.
   */
  numbers?(places: Uint32Array, pause: () => MaybePromise<void>): Promise<Float64Array | undefined>;
}

/** undefined: the key names what the schema does not know. Throws INVALID_QUERY. */
export async function readSortColumn(
  key: OrderKey,
  uids: UidList,
  execution: Execution,
): Promise<SortColumn | undefined> {
  await execution.checkpoint();
  const { by, descending } = key;
  if (by.kind === 'variable') {
    const variable = execution.variables.get(by.name);
    const values = await readColumn(uids, execution, (batch) => Array.from(batch, (uid) => valueFor(variable, uid)));
    const numbers: SortColumn['numbers'] = (places, pause) => numbersOfValues(values, places, descending, pause);
    return { ...listColumn(values, compareValues, descending), numbers };
  }
  if (by.kind === 'facet') {
    throw new GraphsteadError('INVALID_QUERY', 'facets order edges, not nodes', {
      position: key.position,
      fix: 'Write @facets(orderasc: key) at the edge.',
    });
  }
  const predicate = execution.predicate(by.name);
  if (!predicate) return undefined;
  const { values } = await chooseValues(execution, predicate, uids, by.langs);
  const lang = by.langs.find((one) => one !== '.');
  if (!lang) return storedColumn(values, descending);
  return listColumn(await textsOf(values, execution), (a, b) => compareTexts(a, b, lang), descending);
}

function listColumn<T>(
  list: readonly (T | undefined)[],
  compare: (a: T, b: T) => number,
  descending: boolean,
): SortColumn<T> {
  return {
    length: list.length,
    descending,
    at: (index) => list[index],
    has: (index) => list[index] !== undefined,
    compare,
  } satisfies SortColumn<T>;
}

async function textsOf(values: StoredColumn, execution: Execution): Promise<readonly (string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for (let i = 0; i < values.length; i++) {
    if ((i & (BATCH - 1)) === 0) await execution.checkpoint();
    const value = values.at(i);
    texts.push(value && valueText(decodeValue(value)));
  }
  return texts;
}

/** Of ints and floats, which are their numbers. */
async function numbersOfValues(
  values: readonly (Value | undefined)[],
  places: Uint32Array,
  descending: boolean,
  pause: () => MaybePromise<void>,
): Promise<Float64Array | undefined> {
  const numbers = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) {
    if (i % BATCH === 0) await pause();
    const value = values[places[i]];
    if (value?.type !== 'int' && value?.type !== 'float') return undefined;
    numbers[i] = descending ? 0 - Number(value.value) : Number(value.value) + 0;
  }
  return numbers;
}

/** A column of stored values. */
export function storedColumn(values: StoredColumn, descending: boolean): SortColumn {
  return {
    length: values.length,
    descending,
    at: (index) => values.at(index),
    has: (index) => values.has(index),
    compare: compareStored,
    numbers: (places, pause) => numbersOf(values, places, descending, pause),
  } satisfies SortColumn<Uint8Array>;
}

async function numbersOf(
  values: StoredColumn,
  places: Uint32Array,
  descending: boolean,
  pause: () => MaybePromise<void>,
): Promise<Float64Array | undefined> {
  const numbers = new Float64Array(places.length);
  if (places.length === 0) return numbers;
  values.seek(places[0]);
  const kind = orderKind(values.bytes, values.start);
  const first = values.at(places[0]);
  if (kind === undefined || first === undefined) return undefined;
  let shared = kind === 'text' ? first.length - 1 : 0;
  for (let at = 0; at < places.length; at += BATCH) {
    await pause();
    shared = sharedBytes(values, places, at, first, kind, shared);
    if (shared < 0) return undefined;
  }
  for (let at = 0; at < places.length; at += BATCH) {
    await pause();
    putNumbers(values, places, at, numbers, { shared, descending });
  }
  return numbers;
}

/** With how many bytes a batch of texts begins as the first one does, at most those known before; -1 where other kinds stand among them. */
function sharedBytes(
  values: StoredColumn,
  places: Uint32Array,
  from: number,
  first: Uint8Array,
  kind: OrderKind,
  known: number,
): number {
  const to = Math.min(from + BATCH, places.length);
  let shared = known;
  for (let i = from; i < to; i++) {
    values.seek(places[i]);
    const { bytes, start, end } = values;
    if (bytes[start] !== first[0] && orderKind(bytes, start) !== kind) return -1;
    if (shared === 0) continue;
    const most = Math.min(shared, end - start - 1);
    let same = 0;
    while (same < most && bytes[start + 1 + same] === first[1 + same]) same++;
    shared = same;
  }
  return shared;
}

function putNumbers(
  values: StoredColumn,
  places: Uint32Array,
  from: number,
  numbers: Float64Array,
  { shared, descending }: { readonly shared: number; readonly descending: boolean },
): void {
  const to = Math.min(from + BATCH, places.length);
  for (let i = from; i < to; i++) {
    values.seek(places[i]);
    const number = orderNumber(values.bytes, values.start, values.end, shared);
    // a zero stays one without a sign
    numbers[i] = descending ? 0 - number : number;
  }
}
