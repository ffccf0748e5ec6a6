import type { Steps } from '../../base/index.js';
import {
  concatUids,
  difference,
  distinct,
  EMPTY_UIDS,
  hasUid,
  intersect,
  lowerBoundUid,
  type UidList,
  union,
} from '../../graph/index.js';

// Sets of uids as ascending Float64Arrays; nothing here changes its arguments. What the graph's lists offer is used under
// the names of a set.
export {
  concatUids as concat,
  difference as subtract,
  distinct as sortedDistinct,
  EMPTY_UIDS as EMPTY,
  hasUid as contains,
  intersect,
  lowerBoundUid as lowerBound,
  union,
};

/** Position of a uid in an ascending list, or -1. */
export function placeOf(list: UidList, uid: number): number {
  const at = lowerBoundUid(list, uid);
  return at < list.length && list[at] === uid ? at : -1;
}

/** Bits per uid that a bitmap over the range of the lists may cost before sorting is cheaper. */
const SPARSE = 64;
/** A place in a bitmap must fit the integers of bit operations. */
const MOST_BITS = 2 ** 32 - 64;

/** Uids that are looked at between two pauses: some tenths of a millisecond. */
const UNITED_AT_ONCE = 65_536;

/** Distinct uids of lists in any order: there may be millions of lists. */
export function* unionOfRows(rows: readonly UidList[]): Steps<UidList> {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  let total = 0;
  let looked = 0;
  for (const row of rows) {
    total += row.length;
    for (let i = 0; i < row.length; i++) {
      const uid = row[i];
      if (uid < low) low = uid;
      if (uid > high) high = uid;
    }
    looked += row.length + 1;
    if (looked < UNITED_AT_ONCE) continue;
    looked = 0;
    yield;
  }
  return total === 0 ? EMPTY_UIDS : yield* collect(rows, low, high, total);
}

function* collect(lists: readonly UidList[], low: number, high: number, total: number): Steps<UidList> {
  const range = high - low;
  return range < total * SPARSE && range < MOST_BITS
    ? yield* collectDense(lists, low, range, total)
    : distinct(concatUids(lists, total));
}

function* collectDense(lists: readonly UidList[], low: number, range: number, total: number): Steps<UidList> {
  const bits = new Int32Array((range >>> 5) + 1);
  let looked = 0;
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      const offset = (list[i] - low) >>> 0;
      bits[offset >>> 5] |= 1 << (offset & 31);
    }
    looked += list.length + 1;
    if (looked < UNITED_AT_ONCE) continue;
    looked = 0;
    yield;
  }
  const out = new Float64Array(Math.min(total, range + 1));
  let n = 0;
  for (let word = 0; word < bits.length; word++) {
    if (word % UNITED_AT_ONCE === UNITED_AT_ONCE - 1) yield;
    let rest = bits[word];
    while (rest !== 0) {
      const lowest = rest & -rest;
      out[n++] = low + word * 32 + (31 - Math.clz32(lowest));
      rest ^= lowest;
    }
  }
  return out.subarray(0, n);
}

export function fromUids(uids: Iterable<number>): UidList {
  return distinct(Float64Array.from(uids));
}

/** Members for which `keep` holds, in their order. */
export function filterUids(list: UidList, keep: (uid: number, index: number) => boolean): UidList {
  const out = new Float64Array(list.length);
  let n = 0;
  for (let i = 0; i < list.length; i++) if (keep(list[i], i)) out[n++] = list[i];
  return n === list.length ? list : out.subarray(0, n);
}
