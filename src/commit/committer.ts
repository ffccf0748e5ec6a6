import { setImmediate as endOfTurn } from 'node:timers/promises';
import {
  assert,
  Yielder,
  type Clock,
  ClockSteps,
  GraphsteadError,
  type Histogram,
  inSteps,
  type Limits,
  makeLimits,
  systemClock,
} from '../base/index.js';
import type { Snapshot, Store } from '../store/index.js';
import { type CommitState, readState } from './commit-state.js';
import type { Applier, Beginning, Committed, CommitRecord, Committer, IdempotentCommit, Intent } from './contract.js';
import {
  countKeys,
  FINGERPRINTED_AT_ONCE,
  type Fingerprints,
  fingerprintsInParts,
  fingerprintsOf,
} from './fingerprint.js';
import { hasExpired, readReply, sameBody } from './idempotency.js';
import { encodeBody, encodingBody } from './record.js';
import { RecordStream } from './stream.js';
import { GroupWriter, type Waiting, type WriterOptions } from './writer.js';

/** bytes of records that close a group, so that one group never holds the disk for long */
const GROUP_BYTES = 8 * 1024 * 1024;
/**
 * Turns of the event loop for which what waits behind a group is left to gather: a group costs nearly the same for many as for few.
 * Whoever waits alone finds no group in front.
 */
const GATHERING_TURNS = 8;
/** milliseconds of it at most: a turn is long where there is much to do */
const GATHERING_MS = 2;
/** milliseconds that a group takes on a disk so slow that others have gathered meanwhile */
const LONG_GROUP_MS = 1.5;

interface CommitterOptions {
  readonly store: Store;
  /** each with a name of its own; an intent's parts go to them in this order */
  readonly appliers: readonly Applier[];
  readonly clock?: Clock;
  /** of the same clock */
  readonly steps?: ClockSteps;
  readonly limits?: Limits;
}

/** Makes the one writer of a store. Throws READ_ONLY_STORE. */
export async function createCommitter(options: CommitterOptions): Promise<Committer> {
  const { store } = options;
  if (store.readOnly) throw newerFormat();
  const snapshot = store.snapshot();
  try {
    return new GroupCommitter(options, await readState(snapshot), snapshot.version);
  } finally {
    snapshot.release();
  }
}

/** Gathers intents while a group is being made durable; the next group is all that gathered. */
class GroupCommitter implements Committer {
  readonly readOnly = false;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #steps: ClockSteps;
  readonly #limits: Limits;
  readonly #writer: GroupWriter;
  readonly #stream: RecordStream;
  #queue: Waiting[] = [];
  #queuedBytes = 0;
  #starts: ((failure?: GraphsteadError) => void)[] = [];
  #running: Promise<void> | undefined;
  #closing = false;

  constructor(options: CommitterOptions, state: CommitState, version: number) {
    const { store, appliers, clock = systemClock, steps = new ClockSteps(clock), limits = makeLimits() } = options;
    this.#store = store;
    this.#clock = clock;
    this.#steps = steps;
    this.#limits = limits;
    this.#stream = new RecordStream(store, version);
    const onLanded: WriterOptions['onLanded'] = (records, bytes) => this.#stream.publish(records, bytes);
    this.#writer = new GroupWriter({ store, appliers, clock, steps, limits, state, version, onLanded });
  }

  get lastCommitTs(): number {
    return this.#writer.lastCommitTs;
  }

  get trimmedTs(): number {
    return this.#writer.state.trimmed;
  }

  snapshot(): Snapshot {
    return this.#store.snapshot();
  }

  /** Nobody else commits. */
  caughtUp(): void {}

