import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert, Yielder, GraphsteadError, type Limits } from '../base/index.js';
import { checkBatch } from './check.js';
import type { Checkpoints } from './checkpoints.js';
import type { ApplyOptions, Batch, Key, OldestReader, Snapshot, Store } from './contract.js';
import type { DiskGuard } from './disk.js';
import { isSlip, reasonOf, storeFailure, writeFailure } from './failure.js';
import { copyEnv, refuseStoreIn } from './lmdb-copy.js';
import type { LmdbEnv } from './lmdb-env.js';
import type { WriteHold } from './lmdb-hold.js';
import { encodeVersion, type FileMeta, META } from './lmdb-meta.js';
import { oldestReader } from './lmdb-readers.js';
import { LmdbSnapshot, SharedReader } from './lmdb-snapshot.js';
import type { LockFile } from './lock-file.js';
import { fenced } from './memory-store.js';
import type { WriteMark } from './open-gate.js';
import type { Place } from './place.js';

// What a batch copies besides its own bytes: the page around each entry at the worst, and hardly more than this.
const COPIED_BYTES_A_PUT = 4096;
const COPIED_BYTES = 64 * 2 ** 20;
const RANGE_PAGE = 1_000;
/** Entries that lmdb is handed without a pause, some milliseconds' work; and of a larger batch, between two looks at the time. */
const HANDED_AT_ONCE = 8_192;
const SLICE = 512;
/** milliseconds between two looks for readers of processes that were killed: their pages are never used again until then */
const DEAD_READERS_MS = 60_000;

/** What an open store holds. */
interface Parts {
  readonly env: LmdbEnv;
  readonly meta: FileMeta;
  readonly limits: Limits;
  readonly place: Place;
  /** absent for one that only reads */
  readonly writer?: Writer;
}

/** What only one that writes holds. */
interface Writer {
  readonly disk: DiskGuard;
  readonly lock: LockFile;
  readonly mark: WriteMark;
  readonly hold: WriteHold;
  readonly checkpoints: Checkpoints;
  /** the data file, to wait until all that was written to it is on disk */
  readonly file: FileHandle;
}

