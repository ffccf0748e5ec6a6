import { Failing, GraphsteadError, type Histogram, type Limits, makeLimits } from '../base/index.js';
import type { Snapshot, Store } from '../store/index.js';
import { type CommitState, readState } from './commit-state.js';
import type { Beginning, Committed, CommitRecord, Committer, Follower } from './contract.js';
import { readRecords } from './record.js';
import { RecordStream } from './stream.js';

/** records of one look that are kept in memory; of more, all are read a second time */
const KEPT = 4_096;

interface FollowerOptions {
  /** that only reads */
  readonly store: Store;
  /** told of each commit in this order */
  readonly followers: readonly Follower[];
  readonly limits?: Limits;
  /** looks for nothing by itself, for who reads one version and ends */
  readonly onlyAsked?: boolean;
  /** told when looks begin to fail, and with nothing once they succeed again */
  readonly failing?: (failure: unknown) => void;
  /** told once: commits were not seen that are no longer kept, so that nothing here can be trusted any more */
  readonly lost?: (error: GraphsteadError) => void;
}

/**
 * Stands where a committer is asked for, over a store that another process writes: looks for what that one has committed, every
 * `limits.followMs` and whenever somebody has to see all of it, and tells of it as if it had been committed here. Whatever would
 * write is refused with READ_ONLY_STORE.
 */
export async function createFollower(options: FollowerOptions): Promise<Committer> {
  const snapshot = options.store.snapshot();
  try {
    return new FollowingCommitter(options, snapshot, await readState(snapshot));
  } catch (thrown) {
    snapshot.release();
    throw thrown;
  }
}

/** How everything that would write is refused in a service that only reads. */
export function readOnlyStore(): GraphsteadError {
  return new GraphsteadError('READ_ONLY_STORE', 'this service only reads', {
    fix: 'Send changes to the service that writes this store.',
  });
}

class FollowingCommitter implements Committer {
  readonly readOnly = true;
  readonly #options: FollowerOptions;
  readonly #stream: RecordStream;
  readonly #every: number;
  /** what everybody reads: never ahead of what followers saw */
  #newest: Snapshot;
  /** the last commit that listeners heard of: behind what is shown where the store failed in between */
  #told: number;
  #state: CommitState;
  /** until the next look that nobody asks for */
  #timer: NodeJS.Timeout | undefined;
  /** the look under way, or the last one; with what kept it from seeing */
  #looking: Promise<unknown> = Promise.resolve();
  /** the look that begins behind it, for all who have asked since it began */
  #next: Promise<unknown> | undefined;
  #lost: GraphsteadError | undefined;
  readonly #failing: Failing;
  #closed = false;
  readonly #figures = { commits: 0, failures: 0 };

  constructor(options: FollowerOptions, newest: Snapshot, state: CommitState) {
    this.#options = options;
    this.#newest = newest;
    this.#told = newest.version;
    this.#state = state;
    this.#failing = new Failing((failure) => options.failing?.(failure));
    this.#stream = new RecordStream(this, newest.version);
    this.#every = (options.limits ?? makeLimits()).followMs;
    this.#timer = this.#lookLater();
  }

  get lastCommitTs(): number {
    return this.#newest.version;
  }

  get trimmedTs(): number {
    return this.#state.trimmed;
  }

  snapshot(): Snapshot {
    return this.#newest.again();
  }

  async caughtUp(): Promise<void> {
    const failure = this.#lost ?? (await this.#lookNow());
    if (failure !== undefined) throw failure;
  }

