import { setTimeout as pause } from 'node:timers/promises';
import { assert, codeOf, GraphsteadError } from '../../base/index.js';
import { checkBatch } from '../check.js';
import type { ApplyOptions, Batch, Key, Snapshot, Store } from '../contract.js';
import { NewestCache } from './cache.js';
import { HELD_SECONDS, type Hold } from './hold.js';
import { databaseFailure, isAnswer, isCrossed, type Link, type Writer } from './link.js';
import { PostgresSnapshot } from './snapshot.js';
import { batchParts, endedBetween, giveUp, META, moveHorizon, NOT_OURS, overdue, stands, takeAway } from './sql.js';

/** What an open store is made of. */
export interface PostgresStoreParts {
  readonly link: Link;
  readonly epoch: number;
  readonly incarnation: string;
  readonly version: number;
  /** who writes; or who reads beside, for whom the writer leaves old versions */
  readonly hold: Hold;
  /** bytes of what was read and written last that are kept here */
  readonly cacheBytes: number;
  readonly readOnly: boolean;
  /** told once, when another process has taken over, or the database went back to an older state */
  readonly fenced?: (error: GraphsteadError) => void;
  /** told once why old versions cannot be taken away, and with nothing once they can again */
  readonly keepsVersions?: (reason: GraphsteadError | undefined) => void;
}

/** milliseconds from one look at what can be taken away to the next */
const SWEEP_MS = 1_000;
/** rows taken away at once: each write waits for them */
const SWEEP_ROWS = 2_000;
/** tries in a row that failed until that is told: a database that was away for a moment is not worth a line */
const SWEEPS_FAILED = 5;
/** keys that a reader has named to it of what others wrote: where more changed, it forgets all that it kept */
const NAMED_KEYS = 10_000;
/** of a batch that others crossed, at once */
const TRIES = 10;
const NOT_TAKEN = 'the database took no write';
/** milliseconds until a database that went away in the middle of a commit is asked again */
const ASK_AGAIN_MS = 250;

/**
 * A store in a database that speaks PostgreSQL's protocol: see sql.ts for how it lies there. One process writes, whose epoch is
 * the newest; snapshots are versions, read by any number of connections.
 */
export class PostgresStore implements Store {
  readonly #parts: PostgresStoreParts;
  readonly #link: Link;
  readonly #cache: NewestCache;
  #version: number;
  /** the version of the database: the newest, or that of a batch that was given up since */
  #last: number;
  /** versions that are held, and how often */
  readonly #held = new Map<number, number>();
  #applying: Promise<void> | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #sweep: NodeJS.Timeout | undefined;
  #swept: number;
  /** there may be something to take away, behind the batch that is under way */
  #due = false;
  /** tries in a row */
  #sweepsFailed = 0;
  #sweepFailures = 0;
  #fenced: GraphsteadError | undefined;
  #ends = false;
  /** a batch that nobody will ask after any more */
  #unknown: GraphsteadError | undefined;
  #closed = false;
  #batches = 0;
  #bytes = 0;

