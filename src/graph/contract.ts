import type { MaybePromise, Steps } from '../base/index.js';
import type { Committed, ConflictKey } from '../commit/index.js';
import type { IndexKind, StoredValue, TypeName, Value } from '../values/index.js';
import type { StoredColumn } from './stored-column.js';

/** Distinct uids in ascending order. Numbers below 2^53. Never mutated once handed out. */
export type UidList = Float64Array;

/** Facets of one edge or value; keys sorted. Values are string, int, float, bool or datetime. */
export type Facets = readonly { readonly key: string; readonly value: Value }[];

export interface IndexSpec {
  readonly kind: IndexKind;
  /** hnsw: metric ("euclidean" | "cosine" | "dotproduct"), maxLevels, efConstruction, efSearch; empty otherwise */
  readonly options: Readonly<Record<string, string>>;
  /** false while it is being built: queries that need it get INDEX_BUILDING */
  readonly ready: boolean;
}

export interface Predicate {
  /** never reused */
  readonly id: number;
  readonly name: string;
  readonly type: TypeName;
  readonly list: boolean;
  readonly indexes: readonly IndexSpec[];
  readonly reverse: boolean;
  readonly count: boolean;
  readonly lang: boolean;
  readonly upsert: boolean;
  readonly unique: boolean;
  readonly noconflict: boolean;
}

/** `type T { ... }`. A field may be a reverse edge, written `~predicate`. */
export interface NodeType {
  readonly name: string;
  readonly fields: readonly string[];
}

/** The schema at one commit timestamp; immutable. Names are stored names. */
export interface Schema {
  readonly version: number;
  predicate(name: string): Predicate | undefined;
  predicateById(id: number): Predicate | undefined;
  type(name: string): NodeType | undefined;
  readonly predicates: readonly Predicate[];
  readonly types: readonly NodeType[];
}

/** Rows aligned with the uids that were asked for. An absent row is an empty list. */
export interface UidMatrix {
  readonly rows: readonly UidList[];
  /** present when facets were asked for and the predicate has any: aligned with rows, and each with its row's uids */
  readonly facets?: readonly (readonly (Facets | undefined)[])[];
}

export interface LangValue {
  /** "" for untagged */
  readonly lang: string;
  readonly value: StoredValue;
  readonly facets?: Facets;
}

export interface TokenPostings {
  readonly token: Uint8Array;
  readonly uids: UidList;
}

export interface TokenRange {
  /** bytewise bounds over tokens of one index; absent is open */
  readonly from?: Uint8Array;
  readonly to?: Uint8Array;
  readonly fromExclusive?: boolean;
  readonly toExclusive?: boolean;
  readonly reverse?: boolean;
  /** language of tokens where the kind depends on it; "" otherwise */
  readonly limit?: number;
}

/** What one query cost; shown in `extensions.metrics`. */
export interface ReadMetrics {
  keysRead: number;
  uidsRead: number;
}

/**
 * The graph at one snapshot (plus a transaction's own pending writes), a batch at a time.
 * Predicates that do not exist read as empty. Lists handed out stay valid after `release()`.
 */
export interface GraphReader {
  readonly schema: Schema;
  readonly version: number;
  readonly metrics: ReadMetrics;
  /** Edges of each uid; `reverse` needs @reverse (MISSING_INDEX otherwise). */
  edges(
    predicate: Predicate,
    uids: UidList,
    options?: { readonly reverse?: boolean; readonly facets?: boolean },
  ): MaybePromise<UidMatrix>;
  /** The value in one language ("" untagged) of each uid. For list predicates: the first. */
  values(predicate: Predicate, uids: UidList, lang?: string): MaybePromise<StoredColumn>;
  /** Every value of each uid: all members of a list, or all languages; with facets when asked. Languages ascending, untagged first. */
  allValues(
    predicate: Predicate,
    uids: UidList,
    options?: { readonly facets?: boolean },
  ): MaybePromise<readonly (readonly LangValue[])[]>;
  /** Number of edges (or list values, or languages) of each uid. */
  counts(
    predicate: Predicate,
    uids: UidList,
    options?: { readonly reverse?: boolean },
  ): MaybePromise<readonly number[]>;
  /** Uids under each token of one index. */
  postings(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): MaybePromise<readonly UidList[]>;
  /**
   * How many uids stand under each token of one index; reads no more than where their lists begin. To choose a plan by: what is
   * told of them in an answer would not be watched (see Watch).
   */
  postingCounts(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): MaybePromise<readonly number[]>;
  /** At least `count` of the uids above `after` under one token; fewer when there are no more. */
  firstPostings(
    predicate: Predicate,
    kind: IndexKind,
    token: Uint8Array,
    page: { readonly after: number; readonly count: number },
  ): MaybePromise<UidList>;
  /** Tokens in order with their uids, page by page: pulling stops the reading. */
  tokens(predicate: Predicate, kind: IndexKind, range: TokenRange): AsyncIterable<readonly TokenPostings[]>;
  /** Uids whose count lies in [min, max], from the @count index. */
  byCount(
    predicate: Predicate,
    min: number,
    max: number,
    options?: { readonly reverse?: boolean },
  ): MaybePromise<UidList>;
  /** Uids that have the predicate, ascending, page by page. */
  having(
    predicate: Predicate,
    options?: { readonly reverse?: boolean; readonly after?: number },
  ): AsyncIterable<UidList>;
  /** Which of the uids have it. */
  filterHaving(predicate: Predicate, uids: UidList, options?: { readonly reverse?: boolean }): MaybePromise<UidList>;
  /**
   * Nearest neighbours from the hnsw index, nearest first, unsorted by uid. Distances are told, and bounded, as euclidean
   * distance, 1 - cosine or 1 - dot product.
   */
  similar(
    predicate: Predicate,
    vector: Float32Array,
    k: number,
    options?: SimilarOptions,
  ): MaybePromise<readonly { readonly uid: number; readonly distance: number }[]>;
  release(): void;
}

