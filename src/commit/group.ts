import {
  asError,
  atOnce,
  GraphsteadError,
  inSteps,
  internal,
  type Limits,
  type MaybePromise,
  Yielder,
} from '../base/index.js';
import type { Batch, Put, Snapshot } from '../store/index.js';
import { type CommitState, statePut } from './commit-state.js';
import type { Applier, Committed, CommitRecord, GroupState, GroupWork, IdempotencyClaim } from './contract.js';
import { GroupWrites } from './group-writes.js';
import { ReplyWriter } from './idempotency.js';
import { recordBytes, recordPuts } from './record.js';
import { trimRecords } from './retention.js';
import { tell } from './tell.js';

/** Bytes of a record that are cut into values without a pause. */
const LARGE_BODY = 256 * 1024;

/** One commit on its way into a group. */
export interface Entry {
  readonly parts: Readonly<Record<string, unknown>>;
  readonly idempotency?: IdempotencyClaim;
  /** the record's body, serialised when the intent was handed in */
  readonly body: Uint8Array;
}

/** Where a group stands in time. */
interface Stamp {
  readonly commitTs: number;
  readonly wall: number;
}

/** A group that is ready for the store. */
interface Finished {
  readonly batch: Batch;
  /** the figures once it landed */
  readonly state: CommitState;
  /** set when records were trimmed; see `Trimmed` */
  readonly oldestWall?: number;
}

/** An entry was refused after some of it had been taken in: the group has to be built again without it. */
export class EntryRefused<E extends Entry> {
  constructor(
    readonly entry: E,
    readonly reason: GraphsteadError,
  ) {}
}

/**
 * Merges entries through the appliers into one batch. One instance a group: `admit` each entry in order, then `finish`,
 * then `landed` or `failed`.
 */
export class Group<E extends Entry> {
  readonly writes: GroupWrites;
  readonly records: CommitRecord[] = [];
  readonly admitted: { readonly entry: E; readonly committed: Committed }[] = [];
  /** in the order of the appliers */
  readonly #works: { readonly name: string; readonly work: GroupWork<unknown, unknown> }[] = [];
  readonly #appliers: ReadonlyMap<string, Applier>;
  readonly #limits: Limits;
  readonly #replies: ReplyWriter;
  #bytes = 0;
  /** of the records */
  #keys = 0;

  constructor(snapshot: Snapshot, appliers: ReadonlyMap<string, Applier>, limits: Limits) {
    this.writes = new GroupWrites(snapshot);
    this.#appliers = appliers;
    this.#limits = limits;
    this.#replies = new ReplyWriter(this.writes, limits.idempotencyHours);
  }

  /** bytes of the records that this group adds */
  get bytes(): number {
    return this.#bytes;
  }

  /** Lets each applier read what all its parts need, at once. */
  async prepare(entries: readonly E[]): Promise<void> {
    for (const [name, applier] of this.#appliers) {
      const parts = entries.filter((entry) => entry.parts[name] !== undefined).map((entry) => entry.parts[name]);
      if (parts.length === 0) continue;
      const work = applier.begin(this.writes as GroupState);
      this.#works.push({ name, work });
      const ready = work.prepare(parts);
      if (ready instanceof Promise) await ready;
    }
  }

  /**
   * Takes an entry in, under a timestamp. Throws (or rejects with) what its applier refused it with, when no trace of it
   * was left; `EntryRefused` when one was. Most entries wait for nothing.
   */
  admit(entry: E, stamp: Stamp): MaybePromise<void> {
    const results: Record<string, unknown> = {};
    const applied = this.#apply(entry, stamp, results, 0);
    if (applied === undefined && entry.idempotency === undefined) return this.#keep(entry, stamp, results);
    return this.#admitLater(entry, stamp, results, applied);
  }