  async begin(): Promise<Beginning> {
    for (;;) {
      const startTs = this.#writer.timestamps.start();
      if (startTs !== undefined) return { startTs, snapshot: this.#store.snapshot() };
      await this.#moreTimestamps();
    }
  }

  /** Resolves when the group in flight is over, or a batch that only leases timestamps is on disk. */
  #moreTimestamps(): Promise<void> {
    if (this.#closing) throw closed();
    return new Promise((resolve, reject) => {
      this.#starts.push((failure) => (failure === undefined ? resolve() : reject(failure)));
      this.#kick();
    });
  }

  // Not async: a promise that resolves with a promise takes three turns of the microtask queue more.
  commit(intent: Intent): Promise<Committed> {
    try {
      const { conflicts, numbered } = intent;
      if (countKeys(conflicts, numbered) > FINGERPRINTED_AT_ONCE) return this.#commitLarge(intent);
      const { parts, idempotency } = intent;
      return this.#enqueue(intent, fingerprintsOf(conflicts, numbered), () => encodeBody({ parts, idempotency }));
    } catch (refused) {
      return Promise.reject(refused);
    }
  }

  async #commitLarge(intent: Intent): Promise<Committed> {
    const { conflicts, numbered = [], parts, idempotency } = intent;
    const yielder = new Yielder(this.#limits.yieldMs);
    const keys = await fingerprintsInParts(conflicts, numbered, () => yielder.due());
    const body = await inSteps(encodingBody({ parts, idempotency }), () => yielder.due());
    return await this.#enqueue(intent, keys, () => body);
  }

  #enqueue(intent: Intent, keys: Fingerprints, bodyOf: () => Uint8Array): Promise<Committed> {
    if (this.#closing) throw closed();
    if (this.#queue.length >= this.#limits.commitQueue || this.#queuedBytes > this.#limits.commitBytes) {
      throw overloaded(this.#queue.length);
    }
    const { entry, committed } = this.#accept(intent, keys, bodyOf);
    this.#queuedBytes += entry.body.length;
    this.#queue.push(entry);
    this.#kick();
    return committed;
  }

  /** An intent as it waits for its group, with the promise that its caller holds. */
  #accept(
    intent: Intent,
    keys: Fingerprints,
    bodyOf: () => Uint8Array,
  ): { readonly entry: Waiting; readonly committed: Promise<Committed> } {
    this.#check(intent);
    const { parts, idempotency, startTs, reads, reclaim = false } = intent;
    const body = bodyOf();
    if (body.length > this.#limits.commitBytes) throw tooLarge(body.length, this.#limits.commitBytes);
    const { promise: committed, resolve, reject } = deferred<Committed>();
    const readKeys = reads && fingerprintsOf(reads);
    const since = performance.now();
    return { entry: { parts, idempotency, body, startTs, keys, readKeys, reclaim, since, resolve, reject }, committed };
  }

  #check(intent: Intent): void {
    for (const name of Object.keys(intent.parts)) assert(this.#writer.knows(name), `no applier "${name}"`);
    if (intent.startTs <= this.#writer.timestamps.last) return;
    throw new GraphsteadError('TXN_UNKNOWN', `no transaction started at ${intent.startTs}`, {
      fix: 'Begin a new one: leave startTs out, and send the one that is answered.',
    });
  }

  async idempotentReply(scope: string, key: string, bodyHash: string): Promise<Uint8Array | undefined> {
    return (await this.idempotentCommit(scope, key, bodyHash))?.reply;
  }

  async idempotentCommit(scope: string, key: string, bodyHash: string): Promise<IdempotentCommit | undefined> {
    const snapshot = this.#store.snapshot();
    try {
      const stored = await readReply(snapshot, scope, key);
      if (stored === undefined || hasExpired(stored, this.#clock.wall(), this.#steps, this.#limits)) return undefined;
      return sameBody(stored, bodyHash);
    } finally {
      snapshot.release();
    }
  }

  tail(after: number, signal: AbortSignal): AsyncIterable<CommitRecord> {
    return this.#stream.tail(after, signal);
  }

  onCommit(listener: (records: readonly CommitRecord[]) => void): () => void {
    return this.#stream.listen(listener);
  }

  times(): Readonly<Record<string, Histogram>> {
    return { seconds: this.#writer.seconds };
  }

  stats(): Readonly<Record<string, number>> {
    const { figures, lastCommitTs, oracleKeys, state } = this.#writer;
    return { ...figures, lastCommitTs, oracleKeys, waiting: this.#queue.length, recordBytes: state.recordBytes };
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#store.ending?.();
    while (this.#running !== undefined) await this.#running;
    this.#stream.close();
  }

  #kick(): void {
    this.#running ??= this.#run();
  }

  get #idle(): boolean {
    return this.#queue.length === 0 && this.#starts.length === 0;
  }

  /** One group after the other until nothing waits. */
  async #run(): Promise<void> {
    await endOfTurn(); // what all requests of one turn of the event loop want goes together
    while (!this.#idle) {
      const starts = this.#starts.splice(0);
      if (this.#writer.timestamps.exhausted) {
        const failure = await this.#writer.commit(this.#gather());
        for (const resume of starts) resume(this.#writer.timestamps.exhausted ? failure : undefined);
        continue;
      }
      for (const resume of starts) resume();
      const since = performance.now();
      if (this.#queue.length > 0) await this.#writer.commit(this.#gather(), starts.length);
      if (performance.now() - since < LONG_GROUP_MS) await this.#moreToGather();
    }
    this.#running = undefined;
  }

  /** Others answer what the last group brought, and come again. */
  async #moreToGather(): Promise<void> {
    const until = performance.now() + GATHERING_MS;
    for (let turn = 0; turn < GATHERING_TURNS && performance.now() < until; turn++) {
      if (this.#queue.length === 0 || this.#starts.length > 0) return;
      await endOfTurn();
    }
  }

  #gather(): Waiting[] {
    let bytes = 0;
    let count = 0;
    const most = Math.min(this.#queue.length, this.#limits.groupIntents);
    while (count < most && (bytes === 0 || bytes + this.#queue[count].body.length <= GROUP_BYTES)) {
      bytes += this.#queue[count++].body.length;
    }
    this.#queuedBytes -= bytes;
    return this.#queue.splice(0, count);
  }
}

function deferred<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
} {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Who wants to write opens a store for it, and gets one that only reads where its format says so. */
function newerFormat(): GraphsteadError {
  return new GraphsteadError(
    'READ_ONLY_STORE',
    'a newer version wrote this store: this one can read it, and not write',
    {
      fix: 'Start the version that wrote it, or read with this one: graphstead start --read-only, or graphstead export.',
    },
  );
}

function closed(): GraphsteadError {
  return new GraphsteadError('NOT_READY', 'the service is shutting down', { fix: 'Try again when it is up.' });
}

function overloaded(waiting: number): GraphsteadError {
  return new GraphsteadError('OVERLOADED', `${waiting} commits are waiting (limits.commitQueue, limits.commitBytes)`, {
    fix: 'Send fewer commits at the same time.',
  });
}

function tooLarge(bytes: number, limit: number): GraphsteadError {
  return new GraphsteadError('LIMIT_EXCEEDED', `a commit of ${bytes} bytes; limits.commitBytes is ${limit}`, {
    fix: 'Send it in several transactions.',
  });
}