  async begin(): Promise<Beginning> {
    return { startTs: this.#newest.version, snapshot: this.snapshot() };
  }

  async commit(): Promise<Committed> {
    throw readOnlyStore();
  }

  /** Only what writes has a reply to repeat, and that is refused here. */
  async idempotentReply(): Promise<undefined> {
    return undefined;
  }

  async idempotentCommit(): Promise<undefined> {
    return undefined;
  }

  tail(after: number, signal: AbortSignal): AsyncIterable<CommitRecord> {
    return this.#stream.tail(after, signal);
  }

  onCommit(listener: (records: readonly CommitRecord[]) => void): () => void {
    return this.#stream.listen(listener);
  }

  stats(): Readonly<Record<string, number>> {
    return { ...this.#figures, lastCommitTs: this.lastCommitTs, recordBytes: this.#state.recordBytes };
  }

  times(): Readonly<Record<string, Histogram>> {
    return {};
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    this.#stream.close();
    this.#newest.release();
  }

  #lookLater(): NodeJS.Timeout | undefined {
    if (this.#options.onlyAsked) return undefined;
    return setTimeout(() => void this.#lookNow(), this.#every).unref();
  }

  /** One that is under way may have missed what was committed a moment ago, so what is asked for now begins behind it. */
  #lookNow(): Promise<unknown> {
    this.#next ??= this.#looking.then(() => {
      this.#next = undefined;
      this.#looking = this.#look();
      return this.#looking;
    });
    return this.#next;
  }

  /** Answers with what kept it from seeing; never throws. */
  async #look(): Promise<unknown> {
    if (this.#closed) return this.#lost;
    clearTimeout(this.#timer);
    let failure: unknown;
    try {
      await this.#options.store.refresh?.();
      if (this.#told < this.#newest.version) await this.#tellStored();
      const found = this.#options.store.snapshot();
      if (found.version > this.#newest.version) await this.#moveTo(found);
      else found.release();
      this.#failing.succeeded();
    } catch (thrown) {
      failure = thrown;
      this.#figures.failures++;
      this.#failing.failed(thrown);
      if (thrown instanceof GraphsteadError && thrown.code === 'EVENT_GAP') this.#lose(thrown);
    }
    if (!this.#closed) this.#timer = this.#lookLater();
    return failure;
  }

  /** Caches that missed commits cannot be mended: a start reads everything anew. */
  #lose(error: GraphsteadError): void {
    this.#closed = true;
    this.#lost = error;
    this.#options.lost?.(error);
  }

  /** Caches first, then whoever reads, then whoever listens: as where it is committed. */
  async #moveTo(found: Snapshot): Promise<void> {
    const after = this.#newest.version;
    let records: CommitRecord[] | undefined;
    try {
      const state = await readState(found);
      if (after < state.trimmed) throw missed(after, state.trimmed);
      records = await this.#show(found, after);
      this.#state = state;
    } catch (thrown) {
      found.release();
      throw thrown;
    }
    this.#newest.release();
    this.#newest = found;
    if (!records) return await this.#tellStored();
    this.#tell(records);
    this.#told = found.version;
  }

  /** Shows the followers what comes after a commit; answers with it where it is not too much to keep. */
  async #show(found: Snapshot, after: number): Promise<CommitRecord[] | undefined> {
    let kept: CommitRecord[] | undefined = [];
    for await (const records of readRecords(found, after)) {
      for (const follower of this.#options.followers) await follower.saw(found, records);
      if (kept && kept.length + records.length <= KEPT) kept.push(...records);
      else kept = undefined;
    }
    return kept;
  }

  /** What is shown and was not told, page by page. */
  async #tellStored(): Promise<void> {
    const snapshot = this.snapshot();
    try {
      for await (const records of readRecords(snapshot, this.#told)) this.#tell(records);
      this.#told = snapshot.version;
    } finally {
      snapshot.release();
    }
  }

  #tell(records: readonly CommitRecord[]): void {
    this.#figures.commits += records.length;
    this.#stream.publish(records);
    this.#told = records.at(-1)?.commitTs ?? this.#told;
  }
}

function missed(after: number, trimmed: number): GraphsteadError {
  return new GraphsteadError('EVENT_GAP', `commits behind ${after} were not seen here and are no longer kept`, {
    fix: 'Start this service again; raise limits.recordAgeMs or limits.recordBytes where it stands still for long.',
    details: { after, trimmed },
  });
}
