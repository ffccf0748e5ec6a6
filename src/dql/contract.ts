import type { Clock, Limits, MaybePromise, Names } from '../base/index.js';
import type { Facets, GraphReader, IdempotencyClaim, Predicate, StoredColumn, UidList } from '../graph/index.js';
import type { StoredValue, Value } from '../values/index.js';
import type { QueryDocument } from './syntax/index.js';

/** A transaction as clients of the HTTP API see it (`extensions.txn`). */
export interface TransactionInfo {
  readonly startTs: number;
  readonly hash: string;
  readonly commitTs?: number;
  /** conflict keys as text, for a transaction that stays open */
  readonly keys: readonly string[];
  /** predicates that it changes, as clients write them */
  readonly preds: readonly string[];
}

/** Nanoseconds, as clients expect them under `extensions.server_latency`. */
export interface Latency {
  readonly parsing_ns: number;
  readonly processing_ns: number;
  readonly encoding_ns: number;
  readonly assign_timestamp_ns: number;
  readonly total_ns: number;
}

export interface QueryRequest {
  readonly text: string;
  /** `$name` to text */
  readonly variables?: Readonly<Record<string, string>>;
  /** goes on with an open transaction */
  readonly startTs?: number;
  readonly hash?: string;
  /** who may go on with a transaction that it begins: see `BeginOptions.held` */
  readonly client?: string;
  readonly readOnly?: boolean;
  readonly bestEffort?: boolean;
  readonly timeoutMs?: number;
  /** every node shows its uid */
  readonly debug?: boolean;
  readonly format?: 'json' | 'rdf';
  readonly signal?: Pick<AbortSignal, 'aborted'>;
}

export interface QueryAnswer {
  /** the `data` object as JSON bytes; RDF text for format rdf */
  readonly data: Buffer;
  readonly txn: TransactionInfo;
  readonly latency: Latency;
  /** uids that each predicate led to, and `_total` */
  readonly metrics: Readonly<Record<string, number>>;
  /** keys read from the store: what the answer cost */
  readonly keysRead: number;
  /** predicates that were asked for and that nobody declared or wrote, the first 20: a slip, or data that is still to come */
  readonly unknown: readonly string[];
}

/** One mutation of a request whose parts come apart; a part that is absent or empty says nothing. */
export interface MutationPart {
  /** N-Quads, without `set { }` around them */
  readonly setNquads?: string;
  readonly deleteNquads?: string;
  /** an object, or a list of objects */
  readonly setJson?: string;
  readonly deleteJson?: string;
  /** `@if(...)` */
  readonly condition?: string;
}

/** A request whose parts come apart, as gRPC sends them: no part can be read as another. */
export interface MutationParts {
  /** the query of an upsert; empty without one */
  readonly query: string;
  readonly mutations: readonly MutationPart[];
}

/** What is changed: a body of /mutate, or its parts. */
export type MutationSource =
  | { readonly contentType: 'rdf' | 'json'; readonly body: string }
  | { readonly contentType: 'parts'; readonly body: MutationParts };

export type MutateRequest = MutationSource & MutateSettings;

export interface MutateSettings {
  readonly commitNow: boolean;
  /** `$name` to text, for the query of an upsert */
  readonly variables?: Readonly<Record<string, string>>;
  readonly startTs?: number;
  readonly hash?: string;
  /** as that of a query */
  readonly client?: string;
  readonly timeoutMs?: number;
  readonly signal?: Pick<AbortSignal, 'aborted'>;
  readonly idempotency?: Omit<IdempotencyClaim, 'reply'>;
  /** the bytes kept with the claim and sent to a repeated request; asked before the commit, so without its timestamp */
  readonly reply?: (answer: MutateAnswer) => MaybePromise<Uint8Array>;
}

export interface MutateAnswer {
  /** results of the upsert's query blocks, a JSON object; undefined without a query */
  readonly queries: Buffer | undefined;
  /** the bytes kept with the claim: of this commit, or of the earlier one under the same key, in whose place nothing was changed now */
  readonly kept?: Uint8Array;
  /** blank-node names and `uid(v)` texts to uids as 0x text */
  readonly uids: ReadonlyMap<string, string>;
  readonly txn: TransactionInfo;
  readonly latency: Latency;
  readonly metrics: Readonly<Record<string, number>>;
}

/** The graph language as the server offers it. Every failure is a GraphsteadError with a code and, for texts, a position. */
export interface DqlEngine {
  query(request: QueryRequest): Promise<QueryAnswer>;
  mutate(request: MutateRequest): Promise<MutateAnswer>;
  commit(startTs: number, hash?: string): Promise<TransactionInfo>;
  abort(startTs: number, hash?: string): Promise<TransactionInfo>;
}

