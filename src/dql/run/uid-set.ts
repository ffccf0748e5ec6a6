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

/** Between which uids all of some lists lie, and how many they hold. */
interface Span {
  low: number;
  high: number;
  total: number;
}

/**
 * Distinct uids of lists in any order: there may be millions of lists. The loops stand in functions of their own, which run twice
 * as fast as in a generator.
 */
export function* unionOfRows(rows: readonly UidList[]): Steps<UidList> {
  const span: Span = { low: Number.POSITIVE_INFINITY, high: 0, total: 0 };
  for (let at = measure(rows, 0, span); at < rows.length; at = measure(rows, at, span)) yield;
  const { low, high, total } = span;
  if (total === 0) return EMPTY_UIDS;
  const range = high - low;
  if (range >= total * SPARSE || range >= MOST_BITS) return distinct(concatUids(rows, total));
  const bits = new Int32Array((range >>> 5) + 1);
  for (let at = mark(rows, 0, low, bits); at < rows.length; at = mark(rows, at, low, bits)) yield;
  const out = new Float64Array(Math.min(total, range + 1));
  let n = unpack(bits, 0, low, out, 0);
  for (let word = UNITED_AT_ONCE; word < bits.length; word += UNITED_AT_ONCE) {
    yield;
    n = unpack(bits, word, low, out, n);
  }
  return out.subarray(0, n);
}

/** Takes rows from one on into the span, as many as go at once; answers which is the next. */
function measure(rows: readonly UidList[], from: number, span: Span): number {
  let { low, high, total } = span;
  let at = from;
  for (let left = UNITED_AT_ONCE; at < rows.length && left > 0; at++) {
    const row = rows[at];
    total += row.length;
    left -= row.length + 1;
    for (let i = 0; i < row.length; i++) {
      const uid = row[i];
      if (uid < low) low = uid;
      if (uid > high) high = uid;
    }
  }
  Object.assign(span, { low, high, total });
  return at;
}

/** Sets the bits of rows from one on, as many as go at once; answers which is the next. */
function mark(rows: readonly UidList[], from: number, low: number, bits: Int32Array): number {
  let at = from;
  for (let left = UNITED_AT_ONCE; at < rows.length && left > 0; at++) {
    const row = rows[at];
    left -= row.length + 1;
    for (let i = 0; i < row.length; i++) {
      const offset = (row[i] - low) >>> 0;
      bits[offset >>> 5] |= 1 << (offset & 31);
    }
  }
  return at;
}

/** Puts the uids of words from one on behind the `n` that are there, as many words as go at once; answers how many there are then. */
function unpack(bits: Int32Array, from: number, low: number, out: Float64Array, n: number): number {
  let filled = n;
  const end = Math.min(bits.length, from + UNITED_AT_ONCE);
  for (let word = from; word < end; word++) {
    let rest = bits[word];
    while (rest !== 0) {
      const lowest = rest & -rest;
      out[filled++] = low + word * 32 + (31 - Math.clz32(lowest));
      rest ^= lowest;
    }
  }
  return filled;
}

export function fromUids(uids: Iterable<number>): UidList {
  return distinct(Float64Array.from(uids));
}

/** Members for which `keep` holds, in their order. */
export function filterUids(list: UidList, keep: (uid: number, index: number) => boolean): UidList {
  const out = new Float64Array(list.length);
  let n = 0;
  for (let i = 0; i < list.length; i++) if (keep(list[i], i)) out[n++] = list[i];
  return n === list.length ? list : part(out, 0, n);
}

/** Lists up to this length are copied in part: a view makes V8 give the list memory outside of its heap, which costs more. */
const COPIED = 64;

/** What stands in a list from one place up to another. */
export function part(list: UidList, from: number, to: number): UidList {
  if (to <= from) return EMPTY_UIDS;
  return list.length <= COPIED ? list.slice(from, to) : list.subarray(from, to);
}
