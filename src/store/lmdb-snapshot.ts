import { assert } from '../base/index.js';
import type { Key, KeyRun, Page, Range, Snapshot, ValueVisitor } from './contract.js';
import { storeFailure } from './failure.js';
import { type LmdbEnv, NextKey, type ReadTransaction } from './lmdb-env.js';
import { decodeVersion, META } from './lmdb-meta.js';
import { DEFAULT_PAGE, rest } from './page-list.js';

const SLAB = 32 * 1024;

/** One LMDB reader, shared by all snapshots of one version and closed with the last of them. */
export class SharedReader {
  readonly version: number;
  readonly env: LmdbEnv;
  readonly options: { readonly transaction: ReadTransaction };
  readonly #onClose: (reader: SharedReader) => void;
  #holders = 1;
  #closed = false;

  /** Begins at the newest durable state, held once by the caller. */
  constructor(env: LmdbEnv, onClose: (reader: SharedReader) => void) {
    this.env = env;
    this.#onClose = onClose;
    env.root.resetReadTxn();
    const transaction = env.data.useReadTransaction();
    this.options = { transaction };
    const version = env.meta.getBinaryFast(META.version, this.options);
    this.version = version === undefined ? 0 : decodeVersion(version);
  }

  hold(): void {
    this.#holders++;
  }

  drop(): void {
    if (--this.#holders === 0) this.close();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Ends the reader although snapshots hold it: the file is about to be closed. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.options.transaction.done();
    this.#onClose(this);
  }
}

/**
 * Copies values out of the one buffer that lmdb reuses for every read (its `length` is made up: only the bytes below it
 * are the value's) into slabs, since an allocation for each value costs twice the read. Slabs are never reused, so a
 * value stays good for as long as it is held.
 */
class Slab {
  #slab = new Uint8Array(SLAB);
  #at = 0;
  #source: Uint8Array = new Uint8Array(0);

  copy(value: Uint8Array): Uint8Array {
    const length = value.length;
    if (value.buffer !== this.#source.buffer) this.#source = new Uint8Array(value.buffer);
    if (this.#at + length > SLAB) this.#next();
    const start = value.byteOffset;
    const copy = new Uint8Array(this.#slab.buffer, this.#at, length);
    copy.set(this.#source.subarray(start, start + length));
    this.#at += length;
    return copy;
  }

  #next(): void {
    this.#slab = new Uint8Array(SLAB);
    this.#at = 0;
  }
}

const slab = new Slab();

/** The buffer that lmdb reads into, as an array whose length is true. */
class Window {
  value: Uint8Array | undefined;
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;

  show(value: Uint8Array): void {
    this.value = value;
    this.bytes = new Uint8Array(value.buffer);
    this.start = value.byteOffset;
  }
}

const window = new Window();

export class LmdbSnapshot implements Snapshot {
  readonly version: number;
  #reader: SharedReader | undefined;

  /** Takes over one hold of the reader. */
  constructor(reader: SharedReader) {
    this.version = reader.version;
    this.#reader = reader;
  }

  getMany(keys: readonly Key[]): (Uint8Array | undefined)[] {
    const { env, options } = this.#open();
    const { data } = env;
    const values = new Array<Uint8Array | undefined>(keys.length);
    try {
      for (let i = 0; i < keys.length; i++) {
        const value = data.getBinaryFast(keys[i], options);
        values[i] = value === undefined ? undefined : slab.copy(value);
      }
    } catch (thrown) {
      throw storeFailure(thrown, 'reading the store failed');
    }
    return values;
  }

  visit(keys: KeyRun, visit: ValueVisitor): void {
    const { env, options } = this.#open();
    const { data } = env;
    const next = new NextKey(keys);
    try {
      for (let i = 0; i < keys.length; i++) {
        next.index = i;
        const value = data.getBinaryFast(next, options);
        if (value === undefined) continue;
        if (value !== window.value) window.show(value);
        visit(i, window.bytes, window.start, window.start + data.lastSize);
      }
    } catch (thrown) {
      throw storeFailure(thrown, 'reading the store failed');
    }
  }

  get(key: Key): Uint8Array | undefined {
    return this.getMany([key])[0]?.slice();
  }

  range(range: Range): Page {
    const limit = range.limit ?? DEFAULT_PAGE;
    const keys: Key[] = [];
    const values: Uint8Array[] = [];
    try {
      for (const { key, value } of this.#walk(range, limit + 1)) {
        if (keys.length === limit) return { keys, values, next: rest(range, keys[limit - 1]) };
        keys.push(key);
        // lmdb answers Buffers, whose slice() does not copy: hand out what the contract names
        if (value !== undefined) values.push(new Uint8Array(value.buffer, value.byteOffset, value.length));
      }
    } catch (thrown) {
      throw storeFailure(thrown, 'reading the store failed');
    }
    return { keys, values };
  }

  #walk(range: Range, limit: number): Iterable<{ key: Key; value?: Uint8Array }> {
    const { env, options } = this.#open();
    const bounds = range.reverse
      ? { start: range.end, end: range.start, exclusiveStart: true, inclusiveEnd: true, reverse: true }
      : { start: range.start, end: range.end };
    const walk = { ...bounds, ...options, limit };
    if (range.keysOnly) return env.data.getKeys(walk as never).map((key) => ({ key }));
    return env.data.getRange(walk as never);
  }

  again(): Snapshot {
    const reader = this.#open();
    reader.hold();
    return new LmdbSnapshot(reader);
  }

  release(): void {
    this.#reader?.drop();
    this.#reader = undefined;
  }

  #open(): SharedReader {
    assert(this.#reader !== undefined, 'the snapshot was released');
    assert(!this.#reader.closed, 'the store is closed');
    return this.#reader;
  }
}