export interface SimilarOptions {
  /** candidates that the search keeps */
  readonly ef?: number;
  readonly distanceThreshold?: number;
  /** what may be answered */
  readonly filter?: (uid: number) => boolean;
  /** awaited between steps of work: whoever asks keeps a deadline by it, and lets others run */
  readonly pause?: () => MaybePromise<void>;
}

/** One change as a client asked for it; `predicate` is a stored name. Values are converted to the schema's type when staged. */
export type GraphChange =
  | {
      readonly op: 'setValue';
      readonly uid: number;
      readonly predicate: string;
      readonly value: Value;
      /** "" for untagged */
      readonly lang: string;
      readonly facets?: Facets;
      /** the predicate is to hold lists, if this is what creates it */
      readonly list?: boolean;
    }
  | {
      readonly op: 'setEdge';
      readonly uid: number;
      readonly predicate: string;
      readonly object: number;
      readonly facets?: Facets;
      /** the predicate is to lead to one node and not to several, if this is what creates it */
      readonly single?: boolean;
    }
  | {
      readonly op: 'deleteValue';
      readonly uid: number;
      readonly predicate: string;
      readonly value: Value;
      readonly lang: string;
    }
  | { readonly op: 'deleteEdge'; readonly uid: number; readonly predicate: string; readonly object: number }
  /** every value with this tag; the untagged one for "" */
  | { readonly op: 'deleteLang'; readonly uid: number; readonly predicate: string; readonly lang: string }
  /** `S P *` */
  | { readonly op: 'deletePredicate'; readonly uid: number; readonly predicate: string }
  /** `S * *`: predicates of the node's types, and service.type itself */
  | { readonly op: 'deleteNode'; readonly uid: number }
  /** writes nothing: this and a `deleteNode` of the same node refuse each other, so that no edge to it is left over */
  | { readonly op: 'keepNode'; readonly uid: number };

export interface BeginOptions {
  readonly readOnly?: boolean;
  /** read-only at the newest local snapshot, without a fresh start timestamp */
  readonly bestEffort?: boolean;
  /** For a client that may go on with it in later requests; limits.transactions of these are open at most. */
  readonly held?: Holding;
}

interface Holding {
  /** as clients are told apart: where there is no room, whoever holds most makes some */
  readonly client: string;
  /** where there is none, begins one that is not held; without it TOO_MANY_TRANSACTIONS is thrown */
  readonly ifRoom?: boolean;
}

/** What to throw for what a change of a list was refused with; `at` counts from 0. */
export type Refused = (thrown: unknown, at: number) => unknown;

/** Snapshot-isolated; first committer wins. */
export interface Transaction {
  readonly startTs: number;
  /** random text checked wherever it is sent back */
  readonly hash: string;
  readonly readOnly: boolean;
  /** whether later requests may go on with it */
  readonly held: boolean;
  /** The graph as this transaction sees it, its own staged changes included. Release it after each request. */
  reader(): Promise<GraphReader>;
  /**
   * Checks and converts the changes against the schema and keeps them for commit. All or nothing.
   * `accept` looks at the state with the changes, which `reader` then gives: when it throws, they are taken back.
   * `refused` makes of the refusal of one change what is thrown: whoever gave it knows where it stood.
   * Throws INVALID_VALUE, TXN_READ_ONLY, LIMIT_EXCEEDED, UNIQUE_VIOLATION, TOO_MANY_TRANSACTIONS, or what `accept` threw.
   */
  stage(changes: readonly GraphChange[], accept?: () => Promise<void>, refused?: Refused): Promise<void>;
  /** Gives what takes back all that is staged after it, until the commit. */
  mark(): Promise<() => Promise<void>>;
  /** Index keys that this transaction's queries looked up (docs/decisions/0011-conflict-keys.md), and names of predicates that they found missing. */
  noteRead(keys: readonly string[], absent?: readonly string[]): void;
  /** From now on, what is read must still be so at the commit: TXN_ABORTED otherwise. Readers opened before are not held. */
  holdReads(): void;
  /** Conflict keys of what is staged, as text; with `holdReads`, of what a small one has handed in. */
  readonly conflicts: readonly ConflictKey[];
  /** Those that are exclusive, for clients of the HTTP API; where there are many, one may stand there twice. */
  exclusiveKeys(): Steps<readonly string[]>;
  /** Conflict keys of what was read since `holdReads`. */
  readonly heldReads: readonly ConflictKey[];
  /** Names of predicates touched by what is staged. */
  readonly predicates: readonly string[];
  /** Throws TXN_ABORTED, UNIQUE_VIOLATION, DISK_FULL ...; repeating a finished commit gives the first result. */
  commit(options?: {
    readonly idempotency?: import('../commit/index.js').IdempotencyClaim;
    /** further parts of the same commit, by applier name */
    readonly parts?: Readonly<Record<string, unknown>>;
  }): Promise<Committed>;
  /** Without effect on one that is over, or that commits. */
  abort(): void;
  /** Whether it commits or has committed: an abort comes too late. */
  readonly committing: boolean;
}

