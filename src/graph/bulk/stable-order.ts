const DIGIT = 11;
const BUCKETS = 1 << DIGIT;
const TWO_TO_32 = 2 ** 32;

/** 0 to count - 1. */
function identity(count: number): Uint32Array {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  return order;
}

/**
 * The order in which the first `count` keys ascend, equal keys as they stand in `before`. Keys are whole numbers from 0 on.
 * A radix sort from the lowest digit up: digits that all keys share cost one look, keys in order cost none.
 */
export function stableOrder(keys: Float64Array, count: number, before?: Uint32Array): Uint32Array {
  const order = before ?? identity(count);
  if (count < 2) return order;
  let [least, most, ascends] = [keys[order[0]], keys[order[0]], true];
  for (let i = 1, last = least; i < count; i++) {
    const key = keys[order[i]];
    if (key < last) ascends = false;
    if (key < least) least = key;
    if (key > most) most = key;
    last = key;
  }
  if (ascends) return order;
  return sorted(keys, order, least, most - least);
}

function sorted(keys: Float64Array, order: Uint32Array, least: number, span: number): Uint32Array {
  const count = order.length;
  const low = new Uint32Array(keys.length);
  for (let i = 0; i < count; i++) low[order[i]] = keys[order[i]] - least; // modulo 2^32
  let from: Uint32Array = order;
  let to: Uint32Array = new Uint32Array(count);
  const pass = (digits: Uint32Array, shift: number): void => {
    if (!scatter(digits, shift, from, to)) return;
    [from, to] = [to, from];
  };
  const lowSpan = Math.min(span, TWO_TO_32 - 1);
  for (let shift = 0; shift < 32 && lowSpan >= 2 ** shift; shift += DIGIT) pass(low, shift);
  if (span >= TWO_TO_32) {
    for (let i = 0; i < count; i++) low[order[i]] = Math.floor((keys[order[i]] - least) / TWO_TO_32);
    for (let shift = 0; shift < 32 && span / TWO_TO_32 >= 2 ** shift; shift += DIGIT) pass(low, shift);
  }
  return from;
}

/** One pass over one digit; false, with nothing moved, when all keys share it. */
function scatter(digits: Uint32Array, shift: number, from: Uint32Array, to: Uint32Array): boolean {
  const starts = new Uint32Array(BUCKETS);
  const count = from.length;
  for (let i = 0; i < count; i++) starts[(digits[from[i]] >>> shift) & (BUCKETS - 1)]++;
  if (starts[(digits[from[0]] >>> shift) & (BUCKETS - 1)] === count) return false;
  for (let bucket = 0, at = 0; bucket < BUCKETS; bucket++) {
    const size = starts[bucket];
    starts[bucket] = at;
    at += size;
  }
  for (let i = 0; i < count; i++) {
    const index = from[i];
    to[starts[(digits[index] >>> shift) & (BUCKETS - 1)]++] = index;
  }
  return true;
}
