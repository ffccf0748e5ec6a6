/**
 * Numbers as bytes whose bytewise order is the order of the numbers. Integers take as few bytes as they need: a first
 * byte of 0x80 + n (n bytes of magnitude follow) for zero and above, 0x7f - n (bytes inverted) below zero.
 */
const SAFE_BYTES = 7;

/** Bytes of an integer within 64 bits, signed. */
export function integerBytes(value: number | bigint): Uint8Array {
  if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) return wideBytes(value);
  return safeBytes(Number(value));
}

function safeBytes(value: number): Uint8Array {
  const negative = value < 0;
  let rest = negative ? -value - 1 : value;
  let count = 0;
  for (let n = rest; n > 0; n = Math.floor(n / 256)) count++;
  const bytes = new Uint8Array(count + 1);
  bytes[0] = negative ? 0x7f - count : 0x80 + count;
  for (let i = count; i > 0; i--) {
    const byte = rest % 256;
    bytes[i] = negative ? 255 - byte : byte;
    rest = (rest - byte) / 256;
  }
  return bytes;
}

function wideBytes(value: bigint): Uint8Array {
  const negative = value < 0n;
  const hex = (negative ? -value - 1n : value).toString(16);
  const magnitude = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  const bytes = new Uint8Array(magnitude.length + 1);
  bytes[0] = negative ? 0x7f - magnitude.length : 0x80 + magnitude.length;
  for (let i = 0; i < magnitude.length; i++) bytes[i + 1] = negative ? 255 - magnitude[i] : magnitude[i];
  return bytes;
}

/** Number of bytes that the integer beginning at `at` takes. */
export function integerLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  return 1 + (first >= 0x80 ? first - 0x80 : 0x7f - first);
}

/** The integer beginning at `at`: a number where it is safe, a bigint otherwise. */
export function readInteger(bytes: Uint8Array, at: number): number | bigint {
  const length = integerLength(bytes, at);
  const flip = bytes[at] >= 0x80 ? 0 : 0xff;
  if (length - 1 > SAFE_BYTES) return readWide(bytes, at, length, flip);
  let value = 0;
  for (let i = at + 1; i < at + length; i++) value = value * 256 + (bytes[i] ^ flip);
  if (value > Number.MAX_SAFE_INTEGER) return readWide(bytes, at, length, flip);
  return flip ? -value - 1 : value;
}

function readWide(bytes: Uint8Array, at: number, length: number, flip: number): number | bigint {
  let value = 0n;
  for (let i = at + 1; i < at + length; i++) value = value * 256n + BigInt(bytes[i] ^ flip);
  const signed = flip ? -value - 1n : value;
  return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed;
}

const scratch = new DataView(new ArrayBuffer(8));

/** Eight bytes of a finite float; -0 is 0. */
export function floatBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  scratch.setFloat64(0, value === 0 ? 0 : value);
  const negative = scratch.getUint8(0) >= 0x80;
  for (let i = 0; i < 8; i++) bytes[i] = negative ? 255 - scratch.getUint8(i) : scratch.getUint8(i);
  if (!negative) bytes[0] ^= 0x80;
  return bytes;
}

/** The float beginning at `at`. */
export function readFloat(bytes: Uint8Array, at: number): number {
  const negative = bytes[at] < 0x80;
  for (let i = 0; i < 8; i++) scratch.setUint8(i, negative ? 255 - bytes[at + i] : bytes[at + i]);
  if (!negative) scratch.setUint8(0, bytes[at] ^ 0x80);
  return scratch.getFloat64(0);
}

/** -1, 0 or 1 by bytes, a shorter prefix first. */
export function compareBytes(a: Uint8Array, b: Uint8Array, from = 0): number {
  const length = Math.min(a.length, b.length);
  for (let i = from; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}
