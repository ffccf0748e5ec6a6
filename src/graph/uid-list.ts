import type { UidList } from './contract.js';

/**
 * The largest uid of a node. The number after it, 2^53 - 1, stands in query variables for the one row that belongs to no
 * node; numbers above are no longer exact.
 */
export const MAX_UID = Number.MAX_SAFE_INTEGER - 1;

/** A uid as texts of every kind name it. */
export function hexUid(uid: number): string {
  return `0x${uid.toString(16)}`;
}

/** The list without uids. */
export const EMPTY_UIDS: UidList = new Float64Array(0);

/** Sizes that differ by more than this make galloping search cheaper than a merge. */
const GALLOP_RATIO = 16;
/** Uids that one window of the bitset union covers: 32 KiB of bits stay in the processor's cache. */
const WINDOW_BITS = 1 << 18;
const WINDOW_WORDS = WINDOW_BITS >>> 5;

/** First index at or after `from` whose uid is not below `uid`. */
export function lowerBoundUid(list: UidList, uid: number, from = 0): number {
  let low = from;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle] < uid) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** As lowerBoundUid, but cheap when the answer is near `from`. */
function gallop(list: UidList, uid: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < list.length && list[low + step] < uid) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step + 1, list.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle] < uid) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether the ascending list holds the uid. */
export function hasUid(list: UidList, uid: number): boolean {
  const at = lowerBoundUid(list, uid);
  return at < list.length && list[at] === uid;
}

/** Uids in both ascending lists. */
export function intersect(a: UidList, b: UidList): UidList {
  const small = a.length <= b.length ? a : b;
  const large = small === a ? b : a;
  if (small.length === 0 || small[small.length - 1] < large[0] || large[large.length - 1] < small[0]) return EMPTY_UIDS;
  const out = new Float64Array(small.length);
  const count =
    large.length > small.length * GALLOP_RATIO
      ? intersectGalloping(small, large, out)
      : intersectMerging(small, large, out);
  return count === out.length ? out : out.slice(0, count);
}

function intersectGalloping(small: UidList, large: UidList, out: Float64Array): number {
  let count = 0;
  let at = 0;
  for (let i = 0; i < small.length && at < large.length; i++) {
    const uid = small[i];
    at = gallop(large, uid, at);
    if (at < large.length && large[at] === uid) out[count++] = uid;
  }
  return count;
}

function intersectMerging(a: UidList, b: UidList, out: Float64Array): number {
  const aLength = a.length;
  const bLength = b.length;
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < aLength && j < bLength) {
    const x = a[i];
    const y = b[j];
    // all comparisons are taken without a branch that the processor would have to guess
    out[count] = x;
    count += +(x === y);
    i += +(x <= y);
    j += +(y <= x);
  }
  return count;
}

/** Uids of `a` that are not in `b`. */
export function difference(a: UidList, b: UidList): UidList {
  if (a.length === 0 || b.length === 0) return a;
  const out = new Float64Array(a.length);
  const far = b.length > a.length * GALLOP_RATIO;
  let count = 0;
  let j = 0;
  for (let i = 0; i < a.length; i++) {
    const uid = a[i];
    if (far) j = gallop(b, uid, j);
    else while (j < b.length && b[j] < uid) j++;
    if (j >= b.length || b[j] !== uid) out[count++] = uid;
  }
  return count === out.length ? out : out.slice(0, count);
}

function unionOfTwo(a: UidList, b: UidList): UidList {
  const out = new Float64Array(a.length + b.length);
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a[i];
    const y = b[j];
    out[count++] = Math.min(x, y);
    i += +(x <= y);
    j += +(y <= x);
  }
  while (i < a.length) out[count++] = a[i++];
  while (j < b.length) out[count++] = b[j++];
  return count === out.length ? out : out.slice(0, count);
}

/** Uids in any of the ascending lists. */
export function union(lists: readonly UidList[]): UidList {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length === 0) return EMPTY_UIDS;
  if (filled.length === 1) return filled[0];
  if (filled.length === 2) return unionOfTwo(filled[0], filled[1]);
  let total = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (const list of filled) {
    total += list.length;
    first = Math.min(first, list[0]);
    last = Math.max(last, list[list.length - 1]);
  }
  // few uids spread over many windows: clearing windows would cost more than sorting
  if ((last - first) / 64 > total * 8) return distinct(concatUids(filled, total));
  return unionByWindow(filled, total, first);
}

/** Lists one behind the other. @param total of their lengths */
export function concatUids(lists: readonly UidList[], total: number): Float64Array {
  const all = new Float64Array(total);
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

/** Sorts in place and drops repetitions. */
export function distinct(uids: Float64Array): UidList {
  uids.sort();
  let count = 0;
  for (let i = 0; i < uids.length; i++) if (i === 0 || uids[i] !== uids[i - 1]) uids[count++] = uids[i];
  return count === uids.length ? uids : uids.slice(0, count);
}

/** Numbers in any order, with repetitions, as a list. */
export function sortedUids(uids: readonly number[]): UidList {
  if (uids.length === 0) return EMPTY_UIDS;
  const list = new Float64Array(uids);
  for (let i = 1; i < list.length; i++) if (list[i] <= list[i - 1]) return distinct(list);
  return list;
}

const words = new Uint32Array(WINDOW_WORDS);

function unionByWindow(lists: readonly UidList[], total: number, first: number): UidList {
  const out = new Float64Array(total);
  const at = new Uint32Array(lists.length);
  let count = 0;
  let start = first;
  while (start !== Number.POSITIVE_INFINITY) {
    const end = start + WINDOW_BITS;
    let next = Number.POSITIVE_INFINITY;
    let high = 0;
    for (let l = 0; l < lists.length; l++) {
      const list = lists[l];
      let i = at[l];
      for (; i < list.length && list[i] < end; i++) {
        const bit = list[i] - start;
        words[bit >>> 5] |= 1 << (bit & 31);
      }
      if (i > at[l]) high = Math.max(high, (list[i - 1] - start) >>> 5);
      at[l] = i;
      if (i < list.length) next = Math.min(next, list[i]);
    }
    for (let w = 0; w <= high; w++) {
      let word = words[w];
      words[w] = 0;
      const base = start + w * 32;
      while (word !== 0) {
        const low = 31 - Math.clz32(word & -word);
        out[count++] = base + low;
        word &= word - 1;
      }
    }
    start = next;
  }
  return count === out.length ? out : out.slice(0, count);
}
