import { stableOrder } from './stable-order.js';

/** Bytes of a token that fit one number beside a length. */
const PREFIX = 6;
/** Stands for "more than PREFIX bytes are left". */
const MORE = PREFIX + 1;
/** Groups up to this size are sorted by comparing. */
const FEW = 24;

/** Byte strings one behind the other: the i-th ends at ends[i]. */
interface ByteColumn {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

/** -1, 0 or 1 by bytes, a shorter prefix first. */
export function compareSpans(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number) {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const difference = a[aStart + i] - b[bStart + i];
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return Math.sign(aEnd - aStart - (bEnd - bStart));
}

/** The order in which the byte strings ascend, a shorter prefix first, equal ones as they stand. */
export function byteOrder(column: ByteColumn, count: number): Uint32Array {
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = prefix(column, i, 0);
  const order = stableOrder(keys, count);
  settle(column, order, keys, 0);
  return order;
}

/** Sorts what the prefixes at `depth` left equal by what comes behind them. */
function settle(column: ByteColumn, order: Uint32Array, keys: Float64Array, depth: number): void {
  for (let from = 0; from < order.length; ) {
    const key = keys[order[from]];
    let to = from + 1;
    while (to < order.length && keys[order[to]] === key) to++;
    if (to - from > 1 && key % 8 === MORE) deeper(column, order.subarray(from, to), keys, depth + PREFIX);
    from = to;
  }
}

function deeper(column: ByteColumn, order: Uint32Array, keys: Float64Array, depth: number): void {
  if (order.length <= FEW) {
    order.sort((i, j) => compareAt(column, i, j, depth) || i - j);
    return;
  }
  for (let i = 0; i < order.length; i++) keys[order[i]] = prefix(column, order[i], depth);
  order.set(ordered(keys, order));
  settle(column, order, keys, depth);
}

/** As stableOrder, for some of the keys. */
function ordered(keys: Float64Array, indexes: Uint32Array): Uint32Array {
  const own = new Float64Array(indexes.length);
  for (let i = 0; i < own.length; i++) own[i] = keys[indexes[i]];
  const order = stableOrder(own, own.length);
  for (let i = 0; i < order.length; i++) order[i] = indexes[order[i]];
  return order;
}

/** The next bytes as a number that orders as they do: six bytes, then how many of them there are. */
function prefix({ bytes, ends }: ByteColumn, index: number, depth: number): number {
  const at = (index === 0 ? 0 : ends[index - 1]) + depth;
  const left = ends[index] - at;
  if (left >= PREFIX) {
    const high = bytes[at] * 65_536 + ((bytes[at + 1] << 8) | bytes[at + 2]);
    const low = bytes[at + 3] * 65_536 + ((bytes[at + 4] << 8) | bytes[at + 5]);
    return (high * 16_777_216 + low) * 8 + Math.min(left, MORE);
  }
  let value = 0;
  for (let i = 0; i < PREFIX; i++) value = value * 256 + (i < left ? bytes[at + i] : 0);
  return value * 8 + Math.max(0, left);
}

function compareAt({ bytes, ends }: ByteColumn, i: number, j: number, depth: number): number {
  const iStart = (i === 0 ? 0 : ends[i - 1]) + depth;
  const jStart = (j === 0 ? 0 : ends[j - 1]) + depth;
  return compareSpans(bytes, iStart, ends[i], bytes, jStart, ends[j]);
}
