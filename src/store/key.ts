import { assert } from '../base/index.js';
import type { Key } from './contract.js';
import { readBytes, readUint, uintLength, uintSize, writeUint } from './uint.js';

/** First byte of every key: the layout of all keys after it. */
const KEY_FORMAT = 1;
/** Written as an ordered uint after the format byte; one store holds one tenant for now. */
const TENANT = 0;

/**
 * The byte that separates the rooms inside the one key space. `meta` belongs to the store itself, and is the only
 * room whose keys are not part of what a replay of the commit records gives.
 */
export const ROOM = { meta: 0x01, commit: 0x02, graph: 0x10, agents: 0x20, operation: 0x30 } as const;
type RoomName = keyof typeof ROOM;

const PREFIX_BYTES = 3;

/** The first key behind all keys that begin with `prefix`. Throws (a programmer mistake) when there is none. */
export function prefixEnd(prefix: Key): Key {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  assert(length > 0, 'a prefix of 0xff bytes has no end');
  const end = prefix.slice(0, length);
  end[length - 1]++;
  return end;
}

/**
 * Builds keys of one room: the room's prefix stands already, parts are appended in order, `key()` copies them out and
 * starts anew. So does a part that is refused: half a key before the next one would put that one anywhere. Keep one
 * writer a room and reuse it; it is not re-entrant, and nothing that may throw stands inside of a chain.
 *
 *     writer.uint(predicate).byte(kind).uint(uid).key()
 */
export class KeyWriter {
  readonly #start: number;
  #buffer: Uint8Array;
  #length: number;

  constructor(room: RoomName, prefix: Uint8Array = new Uint8Array(0)) {
    this.#buffer = new Uint8Array(256);
    this.#buffer.set([KEY_FORMAT, TENANT, ROOM[room]]);
    this.#buffer.set(prefix, PREFIX_BYTES);
    this.#start = PREFIX_BYTES + prefix.length;
    this.#length = this.#start;
  }

  /** One byte, 0 to 255. */
  byte(value: number): this {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
    return this;
  }

  /** An unsigned integer below 2^53 in 1 to 8 bytes; keys order as the numbers do. */
  uint(value: number): this {
    this.#reserve(uintSize);
    try {
      this.#length = writeUint(this.#buffer, this.#length, value);
    } catch (error) {
      this.#length = this.#start;
      throw error;
    }
    return this;
  }

  /** Bytes of any content that another part follows; ordered, self-ending: 0x00 becomes 0x00 0xff, the end 0x00 0x01. */
  bytes(value: Uint8Array): this {
    this.#reserve(value.length * 2 + 2);
    for (let i = 0; i < value.length; i++) {
      this.#buffer[this.#length++] = value[i];
      if (value[i] === 0) this.#buffer[this.#length++] = 0xff;
    }
    this.#buffer[this.#length++] = 0;
    this.#buffer[this.#length++] = 1;
    return this;
  }

  /** Text in UTF-8 that another part follows; as `bytes`. */
  text(value: string): this {
    if (typeof value !== 'string') this.#length = this.#start;
    return this.bytes(Buffer.from(value, 'utf8'));
  }

  /** Bytes as they are; nothing that varies in length may stand before or after them without its own end. */
  raw(value: Uint8Array): this {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  /** The key, the caller's to keep; the writer starts anew. */
  key(): Key {
    const key = this.#buffer.slice(0, this.#length);
    this.#length = this.#start;
    return key;
  }

  /** The range of all keys that begin with what was written; the writer starts anew. */
  range(): { start: Key; end: Key } {
    const start = this.key();
    return { start, end: prefixEnd(start) };
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const grown = new Uint8Array((this.#length + bytes) * 2);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}

/** Reads back what a KeyWriter wrote, part by part, from behind the room's prefix. */
export class KeyReader {
  readonly #key: Key;
  #at: number;

  constructor(key: Key, at = PREFIX_BYTES) {
    this.#key = key;
    this.#at = at;
  }

  get done(): boolean {
    return this.#at >= this.#key.length;
  }

  byte(): number {
    return this.#key[this.#at++];
  }

  uint(): number {
    const value = readUint(this.#key, this.#at);
    this.#at += uintLength(this.#key[this.#at]);
    return value;
  }

  bytes(): Uint8Array {
    const { value, next } = readBytes(this.#key, this.#at);
    this.#at = next;
    return value;
  }

  text(): string {
    return Buffer.from(this.bytes()).toString('utf8');
  }

  /** Everything that is left, as it is. */
  rest(): Uint8Array {
    const rest = this.#key.slice(this.#at);
    this.#at = this.#key.length;
    return rest;
  }
}
