import type { GraphsteadError, MaybePromise } from '../base/index.js';

/** A key of the store: at most 1,024 bytes. Keys are ordered bytewise. */
export type Key = Uint8Array;

/** A range of keys: `start` inclusive, `end` exclusive. Walked upwards, or downwards with `reverse`. */
export interface Range {
  readonly start: Key;
  readonly end: Key;
  readonly reverse?: boolean;
  /** entries in one page; the store may answer fewer */
  readonly limit?: number;
  /** leave the values out */
  readonly keysOnly?: boolean;
}

/** One page of a range. Keys and values are the caller's to keep. `next` is undefined at the end. */
export interface Page {
  readonly keys: readonly Key[];
  /** aligned with keys; empty for keysOnly */
  readonly values: readonly Uint8Array[];
  /** the range that goes on after this page */
  readonly next?: Range;
}

/** Keys that are made when they are asked for: straight where the store wants them, or each by itself. */
export interface KeyRun {
  readonly length: number;
  /** Writes a key at `at` and returns the offset behind it. */
  write(index: number, target: Uint8Array, at: number): number;
  key(index: number): Key;
}

/** Told of a value that lies in `bytes` from `start` to `end`: good during the call only, and not to be changed. */
export type ValueVisitor = (index: number, bytes: Uint8Array, start: number, end: number) => void;

/**
 * The store as it was at one commit timestamp; it does not move under later writes.
 * Reading after `release()` is a programmer mistake and throws.
 */
export interface Snapshot {
  /** the commit timestamp of the last group in it; 0 for an empty store */
  readonly version: number;
  /** Values aligned with keys. Each value is valid until the next call on this snapshot: copy to keep. */
  getMany(keys: readonly Key[]): MaybePromise<(Uint8Array | undefined)[]>;
  /** Calls `visit` for every key that has a value, in the order of keys: cheaper than `getMany`. It must not read the store. */
  visit(keys: KeyRun, visit: ValueVisitor): MaybePromise<void>;
  /** One value, a copy that the caller may keep. */
  get(key: Key): MaybePromise<Uint8Array | undefined>;
  range(range: Range): MaybePromise<Page>;
  /** Another one of the same version, released by itself. */
  again(): Snapshot;
  release(): void;
}

export interface Put {
  readonly key: Key;
  /** at most 3,900 bytes; undefined deletes */
  readonly value: Uint8Array | undefined;
}

/** What lands whole or not at all. Later puts of the same key win. Its bytes must not change until it landed. */
export interface Batch {
  /** becomes the snapshot version; greater than every version before */
  readonly version: number;
  readonly puts: readonly Put[];
  /**
   * Keys from start (inclusive) to end (exclusive) that go before the puts are made. A store may have to name each of them:
   * cut ranges of more than some 100,000 keys into several batches.
   */
  readonly deleteRanges?: readonly { readonly start: Key; readonly end: Key }[];
}

export interface ApplyOptions {
  /** the epoch of the store's opening; the batch is refused when the store has a newer one */
  readonly expectEpoch: number;
  /** the batch mostly deletes: it may eat into the reserve of a full disk */
  readonly reclaim?: boolean;
}

/** Who holds the pages of an old version. */
export interface OldestReader {
  /** id of its process */
  readonly process: number;
  /** batches since that version, nearly: those that lmdb makes for itself count too */
  readonly batches: number;
}

/**
 * Ordered keys and bytes. Every store passes test/contract/store.ts.
 * Errors: KEY_TOO_LARGE, VALUE_TOO_LARGE, DISK_FULL, STORE_FENCED, STORE_LOCKED, STORE_FORMAT, READ_ONLY_STORE, OUTCOME_UNKNOWN.
 */
export interface Store {
  /** raised at every writable open; a batch from an older epoch is refused with STORE_FENCED */
  readonly epoch: number;
  /** random hexadecimal text given at creation and at restore; part of every public position */
  readonly incarnation: string;
  readonly readOnly: boolean;
  /** STORE_FENCED or OVERLOADED, where what is read here may be out of date: another process writes, or may */
  readonly stale?: GraphsteadError;
  /** The newest durable state. Cheap: stores share one reader a version. */
  snapshot(): Snapshot;
  /** One that only reads asks what the process that writes has brought since; absent where each snapshot does so by itself. */
  refresh?(): Promise<void>;
  /**
   * Resolves once the batch is on disk; only then do new snapshots see it. One at a time. Where it rejects, nothing of the
   * batch has landed: its callers try again. A store that cannot know refuses everything from then on, until it is opened anew.
   */
  apply(batch: Batch, options: ApplyOptions): Promise<void>;
  /** The process ends, and does not wait for a store that is away: an `apply` that it cannot tell the end of rejects with OUTCOME_UNKNOWN. */
  ending?(): void;
  /** Writes a compact copy that opens as a store, while serving. Answers with the version that it holds. */
  backup(directory: string): Promise<number>;
  /** Old versions of entries that nobody reads and that still take room, counted up to `most`; absent where none are ever left. */
  overdue?(most: number): Promise<number>;
  /** Who reads the oldest version: what was written since takes new room, as no page of it is used again. Absent where readers hold none. */
  oldestReader?(): OldestReader | undefined;
  /** figures for /metrics: names to numbers */
  stats(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}
