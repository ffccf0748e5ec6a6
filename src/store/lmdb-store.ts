import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert, GraphsteadError, type Limits, makeLimits } from '../base/index.js';
import { checkBatch } from './check.js';
import type { ApplyOptions, Batch, Key, Snapshot, Store } from './contract.js';
import { DiskGuard } from './disk.js';
import { storeFailure, writeFailure } from './failure.js';
import { copyEnv, nothingThere, refuseStoreIn, syncDirectory } from './lmdb-copy.js';
import { type LmdbEnv, openEnv } from './lmdb-env.js';
import { checkFormat, encodeVersion, type FileMeta, META, raiseEpoch, readMeta } from './lmdb-meta.js';
import { LmdbSnapshot, SharedReader } from './lmdb-snapshot.js';
import { LockFile } from './lock-file.js';
import { fenced } from './memory-store.js';

// Address space costs nothing until it is used; a map that need not grow never has to be mapped again under readers.
const MAP_SIZES = [64 * 2 ** 30, 2 ** 30, undefined];
// What a batch copies besides its own bytes: the page around each entry at the worst, and hardly more than this.
const COPIED_BYTES_A_PUT = 4096;
const COPIED_BYTES = 64 * 2 ** 20;
const RANGE_PAGE = 1_000;

export interface LmdbStoreOptions {
  readonly limits?: Limits;
  /** opens beside a writer, and never writes */
  readonly readOnly?: boolean;
  /** opens although another process seems to write; that one is fenced from then on */
  readonly takeOver?: boolean;
  /** bytes of address space to begin with, for tests of its growth */
  readonly mapSize?: number;
  /** free bytes of a volume, for tests of a full disk */
  readonly freeBytes?: (directory: string) => number;
}

/**
 * Opens a data directory, and creates it when it is missing. A file of a newer minor format opens read-only.
 * Throws STORE_LOCKED, STORE_FORMAT, NOT_FOUND (read-only, and nothing there), CONFIG (no folder, or not ours to write),
 * DISK_FULL, STORE_CORRUPT.
 */
export async function openLmdbStore(directory: string, options: LmdbStoreOptions = {}): Promise<Store> {
  const limits = options.limits ?? makeLimits();
  const path = resolve(directory);
  const writable = await probe(path, options).catch((thrown: unknown) => {
    throw storeFailure(thrown, `opening ${path} failed`);
  });
  if (!writable) return openReadOnly(path, limits);
  const lock = takeDirectory(path, options.takeOver ?? false);
  let env: LmdbEnv | undefined;
  try {
    env = await openWritable(path, limits, options.mapSize);
    const meta = raiseEpoch(env);
    await syncDirectory(path);
    await syncDirectory(dirname(path));
    const disk = new DiskGuard(path, limits.diskReserve, options.freeBytes);
    await disk.layBallast(limits.ballastBytes);
    return new LmdbStore({ path, env, meta, limits, disk, lock });
  } catch (thrown) {
    lock.release();
    await env?.root.close();
    throw storeFailure(thrown, `opening ${path} failed`);
  }
}

function takeDirectory(path: string, takeOver: boolean): LockFile {
  try {
    mkdirSync(path, { recursive: true });
    return new LockFile(path, takeOver);
  } catch (thrown) {
    throw storeFailure(thrown, `opening ${path} failed`);
  }
}

/** Whether the directory is to be opened for writing; checks its format without touching the file. */
async function probe(path: string, options: LmdbStoreOptions): Promise<boolean> {
  const env = await openEnv(path, { readOnly: true, maxReaders: (options.limits ?? makeLimits()).readers });
  const meta = env && readMeta(env);
  await env?.root.close();
  const { writable } = meta === undefined ? { writable: true } : checkFormat(meta);
  return writable && !options.readOnly;
}

async function openReadOnly(path: string, limits: Limits): Promise<Store> {
  const env = await openEnv(path, { readOnly: true, maxReaders: limits.readers });
  const meta = env && readMeta(env);
  if (env === undefined || meta === undefined) throw nothingThere(path);
  return new LmdbStore({ path, env, meta, limits });
}

async function openWritable(path: string, limits: Limits, mapSize?: number): Promise<LmdbEnv> {
  const sizes = mapSize === undefined ? MAP_SIZES : [mapSize];
  for (const [index, size] of sizes.entries()) {
    try {
      const env = await openEnv(path, { readOnly: false, maxReaders: limits.readers, mapSize: size });
      assert(env !== undefined, 'a writable file is created when missing');
      return env;
    } catch (thrown) {
      // A process whose address space is limited cannot map the larger sizes.
      if (index === sizes.length - 1 || !/ENOMEM|Cannot allocate|memory/i.test(String(thrown))) throw thrown;
    }
  }
  throw new GraphsteadError('INTERNAL', 'no map size fits');
}

interface Parts {
  readonly path: string;
  readonly env: LmdbEnv;
  readonly meta: FileMeta;
  readonly limits: Limits;
  /** absent for one that only reads */
  readonly disk?: DiskGuard;
  readonly lock?: LockFile;
}

