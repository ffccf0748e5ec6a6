import type { UidList } from '../../graph/index.js';

/** Sets of uids as ascending Float64Arrays. Nothing here changes its arguments. */
export const EMPTY: UidList = new Float64Array(0);

/** Position of a uid in an ascending list, or -1. */
export function indexOf(list: UidList, uid: number): number {
  const at = lowerBound(list, uid);
  return at < list.length && list[at] === uid ? at : -1;
}

/** First position whose uid is not below `uid`. */
export function lowerBound(list: UidList, uid: number, from = 0): number {
  let low = from;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle] < uid) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function contains(list: UidList, uid: number): boolean {
  return indexOf(list, uid) >= 0;
}

/** How much shorter one list must be for searching to beat walking. */
const GALLOP = 16;

export function intersect(a: UidList, b: UidList): UidList {
  if (a.length > b.length) return intersect(b, a);
  if (a.length === 0) return EMPTY;
  const out = new Float64Array(a.length);
  let n = 0;
  if (a.length * GALLOP < b.length) {
    let at = 0;
    for (const uid of a) {
      at = lowerBound(b, uid, at);
      if (at === b.length) break;
      if (b[at] === uid) out[n++] = uid;
    }
    return out.subarray(0, n);
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const difference = a[i] - b[j];
    if (difference === 0) {
      out[n++] = a[i++];
      j++;
    } else if (difference < 0) i++;
    else j++;
  }
  return out.subarray(0, n);
}

/** Those of `a` that are not in `b`. */
export function subtract(a: UidList, b: UidList): UidList {
  if (a.length === 0 || b.length === 0) return a;
  const out = new Float64Array(a.length);
  let n = 0;
  for (let i = 0, j = 0; i < a.length; i++) {
    while (j < b.length && b[j] < a[i]) j++;
    if (j === b.length || b[j] !== a[i]) out[n++] = a[i];
  }
  return out.subarray(0, n);
}

function unionOfTwo(a: UidList, b: UidList): UidList {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const out = new Float64Array(a.length + b.length);
  let n = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const difference = a[i] - b[j];
    if (difference <= 0) out[n++] = a[i++];
    else out[n++] = b[j];
    if (difference >= 0) j++;
  }
  while (i < a.length) out[n++] = a[i++];
  while (j < b.length) out[n++] = b[j++];
  return out.subarray(0, n);
}

/** Bits per uid that a bitmap over the range of the lists may cost before sorting is cheaper. */
const SPARSE = 64;
/** A place in a bitmap must fit the integers of bit operations. */
const MOST_BITS = 2 ** 32 - 64;

/** Distinct uids of ascending lists. */
export function union(lists: readonly UidList[]): UidList {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length === 0) return EMPTY;
  if (filled.length === 1) return filled[0];
  if (filled.length === 2) return unionOfTwo(filled[0], filled[1]);
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  let total = 0;
  for (const list of filled) {
    low = Math.min(low, list[0]);
    high = Math.max(high, list[list.length - 1]);
    total += list.length;
  }
  return collect(filled, low, high, total);
}

/** Distinct uids of lists in any order. */
export function unionOfRows(rows: readonly UidList[]): UidList {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  let total = 0;
  for (const row of rows) {
    total += row.length;
    for (let i = 0; i < row.length; i++) {
      const uid = row[i];
      if (uid < low) low = uid;
      if (uid > high) high = uid;
    }
  }
  return total === 0 ? EMPTY : collect(rows, low, high, total);
}

function collect(lists: readonly UidList[], low: number, high: number, total: number): UidList {
  const range = high - low;
  return range < total * SPARSE && range < MOST_BITS
    ? collectDense(lists, low, range, total)
    : collectSparse(lists, total);
}

function collectDense(lists: readonly UidList[], low: number, range: number, total: number): UidList {
  const bits = new Int32Array((range >>> 5) + 1);
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      const offset = (list[i] - low) >>> 0;
      bits[offset >>> 5] |= 1 << (offset & 31);
    }
  }
  const out = new Float64Array(total);
  let n = 0;
  for (let word = 0; word < bits.length; word++) {
    let rest = bits[word];
    while (rest !== 0) {
      const lowest = rest & -rest;
      out[n++] = low + word * 32 + (31 - Math.clz32(lowest));
      rest ^= lowest;
    }
  }
  return out.subarray(0, n);
}

function collectSparse(lists: readonly UidList[], total: number): UidList {
  const all = new Float64Array(total);
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return sortedDistinct(all);
}

/** Sorts in place and drops repeats. */
export function sortedDistinct(all: Float64Array): UidList {
  all.sort();
  let n = 0;
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[n++] = all[i];
  return all.subarray(0, n);
}

export function fromUids(uids: Iterable<number>): UidList {
  return sortedDistinct(Float64Array.from(uids));
}

/** Members for which `keep` holds, in their order. */
export function filterUids(list: UidList, keep: (uid: number, index: number) => boolean): UidList {
  const out = new Float64Array(list.length);
  let n = 0;
  for (let i = 0; i < list.length; i++) if (keep(list[i], i)) out[n++] = list[i];
  return n === list.length ? list : out.subarray(0, n);
}
