import { serialize } from 'node:v8';
import type { Steps } from '../base/index.js';

// Commits lie in the store in V8's wire format, which `v8.deserialize` reads in this Node and in all later ones. V8's own
// writer was the dearest single step of a small commit, mostly for its typed arrays; small plain data is written here
// instead, in the same format, in a fifth of the time, and the bytes of large typed arrays are put between it in steps. Whatever
// else is large or less plain is left to V8.

const FORMAT = [0xff, 15];
const BYTES = 16 * 1024;
/** A nested value begins only while so many bytes are left: no tag with its number takes more. */
const SPARE = 16;
const LONGEST_TEXT = 256;
const DEEPEST = 32;

/** The tags of the format, which are character codes, and what follows each. */
const TAG = {
  undefined: 0x5f,
  null: 0x30,
  true: 0x54,
  false: 0x46,
  /** zigzag varint */
  integer: 0x49,
  /** eight bytes in the order of the machine */
  double: 0x4e,
  /** length, characters of one byte */
  text: 0x22,
  /** keys and values in turn */
  object: 0x6f,
  /** number of keys */
  objectEnd: 0x7b,
  /** length, elements */
  array: 0x41,
  /** number of keys that are no index, length */
  arrayEnd: 0x24,
  /** Node's own: number of the class, length in bytes, bytes */
  view: 0x5c,
} as const;

/** A view is copied here up to so many bytes; the bytes of a longer one are put in when all the rest is written. */
const SHORT_VIEW = 4_096;
/** Bytes that are copied in one step. */
const COPIED = 1024 * 1024;

type View = Uint8Array | Uint32Array | Float64Array;

/** Bytes of a long view, and before which of the others they stand. */
interface Long {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Node's numbers of the classes that commits are made of. */
const VIEWS: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  [Uint8Array, 1],
  [Uint32Array, 6],
  [Float64Array, 8],
  [Buffer, 10],
]);

const NOT_HERE = Symbol('left to V8');

class PlainWriter {
  readonly #bytes = new Uint8Array(BYTES);
  readonly #double = new Float64Array(1);
  readonly #doubleBytes = new Uint8Array(this.#double.buffer);
  readonly #word = new Uint32Array(1);
  readonly #wordBytes = new Uint8Array(this.#word.buffer);
  #at = 0;
  #long: Long[] = [];

  /** Throws NOT_HERE for what V8 has to write. */
  write(value: unknown): { readonly short: Buffer; readonly long: readonly Long[] } {
    this.#at = 0;
    this.#long = [];
    for (const byte of FORMAT) this.#byte(byte);
    this.#value(value, 0);
    // the ends of what is nested need no room before they come
    if (this.#at > BYTES) throw NOT_HERE;
    const long = this.#long;
    this.#long = [];
    return { short: Buffer.from(this.#bytes.subarray(0, this.#at)), long };
  }

  #value(value: unknown, depth: number): void {
    if (this.#at > BYTES - SPARE || depth > DEEPEST) throw NOT_HERE;
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#number(value);
    else if (typeof value === 'boolean') this.#byte(value ? TAG.true : TAG.false);
    else if (value === undefined) this.#byte(TAG.undefined);
    else if (value === null) this.#byte(TAG.null);
    else if (Array.isArray(value)) this.#array(value, depth + 1);
    else if (typeof value !== 'object') throw NOT_HERE;
    else if (Object.getPrototypeOf(value) === Object.prototype) this.#object(value, depth + 1);
    else this.#view(value as View);
  }

  #object(value: object, depth: number): void {
    this.#byte(TAG.object);
    const keys = Object.keys(value);
    for (const key of keys) {
      if (isIndex(key)) throw NOT_HERE;
      this.#text(key);
      this.#value((value as Record<string, unknown>)[key], depth);
    }
    this.#byte(TAG.objectEnd);
    this.#varint(keys.length);
  }

  #array(value: readonly unknown[], depth: number): void {
    this.#byte(TAG.array);
    this.#varint(value.length);
    for (let i = 0; i < value.length; i++) {
      if (value[i] === undefined && !(i in value)) throw NOT_HERE;
      this.#value(value[i], depth);
    }
    this.#byte(TAG.arrayEnd);
    this.#byte(0);
    this.#varint(value.length);
  }

  #view(value: View): void {
    const number = VIEWS.get(value.constructor);
    const isLong = value.byteLength > SHORT_VIEW;
    if (number === undefined || (!isLong && this.#at + value.byteLength > BYTES - SPARE)) throw NOT_HERE;
    this.#byte(TAG.view);
    this.#varint(number);
    this.#varint(value.byteLength);
    if (isLong) {
      this.#long.push({ at: this.#at, bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength) });
      return;
    }
    // not through `buffer`: asked for it, V8 moves a small array's bytes out of its heap
    if (value instanceof Uint8Array) this.#raw(value);
    else for (let i = 0; i < value.length; i++) this.#element(value, i);
  }

  #element(value: Uint32Array | Float64Array, i: number): void {
    if (value instanceof Float64Array) {
      this.#double[0] = value[i];
      this.#raw(this.#doubleBytes);
    } else {
      this.#word[0] = value[i];
      this.#raw(this.#wordBytes);
    }
  }

  #raw(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #text(text: string): void {
    const { length } = text;
    if (length > LONGEST_TEXT || this.#at + length > BYTES - SPARE) throw NOT_HERE;
    this.#byte(TAG.text);
    this.#varint(length);
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0xff) throw NOT_HERE;
      this.#byte(code);
    }
  }

  #number(value: number): void {
    if (value === (value | 0) && !Object.is(value, -0)) {
      this.#byte(TAG.integer);
      this.#varint(((value << 1) ^ (value >> 31)) >>> 0);
      return;
    }
    this.#byte(TAG.double);
    this.#double[0] = value;
    this.#raw(this.#doubleBytes);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#byte((rest & 0x7f) | 0x80);
    this.#byte(rest);
  }

  #byte(byte: number): void {
    this.#bytes[this.#at++] = byte;
  }
}

/** The format has numbers for such keys. */
function isIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

const writer = new PlainWriter();

/** What `v8.deserialize` makes equal data of, a megabyte a step. Throws as `v8.serialize` does at functions, symbols and the like. */
export function* serializePlain(value: unknown): Steps<Buffer> {
  const written = writtenHere(value);
  if (written === undefined) return serialize(value);
  const { short, long } = written;
  if (long.length === 0) return short;
  const out = Buffer.allocUnsafe(long.reduce((sum, { bytes }) => sum + bytes.length, short.length));
  let [at, from] = [0, 0];
  for (const { at: before, bytes } of [...long, { at: short.length, bytes: new Uint8Array(0) }]) {
    out.set(short.subarray(from, before), at);
    at += before - from;
    from = before;
    for (let copied = 0; copied < bytes.length; copied += COPIED) {
      out.set(bytes.subarray(copied, copied + COPIED), at + copied);
      if (copied + COPIED < bytes.length) yield;
    }
    at += bytes.length;
  }
  return out;
}

/** Undefined for what is left to V8. */
function writtenHere(value: unknown): ReturnType<PlainWriter['write']> | undefined {
  try {
    return writer.write(value);
  } catch (thrown) {
    if (thrown !== NOT_HERE) throw thrown;
    return undefined;
  }
}
