import { decodeValue, type StoredValue, type Value } from '../../values/index.js';

/**
 * Dgraph keeps members of a list, and languages of a value, in the order of a hash of their bytes, and clients see
 * that order. This is the hash: Fingerprint64 of FarmHash (https://github.com/google/farmhash, published algorithm).
 */
const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const MASK = (1n << 64n) - 1n;

const wrap = (x: bigint): bigint => x & MASK;
const rotate = (x: bigint, by: bigint): bigint => wrap((x >> by) | (x << (64n - by)));
const mix = (x: bigint): bigint => x ^ (x >> 47n);

function fold(u: bigint, v: bigint, factor: bigint): bigint {
  const a = mix(wrap((u ^ v) * factor));
  return wrap(mix(wrap((v ^ a) * factor)) * factor);
}

export function fingerprint(bytes: Buffer): bigint {
  if (bytes.length <= 16) return upTo16(bytes);
  if (bytes.length <= 32) return upTo32(bytes);
  return bytes.length <= 64 ? upTo64(bytes) : long(bytes);
}

function factorOf(bytes: Buffer): bigint {
  return K2 + BigInt(bytes.length) * 2n;
}

function upTo16(s: Buffer): bigint {
  const length = s.length;
  if (length >= 8) {
    const factor = factorOf(s);
    const a = wrap(s.readBigUInt64LE(0) + K2);
    const b = s.readBigUInt64LE(length - 8);
    return fold(wrap(rotate(b, 37n) * factor + a), wrap((rotate(a, 25n) + b) * factor), factor);
  }
  if (length >= 4) {
    const first = BigInt(s.readUInt32LE(0));
    return fold(BigInt(length) + (first << 3n), BigInt(s.readUInt32LE(length - 4)), factorOf(s));
  }
  if (length === 0) return K2;
  const y = BigInt(s[0] + (s[length >> 1] << 8));
  const z = BigInt(length + (s[length - 1] << 2));
  return wrap(mix(wrap(y * K2) ^ wrap(z * K0)) * K2);
}

function upTo32(s: Buffer): bigint {
  const factor = factorOf(s);
  const a = wrap(s.readBigUInt64LE(0) * K1);
  const b = s.readBigUInt64LE(8);
  const c = wrap(s.readBigUInt64LE(s.length - 8) * factor);
  const d = wrap(s.readBigUInt64LE(s.length - 16) * K2);
  return fold(wrap(rotate(wrap(a + b), 43n) + rotate(c, 30n) + d), wrap(a + rotate(wrap(b + K2), 18n) + c), factor);
}

function upTo64(s: Buffer): bigint {
  const at = (offset: number): bigint => s.readBigUInt64LE(offset);
  const length = s.length;
  const factor = factorOf(s);
  const a = wrap(at(0) * K2);
  const b = at(8);
  const c = wrap(at(length - 8) * factor);
  const d = wrap(at(length - 16) * K2);
  const y = wrap(rotate(wrap(a + b), 43n) + rotate(c, 30n) + d);
  const z = fold(y, wrap(a + rotate(wrap(b + K2), 18n) + c), factor);
  const e = wrap(at(16) * factor);
  const f = at(24);
  const g = wrap((y + at(length - 32)) * factor);
  const h = wrap((z + at(length - 24)) * factor);
  return fold(wrap(rotate(wrap(e + f), 43n) + rotate(g, 30n) + h), wrap(e + rotate(wrap(f + a), 18n) + g), factor);
}

type Pair = readonly [bigint, bigint];

function weak(s: Buffer, offset: number, seedA: bigint, seedB: bigint): Pair {
  const [w, x, y, z] = [0, 8, 16, 24].map((step) => s.readBigUInt64LE(offset + step));
  const start = wrap(seedA + w);
  const b = rotate(wrap(seedB + start + z), 21n);
  const a = wrap(start + x + y);
  return [wrap(a + z), wrap(b + rotate(a, 44n) + start)];
}

/** State of the long form, taken 64 bytes further by each round. */
interface Round {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
  readonly v: Pair;
  readonly w: Pair;
}

function round(s: Buffer, offset: number, from: Round, factor: bigint, weight: bigint): Round {
  const at = (step: number): bigint => s.readBigUInt64LE(offset + step);
  const { v, w } = from;
  const x = wrap(rotate(wrap(from.x + from.y + v[0] + at(8)), 37n) * factor) ^ wrap(w[1] * weight);
  const y = wrap(wrap(rotate(wrap(from.y + v[1] + at(48)), 42n) * factor) + v[0] * weight + at(40));
  const z = wrap(rotate(wrap(from.z + w[0]), 33n) * factor);
  const nextV = weak(s, offset, wrap(v[1] * factor), wrap(x + w[0]));
  const nextW = weak(s, offset + 32, wrap(z + w[1]), wrap(y + at(16)));
  return { x: z, y, z: x, v: nextV, w: nextW };
}

function long(s: Buffer): bigint {
  const seed = 81n;
  const y = wrap(seed * K1 + 113n);
  let state: Round = {
    x: wrap(seed * K2 + s.readBigUInt64LE(0)),
    y,
    z: wrap(mix(wrap(y * K2 + 113n)) * K2),
    v: [0n, 0n],
    w: [0n, 0n],
  };
  const rest = (s.length - 1) & 63;
  const end = s.length - 1 - rest;
  for (let offset = 0; offset < end; offset += 64) state = round(s, offset, state, K1, 1n);
  const factor = wrap(K1 + ((state.z & 0xffn) << 1n));
  const w0 = wrap(state.w[0] + BigInt(rest));
  const v0 = wrap(state.v[0] + w0);
  const last = { ...state, v: [v0, state.v[1]] as const, w: [wrap(w0 + v0), state.w[1]] as const };
  const done = round(s, s.length - 64, last, factor, 9n);
  const left = wrap(fold(done.v[0], done.w[0], factor) + wrap(mix(done.y) * K0) + done.z);
  return fold(wrap(left), wrap(fold(done.v[1], done.w[1], factor) + done.x), factor);
}

/** Seconds from year 1 to 1970. */
const EPOCH = 62_135_596_800n;

/** The bytes that Dgraph hashes of a list member. */
function binary(value: Value): Buffer {
  const out = Buffer.alloc(8);
  switch (value.type) {
    case 'int':
      out.writeBigInt64LE(BigInt(value.value));
      return out;
    case 'float':
      out.writeDoubleLE(value.value);
      return out;
    case 'bool':
      return Buffer.of(value.value ? 1 : 0);
    case 'datetime': {
      const { seconds, nanos, offset } = value.value;
      const time = Buffer.alloc(15);
      time[0] = 1;
      time.writeBigInt64BE(BigInt(seconds) + EPOCH, 1);
      time.writeInt32BE(nanos, 9);
      time.writeInt16BE(offset === 0 ? -1 : offset, 13);
      return time;
    }
    case 'string':
    case 'default':
    case 'password':
    case 'bigfloat':
      return Buffer.from(value.value);
    default:
      return Buffer.from(JSON.stringify(value.value));
  }
}

/** Place of a list member among the others. */
export function memberRank(bytes: StoredValue): bigint {
  return fingerprint(binary(decodeValue(bytes)));
}

/** Place of a language among the others. */
export function languageRank(lang: string): bigint {
  return fingerprint(Buffer.from(lang));
}