export interface RunOptions {
  /** throws TIMEOUT past this (Clock.monotonic milliseconds) */
  readonly deadline?: number;
  readonly signal?: Pick<AbortSignal, 'aborted'>;
  readonly clock?: Clock;
  readonly limits?: Limits;
  /** how stored names are shown where the query did not spell them: expand(), @groupby */
  readonly names?: Names;
}

/** Values by uid, in columns: `values[i]` belongs to `uids[i]`; uids ascending. */
export interface ValueColumn {
  readonly uids: UidList;
  readonly values: readonly Value[];
}

/** What a query variable holds once its block is done. A variable of an empty result has neither. */
export interface QueryVariable {
  /** a uid variable: distinct uids, ascending */
  readonly uids?: UidList;
  /** a value variable; the value of `uids[i]` */
  readonly values?: ValueColumn;
  /** one value for all uids: `x as count(uid)`, aggregates of an empty block */
  readonly constant?: Value;
}

/** One group of @groupby. */
export interface ResultGroup {
  /** aligned with the keys of the directive; a uid for edges */
  readonly keys: readonly (Value | { readonly type: 'uid'; readonly value: number })[];
  /** aligned with the selections in the groupby block; undefined: nothing to show */
  readonly results: readonly (Value | undefined)[];
}

/** One path that `shortest` found, from start to end; `edges[i]` leads from `uids[i]` to `uids[i + 1]`. */
export interface ResultPath {
  readonly uids: readonly number[];
  readonly edges: readonly {
    readonly selection: import('./syntax/index.js').Selection;
    readonly facets?: Facets;
  }[];
  readonly weight: number;
}

/**
 * One executed block or selection, in columns aligned with `source`. Operators fill it; writers (graph-language JSON,
 * RDF, GraphQL) walk it; nothing in between.
 */
export interface ResultNode {
  /** the syntax it came from: a Block or a Selection (expand() gives one node a predicate, each with a syntax of its own) */
  readonly syntax: import('./syntax/index.js').Block | import('./syntax/index.js').Selection;
  /** what the name means in the schema; absent for blocks, and for names the schema does not know */
  readonly predicate?: Predicate;
  /** distinct uids of the parent, ascending; for a block: its own roots in answer order are `rows[0]` */
  readonly source: UidList;
  /** edges: one row a source uid, after filter, order, pagination and @cascade (so not always ascending) */
  readonly rows?: readonly UidList[];
  /** facets of the edges, aligned with rows; present when the selection asks for any */
  readonly rowFacets?: readonly (readonly (Facets | undefined)[])[];
  /** single values, aligned with source */
  readonly values?: StoredColumn;
  /** facets of the single values, aligned with source */
  readonly valueFacets?: readonly (Facets | undefined)[];
  /** list values and all languages, aligned with source */
  readonly valueLists?: readonly (readonly StoredValue[])[];
  /** language of each member of valueLists, for `@*` and expand(); "" is untagged */
  readonly valueLangs?: readonly (readonly string[])[];
  /** facets of each member of valueLists */
  readonly listFacets?: readonly (readonly (Facets | undefined)[])[];
  /** counts, aligned with source */
  readonly counts?: readonly number[];
  /** val(), aggregates, math and checkpwd: by uid */
  readonly computed?: ValueColumn;
  /** one value for every uid, where `computed` has none: constants; in a block without root the value to show */
  readonly constant?: Value;
  /** @groupby: one list of groups a source uid; one list for a block */
  readonly groups?: readonly (readonly ResultGroup[])[];
  /** `shortest`: the paths, best first */
  readonly paths?: readonly ResultPath[];
  /** distinct uids of all rows, ascending: `source` of the children */
  readonly dest: UidList;
  readonly children: readonly ResultNode[];
}

export interface RunResult {
  /** one a block, in the order of the document */
  readonly roots: readonly ResultNode[];
  readonly variables: ReadonlyMap<string, QueryVariable>;
  /** how many uids each predicate was read for, and their sum under `_total` */
  readonly numUids: Readonly<Record<string, number>>;
  /** predicates that were asked for and that the schema does not know, the first 20 */
  readonly unknown: readonly string[];
}

/**
 * Runs a document on a reader; the GraphQL room calls this with documents that it made itself.
 * Throws INVALID_QUERY, INVALID_VALUE, MISSING_INDEX, INDEX_BUILDING, LIMIT_EXCEEDED, TIMEOUT, CANCELLED.
 */
export type RunQuery = (document: QueryDocument, reader: GraphReader, options?: RunOptions) => Promise<RunResult>;
