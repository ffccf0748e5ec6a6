const MARKER = 0xff;

/** Bytes of an index token before it is cut and hashed. Stored indexes depend on it: it is no limit that one may set. */
export const TOKEN_BYTES = 900;

/** A 64-bit hash of bytes; stable, as it stands in stored index keys. Two 32-bit lanes with final mixing. */
export function hash64(bytes: Uint8Array): Uint8Array {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < bytes.length; i++) {
    a = Math.imul(a ^ bytes[i], 0x9e3779b1);
    b = Math.imul(b ^ bytes[i], 0x5f356495);
    a = (a << 13) | (a >>> 19);
    b = (b << 17) | (b >>> 15);
  }
  const [high, low] = [mix(a ^ bytes.length ^ (b >>> 7)), mix(b ^ (a >>> 11))];
  return Uint8Array.of(high >> 24, high >> 16, high >> 8, high, low >> 24, low >> 16, low >> 8, low);
}

function mix(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * A token that keys can hold: one over TOKEN_BYTES keeps its first ones, then a marker and a hash of the whole. It
 * is longer than any whole token, so it can be told apart, and keeps its place in the order up to the cut.
 */
export function fitToken(token: Uint8Array): Uint8Array {
  if (token.length <= TOKEN_BYTES) return token;
  return Uint8Array.from(Buffer.concat([token.subarray(0, TOKEN_BYTES), Uint8Array.of(MARKER), hash64(token)]));
}

/** The token was cut and hashed: what it finds must be checked against the value, whatever its kind. */
export function isHashedToken(token: Uint8Array): boolean {
  return token.length > TOKEN_BYTES;
}
