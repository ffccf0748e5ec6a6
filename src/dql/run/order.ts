import { GraphsteadError } from '../../base/index.js';
import type { IndexSpec, Predicate, UidList } from '../../graph/index.js';
import {
  compareStored,
  compareTexts,
  compareValues,
  decodeValue,
  type IndexKind,
  type StoredValue,
  tokenizer,
  tokensOf,
  valueText,
} from '../../values/index.js';
import type { OrderKey } from '../syntax/index.js';
import type { Execution } from './execution.js';
import { chooseValues } from './language.js';
import { contains, EMPTY, filterUids, indexOf, intersect, subtract } from './uid-set.js';
import { uidsOf, valueFor } from './variable.js';

/** Compares two positions of the list that is being sorted; what has no value comes last, whatever the direction. */
type Comparator = (a: number, b: number) => number;

/**
 * Sorts each row by the keys; ties stay in uid order. `enough` bounds what of a row is needed from its start: a long
 * row is then read off the index instead of being sorted.
 * @param uids distinct uids of all rows, ascending
 */
export async function orderRows(
  rows: readonly UidList[],
  uids: UidList,
  keys: readonly OrderKey[],
  enough: number,
  execution: Execution,
): Promise<readonly UidList[]> {
  checkKeys(keys, execution);
  if (uids.length === 0) return rows;
  const [key] = keys;
  if (keys.length === 1 && key.by.kind === 'variable' && !key.by.keepAll)
    rows = keepValued(rows, key.by.name, execution);
  if (rows.length === 1 && keys.length === 1) {
    const streamed = await orderByIndex(uids, key, enough, execution);
    if (streamed) return [streamed];
  }
  const ranks = await rankOf(uids, keys, execution);
  return rows.map((row) => (row.length < 2 ? row : sortByRank(row, uids, ranks)));
}

/** Ordering by a value variable drops what has no value, unless none has. */
function keepValued(rows: readonly UidList[], name: string, execution: Execution): readonly UidList[] {
  const variable = execution.variables.get(name);
  if (variable?.constant) return rows;
  const valued = uidsOf(variable);
  return rows.map((row) => {
    const kept = filterUids(row, (uid) => contains(valued, uid));
    return kept.length === 0 ? row : kept;
  });
}

function sortByRank(row: UidList, uids: UidList, ranks: Uint32Array): UidList {
  const byRank = new Float64Array(row.length);
  const positions = new Uint32Array(row.length);
  for (let i = 0; i < row.length; i++) positions[i] = ranks[indexOf(uids, row[i])];
  const order = Array.from(row.keys()).sort((a, b) => positions[a] - positions[b]);
  for (let i = 0; i < order.length; i++) byRank[i] = row[order[i]];
  return byRank;
}

/** Place of each uid in the order. */
async function rankOf(uids: UidList, keys: readonly OrderKey[], execution: Execution): Promise<Uint32Array> {
  const comparators: Comparator[] = [];
  for (const key of keys) comparators.push(await comparatorOf(key, uids, keys.length > 1, execution));
  const order = Array.from(uids.keys());
  order.sort((a, b) => {
    for (const compare of comparators) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return a - b;
  });
  await execution.checkpoint();
  const ranks = new Uint32Array(uids.length);
  for (let place = 0; place < order.length; place++) ranks[order[place]] = place;
  return ranks;
}

async function comparatorOf(key: OrderKey, uids: UidList, several: boolean, execution: Execution): Promise<Comparator> {
  await execution.checkpoint();
  const { by } = key;
  if (by.kind === 'variable') {
    const variable = execution.variables.get(by.name);
    const values = Array.from(uids, (uid) => valueFor(variable, uid));
    return nullsLast(values, compareValues, key.descending);
  }
  if (by.kind === 'facet') throw mistake(key, 'facets order edges: write @facets(orderasc: key)');
  const predicate = execution.predicate(by.name);
  if (!predicate) return () => 0;
  const { values } = await chooseValues(execution, predicate, uids, by.langs);
  const lang = by.langs.find((one) => one !== '.');
  if (!lang) return nullsLast(values, compareStored, key.descending, several);
  const texts = values.map((value) => value && valueText(decodeValue(value)));
  return nullsLast(texts, (a, b) => compareTexts(a, b, lang), key.descending, several);
}

