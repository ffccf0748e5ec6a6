import type { IdempotencyClaim } from '../graph/index.js';
import type { GraphReader, UidList } from '../graph/index.js';
import type { StoredValue } from '../values/index.js';
import type { QueryDocument } from './syntax/index.js';

/** A transaction as clients of the HTTP API see it (`extensions.txn`). */
export interface TransactionInfo {
  readonly startTs: number;
  readonly hash: string;
  readonly commitTs?: number;
  /** conflict keys as text, and touched predicates, for a transaction that stays open */
  readonly keys: readonly string[];
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
  readonly readOnly?: boolean;
  readonly bestEffort?: boolean;
  readonly timeoutMs?: number;
  /** every node shows its uid */
  readonly debug?: boolean;
  readonly format?: 'json' | 'rdf';
  readonly signal?: AbortSignal;
}

export interface QueryAnswer {
  /** the `data` object as JSON bytes; RDF text for format rdf */
  readonly data: Buffer;
  readonly txn: TransactionInfo;
  readonly latency: Latency;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface MutateRequest {
  readonly body: string;
  readonly contentType: 'rdf' | 'json';
  readonly commitNow: boolean;
  readonly startTs?: number;
  readonly hash?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly idempotency?: Omit<IdempotencyClaim, 'reply'>;
}

export interface MutateAnswer {
  /** results of the upsert's query blocks, a JSON object; undefined without a query */
  readonly queries: Buffer | undefined;
  /** blank-node names and `uid(v)` texts to uids as 0x text */
  readonly uids: Readonly<Record<string, string>>;
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
  readonly signal?: AbortSignal;
  readonly debug?: boolean;
}

/**
 * One executed block or selection, in columns aligned with `source`. Operators fill it; writers (graph-language JSON,
 * RDF, GraphQL) walk it; nothing in between.
 */
export interface ResultNode {
  /** the syntax it came from: a Block or a Selection */
  readonly syntax: import('./syntax/index.js').Block | import('./syntax/index.js').Selection;
  /** distinct uids of the parent, ascending; for a block: its own roots in answer order are `rows[0]` */
  readonly source: UidList;
  /** edges: one row a source uid, after filter, order and pagination (so not always ascending) */
  readonly rows?: readonly UidList[];
  /** single values, aligned with source */
  readonly values?: readonly (StoredValue | undefined)[];
  /** list values and all languages, aligned with source */
  readonly valueLists?: readonly (readonly StoredValue[])[];
  /** counts, aligned with source */
  readonly counts?: readonly number[];
  /** distinct uids of all rows, ascending: `source` of the children */
  readonly dest: UidList;
  readonly children: readonly ResultNode[];
}

/** Runs a document on a reader; the GraphQL room calls this with documents that it made itself. */
export type RunQuery = (
  document: QueryDocument,
  reader: GraphReader,
  options?: RunOptions,
) => Promise<readonly ResultNode[]>;
