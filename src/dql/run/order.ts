import { GraphsteadError } from '../../base/index.js';
import type { Predicate, UidList } from '../../graph/index.js';
import type { OrderKey, Page } from '../syntax/index.js';
import type { Execution } from './execution.js';
import { checkLanguages } from './language.js';
import { isWorthWalking, orderedIndex, walkAmong, withoutWalked } from './index-walk.js';
import { sortedPositions, sortUids, WHOLE } from './sort.js';
import { pageRange } from './page.js';
import { Places } from './places.js';
import { contains, filterUids } from './uid-set.js';
import { uidsOf } from './variable.js';

/**
 * Sorts each row by the keys; ties stay in uid order. `enough` bounds what of a row is needed from its start: a long
 * row is then read off the index instead of being sorted.
 * @param uids distinct uids of all rows, ascending
 * @param page what each row will be cut to: what a row holds before and behind it may then stand in any order
 */
export async function orderRows(
  rows: readonly UidList[],
  uids: UidList,
  keys: readonly OrderKey[],
  enough: number,
  execution: Execution,
  page?: Page,
): Promise<readonly UidList[]> {
  checkKeys(keys, execution);
  if (uids.length === 0) return rows;
  const [key] = keys;
  if (keys.length === 1 && key.by.kind === 'variable' && !key.by.keepAll)
    rows = keepValued(rows, key.by.name, execution);
  if (rows.length === 1) {
    const streamed = await orderByIndex(rows[0], keys, enough, execution);
    if (streamed) return [streamed];
  }
  const single = page !== undefined && rows.length === 1 && rows[0].length === uids.length;
  const range = single ? pageRange(page, uids.length) : WHOLE;
  const positions = await sortedPositions(uids, keys, execution, range);
  if (rows.length === 1 && rows[0].length === uids.length) return [pick(uids, positions)];
  const ranks = ranksOf(positions);
  const place = Places.finder(uids);
  return rows.map((row) => {
    if (row.length < 2) return row;
    const own = new Uint32Array(row.length);
    for (let i = 0; i < row.length; i++) own[i] = ranks[place(row[i])];
    own.sort();
    for (let i = 0; i < own.length; i++) own[i] = positions[own[i]];
    return pick(uids, own);
  });
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

function pick(uids: UidList, positions: Uint32Array): UidList {
  const out = new Float64Array(positions.length);
  for (let i = 0; i < positions.length; i++) out[i] = uids[positions[i]];
  return out;
}

/** Place of each position in the order. */
function ranksOf(positions: Uint32Array): Uint32Array {
  const ranks = new Uint32Array(positions.length);
  for (let rank = 0; rank < positions.length; rank++) ranks[positions[rank]] = rank;
  return ranks;
}

/** Orders are checked even where nothing is there to be sorted. Throws INVALID_QUERY. */
export function checkKeys(keys: readonly OrderKey[], execution: Execution): void {
  for (const key of keys) {
    const { by } = key;
    if (by.kind === 'variable' && keys.length > 1 && !by.keepAll) {
      throw mistake(
        key,
        `val(${by.name}) cannot be one of several keys of an order`,
        'Order by it alone, or by predicates only.',
      );
    }
    if (by.kind !== 'predicate') continue;
    const predicate = execution.predicate(by.name);
    checkPredicate(key, by.name, predicate);
    checkLanguages(predicate, by.langs, key.position, execution);
  }
}

const UNORDERED: ReadonlySet<Predicate['type']> = new Set(['uid', 'bool', 'geo', 'password', 'float32vector']);

function checkPredicate(key: OrderKey, name: string, predicate: Predicate | undefined): void {
  if (!predicate) {
    throw mistake(
      key,
      `the order names ${name}, which the schema does not know`,
      'Order by a predicate of the schema.',
    );
  }
  if (predicate.list) {
    throw mistake(key, `${name} holds lists of values, which have no order`, 'Order by a predicate with one value.');
  }
  const type = predicate.type;
  if (UNORDERED.has(type)) {
    const fix = 'Order by a number, a text or a datetime.';
    throw mistake(key, `${name} cannot be sorted by: values of type ${type} have no order`, fix);
  }
}

function mistake(key: OrderKey, message: string, fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_QUERY', message, { position: key.position, fix });
}

/** The first `enough` of the order, read off an index; undefined where sorting is the better way. */
async function orderByIndex(
  uids: UidList,
  keys: readonly OrderKey[],
  enough: number,
  execution: Execution,
): Promise<UidList | undefined> {
  if (!isWorthWalking(uids.length, enough)) return undefined;
  const index = orderedIndex(keys[0], execution);
  if (!index) return undefined;
  const walked = await walkAmong(uids, index, keys, enough, execution);
  if (!walked?.ended) return walked?.uids;
  const rest = withoutWalked(uids, walked.uids);
  const last = keys.length === 1 ? rest : await sortUids(rest, keys, execution);
  const out = new Float64Array(uids.length);
  out.set(walked.uids);
  out.set(last, walked.uids.length);
  return out;
}
