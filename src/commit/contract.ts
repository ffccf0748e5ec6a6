import type { Histogram, MaybePromise } from '../base/index.js';
import type { Key, Snapshot } from '../store/index.js';

/**
 * A conflict key: text that names what was touched (see `graph/conflict.ts` for its forms). Two transactions conflict when both
 * hold one key, at least one of them exclusively, and the first committed after the second started.
 */
export interface ConflictKey {
  readonly key: string;
  readonly exclusive: boolean;
}

/** Conflict keys that differ in the numbers at their end alone: `prefix`, then so many of `numbers` in hexadecimal, a line break between two. */
export interface NumberedKeys {
  readonly prefix: string;
  /** one key after the other */
  readonly numbers: readonly number[];
  /** numbers of one key */
  readonly width: 1 | 2;
  readonly exclusive: boolean;
}

/**
 * What a writer wants, as plain data (structured-cloneable; never a closure): another process could send it.
 * `parts` holds one entry an applier, by the applier's name: `graph` -> GraphPart, `agents` -> AgentPart.
 */
export interface Intent {
  /** 0 for one that read nothing: it never conflicts by what it read */
  readonly startTs: number;
  readonly parts: Readonly<Record<string, unknown>>;
  readonly conflicts: readonly ConflictKey[];
  /** more of them: a large commit has millions, whose texts would take most of its memory */
  readonly numbered?: readonly NumberedKeys[];
  /** what was read and must still be so: judged as conflict keys are, but nobody else conflicts with them */
  readonly reads?: readonly ConflictKey[];
  readonly idempotency?: IdempotencyClaim;
  /** it mostly deletes: it may run although the disk is nearly full */
  readonly reclaim?: boolean;
}

/** Scope, key and body hash of a request that may be repeated; its reply is stored in the same commit. */
export interface IdempotencyClaim {
  readonly scope: string;
  readonly key: string;
  readonly bodyHash: string;
  readonly reply: Uint8Array;
}

/** What an idempotency key stands for. */
export interface IdempotentCommit {
  readonly commitTs: number;
  readonly reply: Uint8Array;
}

export interface Committed {
  readonly commitTs: number;
  /** wall time of the commit, milliseconds; never before the previous commit's */
  readonly wall: number;
  /** what each applier answered, by its name */
  readonly results: Readonly<Record<string, unknown>>;
  /**
   * Set when an earlier commit already used the idempotency key with the same body: its stored reply. Nothing was
   * applied now; timestamp and wall time are those of the earlier commit, and `results` is empty.
   */
  readonly replayed?: Uint8Array;
}

/** A start timestamp and the state it stands for, taken at the same moment. Release the snapshot. */
export interface Beginning {
  readonly startTs: number;
  readonly snapshot: Snapshot;
}

/**
 * The store's newest state plus what this group has written so far. Reads see earlier puts of the group.
 * Puts go through `put` with whole values; the group lands in one batch.
 */
export interface GroupState {
  /** monotone; equal for all intents only in `flush`; each `apply` gets its own timestamp */
  readonly snapshot: Snapshot;
  get(key: Key): MaybePromise<Uint8Array | undefined>;
  getMany(keys: readonly Key[]): MaybePromise<(Uint8Array | undefined)[]>;
  put(key: Key, value: Uint8Array | undefined): void;
  deleteRange(start: Key, end: Key): void;
}

/** One group's work of one applier. Pure: no clock, no random; time comes with the intent. */
export interface GroupWork<Part, Result> {
  /** Reads what the parts will need, in batches, before any is applied. Optional to do anything. */
  prepare(parts: readonly Part[]): MaybePromise<void>;
  /**
   * Merges one part into the group. Throws GraphsteadError to refuse this intent alone (a unique violation, say);
   * it must then leave no trace of it.
   */
  apply(part: Part, commitTs: number, wall: number): MaybePromise<Result>;
  /** Encodes everything merged into puts on the state. Cannot throw for user reasons. */
  flush(): MaybePromise<void>;
  /** The group is on disk: publish caches. Should it throw, `failed` follows, and the others are told all the same. */
  landed(): void;
  /** The group failed: forget caches that were made ahead. */
  failed(): void;
}

/** A room's way to write; registered once at start. */
export interface Applier<Part = unknown, Result = unknown> {
  readonly name: string;
  begin(state: GroupState): GroupWork<Part, Result>;
}

/** A room's way to keep up with what another process commits, in a service that only reads; registered once at start. */
export interface Follower {
  /** The snapshot, which nobody reads yet, holds these commits: caches take them in. In order, and all before anybody reads it. */
  saw(snapshot: Snapshot, records: readonly CommitRecord[]): MaybePromise<void>;
}

/** One commit as the stream tells it; `record` is complete: replaying all of them gives identical keys. */
export interface CommitRecord {
  readonly commitTs: number;
  readonly wall: number;
  readonly parts: Readonly<Record<string, unknown>>;
  readonly idempotency?: IdempotencyClaim;
  /** it landed in one batch with the record before it; a replay merges them together again, so that keys come out alike */
  readonly together?: boolean;
}

/** The only way to write; or what stands in its place where another process does. */
export interface Committer {
  /** Another process writes: every intent is refused with READ_ONLY_STORE. */
  readonly readOnly: boolean;
  /** Last durable commit timestamp. */
  readonly lastCommitTs: number;
  /** Records up to this timestamp are no longer kept; 0 while all are. */
  readonly trimmedTs: number;
  /**
   * A fresh start timestamp, from the same counter as commits, above everything that is durable now; with the snapshot of that very
   * moment: what a transaction begins with. Timestamps are the writer's to give: where another process writes it is that of the snapshot.
   */
  begin(): Promise<Beginning>;
  /**
   * Resolves when the intent is on disk. Throws TXN_ABORTED when a conflict key was committed after startTs,
   * or what an applier refused with; then nothing of it landed.
   */
  commit(intent: Intent): Promise<Committed>;
  /** The stored reply of an idempotency key. Throws IDEMPOTENCY_MISMATCH when the body differs. */
  idempotentReply(scope: string, key: string, bodyHash: string): Promise<Uint8Array | undefined>;
  /** The same, with the timestamp of its commit: a reply is made before that is known. */
  idempotentCommit(scope: string, key: string, bodyHash: string): Promise<IdempotentCommit | undefined>;
  /** Records after `after`, oldest first, then as they land, until aborted. Throws EVENT_GAP with details {after, trimmed} when they are gone. */
  tail(after: number, signal: AbortSignal): AsyncIterable<CommitRecord>;
  /** Called after each group landed, with its records, in order. Returns the way to stop. */
  onCommit(listener: (records: readonly CommitRecord[]) => void): () => void;
  /** Snapshot that holds every commit up to now; of another process those that are shown here. */
  snapshot(): Snapshot;
  /** Resolves once everything is shown here that any process has committed before. Throws what keeps it from being seen. */
  caughtUp(): MaybePromise<void>;
  /** Figures for /metrics: names to numbers. */
  stats(): Readonly<Record<string, number>>;
  /** Times for /metrics, by name. */
  times(): Readonly<Record<string, Histogram>>;
  /** Drains the queue; later commits are refused with NOT_READY. */
  close(): Promise<void>;
}