/** A store on one LMDB file and its redo log. `openLmdbStore` makes it. */
export class LmdbStore implements Store {
  readonly #parts: Parts;
  readonly #env: LmdbEnv;
  #current: SharedReader | undefined;
  readonly #readers = new Set<SharedReader>();
  #version: number;
  #applying: Promise<void> | undefined;
  readonly #copies = new Set<Promise<number>>();
  #fenced = false;
  /** what left the file in doubt: nothing is written until the store is opened again */
  #failure: GraphsteadError | undefined;
  #closed = false;
  #batches = 0;
  #bytes = 0;
  #lookedForDead = performance.now();

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
    return this.#parts.writer === undefined;
  }

  /** One that writes is told when it does: the service may go on reading (decision 0006). */
  get stale(): GraphsteadError | undefined {
    return this.readOnly && this.#parts.place.isLost ? this.#parts.place.lost() : undefined;
  }

  /** Snapshots are the newest by themselves; of a file that is another one now they would be old for ever. Throws STORE_FENCED. */
  async refresh(): Promise<void> {
    this.#parts.place.assertThere();
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
    const { writer } = this.#parts;
    if (writer === undefined)
      throw new GraphsteadError('READ_ONLY_STORE', 'this store was opened to read only', {
        fix: 'Send changes to the service that writes.',
      });
    const failure = this.#failure ?? writer.checkpoints.failure;
    if (failure !== undefined) throw failure;
    if (this.#fenced || options.expectEpoch !== this.epoch) throw fenced(options.expectEpoch);
    this.#parts.place.assertThere();
    const bytes = checkBatch(batch, this.#version);
    const copied = Math.min(batch.puts.length * COPIED_BYTES_A_PUT, COPIED_BYTES);
    writer.disk.admit(2 * bytes + copied, options.reclaim ?? false);
    const done = this.#write(batch, writer);
    this.#applying = done;
    try {
      await done;
    } finally {
      this.#applying = undefined;
    }
    this.#batches++;
    this.#bytes += bytes;
    if (performance.now() - this.#lookedForDead > DEAD_READERS_MS) this.#forgetDeadReaders();
  }

  #forgetDeadReaders(): void {
    this.#lookedForDead = performance.now();
    this.#env.root.readerCheck();
  }

  async #write(batch: Batch, writer: Writer): Promise<void> {
    // While it is in flight all snapshots share the reader from before it, even when it is on disk already.
    this.#current ??= this.#begin();
    const removed = await this.#keysIn(batch.deleteRanges ?? []);
    const { mark } = writer;
    try {
      const waits = mark.begin();
      if (waits !== undefined) await waits;
    } catch (thrown) {
      throw writeFailure(thrown);
    }
    try {
      await this.#land(batch, removed, writer);
    } finally {
      mark.end();
    }
  }

  async #land(batch: Batch, removed: readonly Key[], writer: Writer): Promise<void> {
    try {
      await this.#landOnce(batch, removed, writer);
    } catch (thrown) {
      if (this.#failure !== undefined || !(thrown instanceof GraphsteadError) || !isSlip(thrown)) throw thrown;
      await this.#landOnce(batch, removed, writer);
    }
  }

  async #landOnce(batch: Batch, removed: readonly Key[], { hold, checkpoints }: Writer): Promise<void> {
    const { redo } = checkpoints;
    const room = checkpoints.room();
    if (room !== undefined) await room;
    const logging = redo.write(batch, this.#version);
    const landed = await this.#put(batch, removed, hold).catch(async (thrown) => {
      const failure = await reasonOf(thrown);
      await logging;
      if (!(await redo.forget())) this.#failure = failure;
      throw failure;
    });
    const logged = await logging; // before anything is thrown: closing closes the log's file
    // The entry of a batch that is refused, or may be yet, must not be put in after a power cut: one that failed to be
    // written may be whole, and as long as the process that took over has no log of its own, this one counts.
    if (!landed || !logged) await redo.forget();
    if (!landed) {
      this.#fenced = true;
      await checkpoints.stop();
      throw fenced(this.epoch);
    }
    if (!logged) await checkpoints.now();
    this.#version = batch.version;
    this.#forget();
    checkpoints.landed();
  }

  #put(batch: Batch, removed: readonly Key[], hold: WriteHold): Promise<boolean> {
    const entries = removed.length + batch.puts.length;
    return entries > HANDED_AT_ONCE
      ? this.#putInSlices(batch, removed, hold)
      : this.#hand(batch, removed, 0, Number.POSITIVE_INFINITY);
  }

  /** LMDB's thread begins when all is handed over, and takes it as one transaction: each slice lands where the others do. */
  async #putInSlices(batch: Batch, removed: readonly Key[], hold: WriteHold): Promise<boolean> {
    const entries = removed.length + batch.puts.length;
    const yielder = new Yielder(this.#parts.limits.yieldMs);
    const slices: Promise<boolean>[] = [];
    const letGo = await hold.take();
    try {
      for (let from = 0; from < entries; from += SLICE) {
        slices.push(this.#hand(batch, removed, from, from + SLICE));
        await yielder.due();
      }
    } finally {
      letGo();
    }
    return (await Promise.all(slices)).every((landed) => landed);
  }

  /**
   * Hands lmdb the entries from `from` up to `end`, of those that a range takes away and then of the puts; the version with the last.
   * Nothing in here may throw: lmdb keeps the puts that stood before.
   */
  #hand({ puts, version }: Batch, removed: readonly Key[], from: number, end: number): Promise<boolean> {
    const { data, meta } = this.#env;
    const ranged = removed.length;
    return meta.ifVersion(META.epoch, this.epoch, () => {
      for (let i = from; i < ranged && i < end; i++) void data.remove(removed[i]);
      for (let i = Math.max(from - ranged, 0); i < puts.length && i < end - ranged; i++) {
        const { key, value } = puts[i];
        if (value === undefined) void data.remove(key);
        else void data.put(key, value);
      }
      if (end >= ranged + puts.length) void meta.put(META.version, encodeVersion(version), 1);
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

  async backup(directory: string): Promise<number> {
    assert(!this.#closed, 'the store is closed');
    const target = resolve(directory);
    refuseStoreIn(target);
    const copying = copyEnv(this.#env, target);
    this.#copies.add(copying);
    try {
      return await copying;
    } finally {
      this.#copies.delete(copying);
    }
  }

  oldestReader(): OldestReader | undefined {
    return oldestReader(this.#env);
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
      heldBatches: this.oldestReader()?.batches ?? 0,
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
    const { writer } = this.#parts;
    await writer?.checkpoints.stop();
    await writer?.hold.close();
    await this.#env.root.close();
    if (writer !== undefined) await this.#closeWriter(writer);
  }

  async #closeWriter({ checkpoints, mark, file, lock }: Writer): Promise<void> {
    mark.close();
    const inDoubt = this.#fenced || (this.#failure ?? checkpoints.failure) !== undefined;
    try {
      if (!inDoubt) await checkpoints.end();
    } finally {
      checkpoints.redo.close();
      await file.close();
      lock.release();
    }
  }
}