function nullsLast<T>(
  column: readonly (T | undefined)[],
  compare: (a: T, b: T) => number,
  descending: boolean,
  several = false,
): Comparator {
  // Among several keys, two without a value for a descending one stand in descending order themselves.
  const tie = (a: number, b: number): number => (several && descending ? b - a : 0);
  const direction = descending ? -1 : 1;
  return (a, b) => {
    const left = column[a];
    const right = column[b];
    if (left === undefined) return right === undefined ? tie(a, b) : 1;
    return right === undefined ? -1 : direction * compare(left, right);
  };
}

/** Orders are checked even where nothing is there to be sorted. */
function checkKeys(keys: readonly OrderKey[], execution: Execution): void {
  for (const key of keys) {
    const { by } = key;
    if (by.kind === 'variable' && keys.length > 1 && !by.keepAll) {
      throw mistake(key, `val(${by.name}) cannot be one of several keys of an order`);
    }
    if (by.kind === 'predicate') checkPredicate(key, by.name, execution.predicate(by.name));
  }
}

function checkPredicate(key: OrderKey, name: string, predicate: Predicate | undefined): void {
  if (!predicate) throw mistake(key, `Cannot sort by unknown attribute ${name}`);
  if (predicate.list) throw mistake(key, `Sorting not supported on attr: ${name} of type: [scalar]`);
  const type = predicate.type;
  if (type === 'uid' || type === 'geo' || type === 'password' || type === 'float32vector') {
    throw mistake(key, `${name} cannot be sorted by: values of type ${type} have no order`);
  }
}

function mistake(key: OrderKey, message: string): GraphsteadError {
  return new GraphsteadError('INVALID_QUERY', message, { position: key.position });
}

const SORTABLE: readonly IndexKind[] = ['exact', 'int', 'bigfloat', 'float', 'hour', 'day', 'month', 'year'];

/** Reading the index pays when the list is much longer than what is needed of it. */
const LONG = 1_000;
const RATIO = 4;

/** The first `enough` of the order, read off a sortable index; undefined where sorting is the better way. */
async function orderByIndex(
  uids: UidList,
  key: OrderKey,
  enough: number,
  execution: Execution,
): Promise<UidList | undefined> {
  if (key.by.kind !== 'predicate' || uids.length < LONG || enough * RATIO > uids.length) return undefined;
  const predicate = execution.predicate(key.by.name);
  if (!predicate || key.by.langs.length > 0) return undefined;
  const index = predicate.indexes.find((spec) => spec.ready && SORTABLE.includes(spec.kind));
  if (!index) return undefined;
  return walkIndex(uids, predicate, index, key.descending, enough, execution);
}

async function walkIndex(
  uids: UidList,
  predicate: Predicate,
  index: IndexSpec,
  descending: boolean,
  enough: number,
  execution: Execution,
): Promise<UidList> {
  const mixed = tokenizer(index.kind).lossy || predicate.lang;
  const out = new Float64Array(uids.length);
  let n = 0;
  const take = (list: UidList): void => {
    out.set(list, n);
    n += list.length;
  };
  let seen: UidList = EMPTY;
  for await (const page of execution.reader.tokens(predicate, index.kind, { reverse: descending })) {
    await execution.checkpoint();
    for (const bucket of page) {
      const hits = intersect(bucket.uids, uids);
      take(mixed ? await sortBucket(hits, bucket.token, predicate, index.kind, descending, execution) : hits);
      if (n >= enough) return out.subarray(0, n);
    }
  }
  seen = out.slice(0, n).sort();
  take(subtract(uids, seen));
  return out.subarray(0, n);
}

/** Members of a bucket whose own value belongs to its token (not one in another language), by value. */
async function sortBucket(
  hits: UidList,
  token: Uint8Array,
  predicate: Predicate,
  kind: IndexKind,
  descending: boolean,
  execution: Execution,
): Promise<UidList> {
  if (hits.length === 0) return hits;
  const { values } = await chooseValues(execution, predicate, hits, []);
  const limit = execution.limits.tokenBytes;
  const belongs = (value: StoredValue | undefined): boolean =>
    value !== undefined && Buffer.compare(tokensOf(kind, decodeValue(value), '', limit)[0], token) === 0;
  const compare = nullsLast(values, compareStored, descending);
  const order = Array.from(hits.keys()).filter((i) => belongs(values[i]));
  return Float64Array.from(
    order.sort((a, b) => compare(a, b) || a - b),
    (i) => hits[i],
  );
}