/** A small text that lies beside the graph. */
export interface NamedDocument {
  readonly name: string;
  readonly text: string;
}

export type AlterRequest =
  | {
      readonly kind: 'schema';
      readonly text: string;
      /** a named text that is stored in the same commit, though nothing else changes */
      readonly document?: NamedDocument;
    }
  | { readonly kind: 'dropAll' }
  | { readonly kind: 'dropData' }
  | { readonly kind: 'dropType'; readonly name: string }
  | { readonly kind: 'dropAttr'; readonly name: string };

/** Room that one part of a predicate takes in the store. */
export interface RangeSize {
  readonly keys: number;
  /** of keys and values, without what the store adds */
  readonly bytes: number;
  /** it holds more than was counted */
  readonly more: boolean;
}

/** `parts` has "data", then "reverse", the kinds of its indexes and "count", as far as it has them. */
export interface PredicateSize {
  readonly predicate: string;
  readonly parts: Readonly<Record<string, RangeSize>>;
}

export interface IndexProgress {
  readonly predicate: string;
  readonly kinds: readonly string[];
  readonly done: number;
  /** absent until they are counted, which a build of a large predicate begins with, also after a restart */
  readonly total?: number;
}

export interface BulkOptions {
  /** a path for runs that do not fit in memory: made when it is needed, gone afterwards */
  readonly folder: string;
  /** bytes that are sorted in memory */
  readonly memoryBytes?: number;
  /** predicates that nobody declared hold lists where one node has several values; the last of them otherwise */
  readonly growLists?: boolean;
}

/** How far a load is whose changes were all added. */
export interface BulkProgress {
  /** whose keys are written */
  readonly predicate: string;
  /** of the work, as far as whole predicates are done: 0 to 1 */
  readonly share: number;
  /** written so far */
  readonly keys: number;
}

/**
 * Fills predicates that stand empty, or do not exist, much faster than commits do. Nothing of it can be seen before
 * `finish`, which publishes all of it at once; a crash leaves nothing but keys that the next start takes away.
 * Nothing else may write to the same predicates meanwhile.
 */
export interface BulkLoad {
  /**
   * Takes a change that sets a value or an edge; false where it is for a transaction, since its predicate holds data.
   * Throws what `Transaction.stage` would: INVALID_VALUE, INVALID_MUTATION, VALUE_TOO_LARGE.
   */
  add(change: GraphChange): boolean;
  /** Sorts, writes and publishes. Throws UNIQUE_VIOLATION, TXN_ABORTED (the schema moved), DISK_FULL; then nothing landed. */
  finish(progress?: (at: BulkProgress) => void): Promise<void>;
  /** Gives up what was added. */
  abandon(): void;
}

/** The door of the graph room. */
export interface Graph {
  schema(): Schema;
  begin(options?: BeginOptions): Promise<Transaction>;
  /** An open transaction of an earlier request. Throws TXN_UNKNOWN, TXN_EXPIRED, FORBIDDEN (wrong hash). */
  open(startTs: number, hash?: string): Transaction;
  /** First of `count` consecutive fresh uids; durable before it returns, never issued again. */
  leaseUids(count: number): Promise<number>;
  /** Begins a bulk load. It does not appear in the records of commits, whose readers find a gap. */
  bulk(options: BulkOptions): Promise<BulkLoad>;
  /** Resolves when everything it asks for is built, or at once with runInBackground. */
  alter(request: AlterRequest, options?: { readonly runInBackground?: boolean }): Promise<void>;
  /** Throws what `alter` would throw for the request, builds under way apart; changes nothing. */
  checkAlter(request: AlterRequest): Promise<void>;
  /** Small named texts that lie beside the graph (the GraphQL type definitions); dropped by dropAll only. */
  document(name: string): Promise<string | undefined>;
  setDocument(name: string, text: string): Promise<void>;
  indexing(): readonly IndexProgress[];
  /** What each predicate and its indexes take, each part counted up to `most` keys: it reads what it counts. */
  sizes(most: number): Promise<readonly PredicateSize[]>;
  close(): Promise<void>;
}
