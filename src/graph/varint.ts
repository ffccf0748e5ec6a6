// Little-endian base-128 numbers below 2^53, for what lies inside values (keys use the store's ordered uints).

const LOW = 2 ** 28;

/** Bytes that the number takes. */
export function varintLength(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < LOW) return 4;
  let length = 4;
  for (let rest = Math.floor(value / LOW); rest > 0; rest = Math.floor(rest / 128)) length++;
  return length;
}

/** Writes at `at` and returns the offset behind. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest >= LOW) {
    target[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** The number that begins at `at`. */
export function readVarint(source: Uint8Array, at: number): number {
  let byte = source[at];
  if (byte < 0x80) return byte;
  let value = byte & 0x7f;
  for (let scale = 128; byte >= 0x80; scale *= 128) {
    byte = source[++at];
    value += (byte & 0x7f) * scale;
  }
  return value;
}

/** Offset behind the number that begins at `at`. */
export function varintEnd(source: Uint8Array, at: number): number {
  while (source[at] >= 0x80) at++;
  return at + 1;
}