  async #admitLater(entry: E, stamp: Stamp, results: Results, applied: MaybePromise<void>): Promise<void> {
    await applied;
    const { idempotency } = entry;
    if (idempotency !== undefined) {
      await this.#replies.store(idempotency, stamp.commitTs, stamp.wall).catch((thrown: unknown) => {
        throw new EntryRefused(entry, asError(thrown)); // its parts are in by now
      });
    }
    const keeping = this.#keep(entry, stamp, results);
    if (keeping) await keeping;
  }

  #apply(entry: E, stamp: Stamp, results: Results, from: number): MaybePromise<void> {
    for (let i = from; i < this.#works.length; i++) {
      const { name, work } = this.#works[i];
      const part = entry.parts[name];
      if (part === undefined) continue;
      try {
        const result = work.apply(part, stamp.commitTs, stamp.wall);
        if (result instanceof Promise) {
          const goOn = (value: unknown) => {
            results[name] = value;
            return this.#apply(entry, stamp, results, i + 1);
          };
          return result.then(goOn, (thrown) => refuse(entry, results, name, thrown));
        }
        results[name] = result;
      } catch (thrown) {
        refuse(entry, results, name, thrown);
      }
    }
  }

  #keep(entry: E, stamp: Stamp, results: Results): MaybePromise<void> {
    const putting = recordPuts(stamp.commitTs, stamp.wall, entry.body, this.records.length > 0);
    if (entry.body.length <= LARGE_BODY) {
      this.#kept(entry, stamp, results, atOnce(putting));
      return;
    }
    const yielder = new Yielder(this.#limits.yieldMs);
    return inSteps(putting, () => yielder.due()).then((puts) => this.#kept(entry, stamp, results, puts));
  }

  #kept(entry: E, { commitTs, wall }: Stamp, results: Results, puts: readonly Put[]): void {
    const { parts, body, idempotency } = entry;
    const together = this.records.length > 0;
    this.writes.putAll(puts);
    this.#keys += puts.length;
    this.#bytes += recordBytes(body);
    const claim = idempotency === undefined ? {} : { idempotency };
    this.records.push({ commitTs, wall, parts, ...claim, ...(together ? { together } : {}) });
    this.admitted.push({ entry, committed: { commitTs, wall, results } });
  }

  /** The group as one batch, and the figures that go with it. */
  async finish(version: number, state: CommitState, trim: boolean): Promise<Finished> {
    for (const { work } of this.#works) {
      const flushed = work.flush();
      if (flushed instanceof Promise) await flushed;
    }
    const after: { state: CommitState; oldestWall?: number } = trim
      ? await trimRecords(this.writes, state, { bytes: this.#bytes, keys: this.#keys }, this.#limits)
      : { state: { ...state, recordBytes: state.recordBytes + this.#bytes } };
    this.writes.putAll([statePut(after.state)]);
    return { batch: { version, puts: this.writes.puts, deleteRanges: this.writes.ranges }, ...after };
  }

  /** Throws nothing. */
  landed(): void {
    tell(() => this.writes.snapshot.release());
    for (const { work } of this.#works) tell(() => publish(work));
  }

  failed(): void {
    this.writes.snapshot.release();
    for (const { work } of this.#works) work.failed();
  }
}

/** What an applier has published by half is read again from the store. Throws what the applier throws. */
function publish(work: GroupWork<unknown, unknown>): void {
  try {
    work.landed();
  } catch (thrown) {
    work.failed();
    throw thrown;
  }
}

type Results = Record<string, unknown>;

/** What a store fails with while an applier reads it, at any place of its work; appliers refuse with others, before they change anything. */
const STORE_FAILURES: ReadonlySet<string> = new Set([
  'CONFIG',
  'DISK_FULL',
  'INTERNAL',
  'OVERLOADED',
  'STORE_CORRUPT',
  'STORE_FENCED',
]);

/** An applier refused its part of an entry. @throws always */
function refuse(entry: Entry, results: Results, applier: string, thrown: unknown): never {
  const isFirst = Object.keys(results).length === 0;
  if (isFirst && thrown instanceof GraphsteadError && !STORE_FAILURES.has(thrown.code)) throw thrown;
  throw new EntryRefused(entry, asRefusal(thrown, applier));
}

function asRefusal(thrown: unknown, applier: string): GraphsteadError {
  if (thrown instanceof GraphsteadError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return internal(`${applier} could not apply a commit: ${message}`, thrown);
}
