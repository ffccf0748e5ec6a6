import { assert } from '../base/index.js';

// Unsigned integers below 2^53 in 1 to 8 bytes, such that the bytes order as the numbers do:
//   0..240           one byte, the number itself
//   ..2287           first byte 241..248 and one more
//   ..67823          249 and two more
//   above            250..254 and 3 to 7 bytes, big-endian
// Small ids, which most keys are made of, take one byte.

const ONE = 240;
const TWO = 2287;
const THREE = 67_823;
const TWO_TO_32 = 2 ** 32;

/** The most bytes that an ordered uint takes. */
export const uintSize = 8;

/** Bytes that an ordered uint takes, told by its first byte. */
export function uintLength(first: number): number {
  if (first <= ONE) return 1;
  if (first <= 248) return 2;
  return first - 246;
}

/** Writes at `at` and returns the offset behind. */
export function writeUint(target: Uint8Array, at: number, value: number): number {
  if (value <= ONE) {
    assert(value >= 0, 'a uint is not negative');
    target[at] = value;
    return at + 1;
  }
  if (value <= TWO) {
    const rest = value - ONE;
    target[at] = 241 + (rest >> 8);
    target[at + 1] = rest;
    return at + 2;
  }
  if (value <= THREE) {
    const rest = value - TWO - 1;
    target[at] = 249;
    target[at + 1] = rest >> 8;
    target[at + 2] = rest;
    return at + 3;
  }
  assert(Number.isSafeInteger(value), 'a uint is an integer below 2^53');
  return writeLong(target, at, value);
}

function writeLong(target: Uint8Array, at: number, value: number): number {
  const high = Math.floor(value / TWO_TO_32);
  const low = value >>> 0;
  const count = longBytes(value, high);
  target[at] = 247 + count;
  for (let i = count; i > 0; i--) {
    const shift = (count - i) * 8;
    target[at + i] = shift < 32 ? low >>> shift : high >>> (shift - 32);
  }
  return at + 1 + count;
}

function longBytes(value: number, high: number): number {
  if (high === 0) return value <= 0xffffff ? 3 : 4;
  if (high <= 0xff) return 5;
  return high <= 0xffff ? 6 : 7;
}

/** The ordered uint that begins at `at`; it ends `uintLength(source[at])` later. */
export function readUint(source: Uint8Array, at: number): number {
  const first = source[at];
  if (first <= ONE) return first;
  if (first <= 248) return ONE + ((first - 241) << 8) + source[at + 1];
  if (first === 249) return TWO + 1 + (source[at + 1] << 8) + source[at + 2];
  const end = at + first - 246;
  let value = 0;
  for (let i = at + 1; i < end; i++) value = value * 256 + source[i];
  return value;
}

/** Bytes written by `KeyWriter.bytes` at `at`, and the offset behind their end mark. */
export function readBytes(source: Uint8Array, at: number): { value: Uint8Array; next: number } {
  const value = new Uint8Array(source.length - at);
  let length = 0;
  for (let i = at; i < source.length; i++) {
    value[length++] = source[i];
    if (source[i] !== 0) continue;
    i++;
    if (source[i] !== 0xff) return { value: value.slice(0, length - 1), next: i + 1 };
  }
  assert(false, 'the bytes of a key have no end mark');
}