class LmdbStore implements Store {
  readonly #parts: Parts;
  readonly #env: LmdbEnv;
  #current: SharedReader | undefined;
  readonly #readers = new Set<SharedReader>();
  #version: number;
  #applying: Promise<void> | undefined;
  readonly #copies = new Set<Promise<void>>();
  #fenced = false;
  #closed = false;
  #batches = 0;
  #bytes = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#env = parts.env;
    const snapshot = this.snapshot();
    this.#version = snapshot.version;
    snapshot.release();
  }

  get epoch(): number {
    return this.#parts.meta.epoch;
  }

  get incarnation(): string {
    return this.#parts.meta.incarnation;
  }

  get readOnly(): boolean {
    return this.#parts.disk === undefined;
  }

  snapshot(): Snapshot {
    assert(!this.#closed, 'the store is closed');
    if (this.readOnly || this.#fenced) this.#forget(); // another process writes: only a new reader sees it
    const reader = (this.#current ??= this.#begin());
    reader.hold();
    return new LmdbSnapshot(reader);
  }

  #begin(): SharedReader {
    // One slot stays free for the writer's own look-ups.
    if (this.#readers.size >= this.#parts.limits.readers - 2) {
      throw new GraphsteadError('OVERLOADED', `limits.readers (${this.#parts.limits.readers}) snapshots are open`, {
        fix: 'Try again; long transactions and exports hold old snapshots.',
      });
    }
    try {
      const reader = new SharedReader(this.#env, (closed) => this.#readers.delete(closed));
      this.#readers.add(reader);
      return reader;
    } catch (thrown) {
      throw storeFailure(thrown, 'a snapshot could not begin');
    }
  }

  /** Lets go of the newest reader, so that an idle store pins no old version. */
  #forget(): void {
    this.#current?.drop();
    this.#current = undefined;
  }

  async apply(batch: Batch, options: ApplyOptions): Promise<void> {
    assert(!this.#closed, 'the store is closed');
    assert(this.#applying === undefined, 'one batch at a time');
    const { disk, limits } = this.#parts;
    if (disk === undefined) throw new GraphsteadError('READ_ONLY_STORE', 'this store was opened to read only');
    if (this.#fenced || options.expectEpoch !== this.epoch) throw fenced(options.expectEpoch);
    const bytes = checkBatch(batch, this.#version, limits);
    disk.admit(2 * bytes + Math.min(batch.puts.length * COPIED_BYTES_A_PUT, COPIED_BYTES), options.reclaim ?? false);
    const done = this.#write(batch);
    this.#applying = done;
    try {
      await done;
    } finally {
      this.#applying = undefined;
    }
    this.#batches++;
    this.#bytes += bytes;
  }

  async #write(batch: Batch): Promise<void> {
    // While it is in flight all snapshots share the reader from before it, even when it is on disk already.
    this.#current ??= this.#begin();
    const removed = await this.#keysIn(batch.deleteRanges ?? []);
    const landed = await this.#put(batch, removed).catch(async (thrown) => {
      throw await reasonOf(thrown);
    });
    if (!landed) {
      this.#fenced = true;
      throw fenced(this.epoch);
    }
    this.#version = batch.version;
    this.#forget();
  }

  // Nothing in here may throw: lmdb keeps the puts that stood before.
  #put(batch: Batch, removed: readonly Key[]): Promise<boolean> {
    const { data, meta } = this.#env;
    const version = encodeVersion(batch.version);
    return meta.ifVersion(META.epoch, this.epoch, () => {
      for (let i = 0; i < removed.length; i++) void data.remove(removed[i]);
      for (let i = 0; i < batch.puts.length; i++) {
        const { key, value } = batch.puts[i];
        if (value === undefined) void data.remove(key);
        else void data.put(key, value);
      }
      void meta.put(META.version, version, 1);
    });
  }

  async #keysIn(ranges: NonNullable<Batch['deleteRanges']>): Promise<Key[]> {
    const keys: Key[] = [];
    if (ranges.length === 0) return keys;
    const snapshot = this.snapshot();
    try {
      for (const { start, end } of ranges) {
        let page = snapshot.range({ start, end, keysOnly: true, limit: RANGE_PAGE });
        for (;;) {
          const { keys: found, next } = await page;
          keys.push(...found);
          if (next === undefined) break;
          await nextTurn();
          page = snapshot.range(next);
        }
      }
    } finally {
      snapshot.release();
    }
    return keys;
  }

  async backup(directory: string): Promise<void> {
    assert(!this.#closed, 'the store is closed');
    const target = resolve(directory);
    refuseStoreIn(target);
    const copying = copyEnv(this.#env, target);
    this.#copies.add(copying);
    try {
      await copying;
    } finally {
      this.#copies.delete(copying);
    }
  }

  stats(): Readonly<Record<string, number>> {
    const file = this.#env.root.getStats() as Record<string, unknown>;
    const data = this.#env.data.getStats() as Record<string, unknown>;
    return {
      entries: Number(data['entryCount']),
      treeDepth: Number(data['treeDepth']),
      leafPages: Number(data['treeLeafPageCount']),
      mapBytes: Number(file['mapSize']),
      fileBytes: (Number(file['lastPageNumber']) + 1) * this.#parts.meta.pageSize,
      readers: this.#readers.size,
      batches: this.#batches,
      batchBytes: this.#bytes,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.allSettled([this.#applying, ...this.#copies]);
    for (const reader of [...this.#readers]) reader.close();
    this.#current = undefined;
    await this.#env.root.close();
    this.#parts.lock?.release();
  }
}

/** lmdb tells the reason by a promise of its own, which ends the process when it is not observed. */
async function reasonOf(thrown: unknown): Promise<GraphsteadError> {
  const reason = (thrown as { commitError?: Promise<unknown> }).commitError;
  const cause = reason === undefined ? thrown : await reason.then(() => thrown).catch((error: unknown) => error);
  return writeFailure(cause);
}