  constructor(parts: PostgresStoreParts) {
    this.#parts = parts;
    this.#link = parts.link;
    this.#version = parts.version;
    this.#last = parts.version;
    this.#cache = new NewestCache(parts.version, parts.cacheBytes);
    this.#swept = parts.version;
    if (!parts.readOnly) this.#sweep = setInterval(() => this.#look(), SWEEP_MS).unref();
    parts.hold.onLost(() => void this.#replaced().catch(() => undefined)); // or with the next word
  }

  get epoch(): number {
    return this.#parts.epoch;
  }

  get incarnation(): string {
    return this.#parts.incarnation;
  }

  get readOnly(): boolean {
    return this.#parts.readOnly;
  }

  get stale(): GraphsteadError | undefined {
    if (this.#fenced || !this.#parts.hold.isSilent) return this.#fenced;
    const doubt = this.readOnly ? 'what is read here may be old' : 'another process may write';
    return new GraphsteadError('OVERLOADED', `the database has not answered for so long that ${doubt}`, {
      fix: 'Look whether the database runs, and can be reached from here.',
    });
  }

  snapshot(): Snapshot {
    assert(!this.#closed, 'the store is closed');
    return this.#snapshotOf(this.#version);
  }

  #snapshotOf(version: number): Snapshot {
    this.#held.set(version, (this.#held.get(version) ?? 0) + 1);
    return new PostgresSnapshot(version, {
      link: this.#link,
      cache: this.#cache,
      isClosed: () => this.#closed,
      again: () => this.#snapshotOf(version),
      onRelease: () => this.#release(version),
    });
  }

  #release(version: number): void {
    const holders = (this.#held.get(version) ?? 1) - 1;
    if (holders === 0) this.#held.delete(version);
    else this.#held.set(version, holders);
  }

  /** The oldest version that is read here. */
  #oldest(): number {
    return Math.min(this.#version, ...this.#held.keys());
  }

  async apply(batch: Batch, { expectEpoch }: ApplyOptions): Promise<void> {
    assert(!this.#closed, 'the store is closed');
    assert(this.#applying === undefined, 'one batch at a time');
    if (this.readOnly)
      throw new GraphsteadError('READ_ONLY_STORE', 'this store was opened to read only', {
        fix: 'Send changes to the service that writes.',
      });
    if (this.#fenced ?? this.#unknown) throw this.#fenced ?? this.#unknown;
    if (expectEpoch !== this.epoch) throw fenced(expectEpoch);
    const bytes = checkBatch(batch, this.#last);
    const written = { epoch: this.epoch, after: this.#last, seconds: HELD_SECONDS };
    let saidAt = performance.now();
    const done = this.#sweeping.then(() => {
      saidAt = performance.now();
      return this.#land(batch, batchParts(batch, written));
    });
    this.#applying = done;
    try {
      await done;
      this.#version = batch.version;
      this.#last = batch.version;
      this.#cache.landed(batch);
      this.#parts.hold.needs(batch.version);
      this.#parts.hold.heard(saidAt);
      this.#batches++;
      this.#bytes += bytes;
    } finally {
      this.#applying = undefined;
      if (this.#due) this.#look(); // the next batch waits for it
    }
  }

  async #land(batch: Batch, parts: readonly string[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#try(batch, parts);
        return;
      } catch (thrown) {
        if (!isCrossed(thrown) || tries >= TRIES) throw databaseFailure(thrown, NOT_TAKEN);
      }
    }
  }

  /** Where it throws, nothing of the batch has landed, nor will. */
  async #try(batch: Batch, parts: readonly string[]): Promise<void> {
    const writer = await this.#link.writer();
    let begun = 0;
    try {
      for (const part of parts) {
        begun++;
        const changed = await writer.run(part);
        // statement 0 is BEGIN
        if (begun === 1 && changed[1] !== 1) throw await this.#replaced();
      }
    } catch (thrown) {
      // a server that goes down answers too, and may have the batch in its log: only what leaves the connection good is a refusal
      const isAnswered = isAnswer(thrown) || thrown instanceof GraphsteadError;
      const isKnown = isAnswered && (await rolledBack(writer));
      if (!isKnown) writer.cut();
      // the last part commits: only its answer may be what was lost
      if (isKnown && codeOf(thrown) === NOT_OURS) throw await this.#replaced();
      if (isKnown || begun < parts.length) throw thrown;
      // whatever it was: its version is taken now, and the same parts could not land any more
      if (!(await this.#hasLanded(batch))) throw databaseFailure(thrown, NOT_TAKEN);
    }
  }

  /**
   * Asks until somebody answers: whoever waits for the batch must not be told that it failed while it may stand. It may be on its way
   * still, behind a connection that has ended here, so that what has not landed is given up first.
   */
  async #hasLanded(batch: Batch): Promise<boolean> {
    for (;;) {
      try {
        const writer = await this.#link.writer();
        const [givenUp] = await writer.run(giveUp(batch.version, this.epoch, this.#last));
        // where it was not, it has landed, or was given up by a try whose answer was lost, or another process has written since
        const [found] = givenUp === 1 ? [] : await writer.rows(stands(batch));
        this.#last = batch.version;
        return found?.['stands'] === true;
      } catch (thrown) {
        if (this.#ends) throw (this.#unknown = outcomeUnknown(thrown));
        await pause(ASK_AGAIN_MS);
      }
    }
  }

  /** Another process has taken over, or what was written here is gone, with the row that tells it maybe: for good, since epochs only rise, and so do versions. */
  async #replaced(): Promise<GraphsteadError> {
    const found = await this.#link.read({ text: META });
    const isOver = found.some(({ epoch }) => Number(epoch) > this.epoch);
    return this.#fence(isOver ? fenced(this.epoch) : wentBack());
  }

  #fence(error: GraphsteadError): GraphsteadError {
    if (this.#fenced === undefined) {
      this.#fenced = error;
      if (!this.#closed) this.#parts.fenced?.(this.#fenced);
    }
    return this.#fenced;
  }

  /** What nobody reads any more goes, between two batches. */
  #look(): void {
    this.#due = this.#applying !== undefined;
    if (this.#closed || this.#fenced || this.#due) return;
    const oldest = this.#oldest();
    if (oldest <= this.#swept) return;
    this.#sweeping = this.#takeAway(oldest).then(
      (isLeft) => this.#sweepDone(isLeft),
      (thrown) => this.#sweepFailed(thrown),
    );
  }

  /** Whether more may be left. */
  async #takeAway(oldest: number): Promise<boolean> {
    const writer = await this.#link.writer();
    const [moved] = await writer.run(moveHorizon(this.epoch, oldest));
    if (moved === 0) {
      await this.#replaced();
      return false;
    }
    const [taken] = await writer.run(takeAway(SWEEP_ROWS));
    if (taken === SWEEP_ROWS) return true;
    this.#swept = oldest;
    return false;
  }

  #sweepDone(isLeft: boolean): void {
    if (this.#sweepsFailed >= SWEEPS_FAILED) this.#parts.keepsVersions?.(undefined);
    this.#sweepsFailed = 0;
    if (isLeft) this.#look();
  }

  #sweepFailed(thrown: unknown): void {
    this.#sweepFailures++;
    if (++this.#sweepsFailed !== SWEEPS_FAILED) return;
    this.#parts.keepsVersions?.(databaseFailure(thrown, 'old versions in the database cannot be taken away'));
  }

  ending(): void {
    this.#ends = true;
  }

  async refresh(): Promise<void> {
    assert(this.readOnly, 'one that writes knows what is newest');
    const [meta] = await this.#link.read({ text: META });
    const before = this.#version;
    const version = Number(meta['version']);
    if (version < before) throw this.#fence(wentBack());
    if (version > before) {
      const ended = await this.#ended(before, version);
      this.#version = version;
      this.#cache.moved(version, ended);
    }
    this.#parts.hold.needs(this.#oldest());
  }

  /** Keys whose values others ended; undefined where they are too many, or not all are known any more. */
  async #ended(after: number, upTo: number): Promise<readonly Key[] | undefined> {
    const rows = await this.#link.read(endedBetween(after, upTo, NAMED_KEYS));
    if (rows.length > NAMED_KEYS || Number(rows[0]['horizon']) > after) return undefined;
    return rows.flatMap(({ k }) => (k === null ? [] : [k as Buffer]));
  }

  async overdue(most: number): Promise<number> {
    const [row] = await this.#link.read({ text: overdue(most) });
    return Number(row['n']);
  }

  async backup(_directory: string): Promise<number> {
    throw copiedByDatabase();
  }

  stats(): Readonly<Record<string, number>> {
    return {
      readers: [...this.#held.values()].reduce((sum, holders) => sum + holders, 0),
      batches: this.#batches,
      batchBytes: this.#bytes,
      sweepFailures: this.#sweepFailures,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#ends = true;
    clearInterval(this.#sweep);
    await Promise.allSettled([this.#applying, this.#sweeping]);
    await this.#parts.hold.end().catch(() => undefined);
    await this.#link.close();
  }
}

async function rolledBack(writer: Writer): Promise<boolean> {
  return await writer.run('ROLLBACK').then(
    () => true,
    () => false,
  );
}

function outcomeUnknown(cause: unknown): GraphsteadError {
  return new GraphsteadError('OUTCOME_UNKNOWN', 'the service ends, and the database is away that was to commit this', {
    fix: 'Look whether it was done once the service runs again, or send it again under its Idempotency-Key.',
    cause,
  });
}

function fenced(epoch: number): GraphsteadError {
  return new GraphsteadError('STORE_FENCED', `another process took over the database (epoch ${epoch} is over)`, {
    fix: 'Run one service on one database; this one no longer writes, and what it reads may be out of date.',
  });
}

/** A replica that lacked what came last took its place, or it was restored: what is kept here was never there. */
function wentBack(): GraphsteadError {
  return new GraphsteadError('STORE_FENCED', 'the database holds an older state than this service has seen', {
    fix: 'Start the service again: it goes on from what the database holds. What came after that is lost.',
  });
}

/** Copies are made, and brought back, by what others make those of a database with. */
export function copiedByDatabase(): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', 'a store in a database is copied by the means of that database', {
    fix: 'Use pg_dump, also while a service writes, and pg_restore or psql, or the backups of its host; docs/guides/deployment.md has what a restored one needs before its start. A data directory is named with --data.',
  });
}
