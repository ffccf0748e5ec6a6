import { type ErrorCode, GraphsteadError, type Names } from '../../base/index.js';
import type { BulkLoad, GraphChange } from '../../graph/index.js';

/** A transaction that a query began. */
export interface Begun {
  readonly startTs: number;
  readonly hash: string;
}

/** The graph language there, by which nodes are looked for. */
export interface Language {
  /** how it spells predicates */
  readonly names: Names;
  /** `data` of the answer, and the transaction that it begins. */
  query(text: string): Promise<{ readonly data: Readonly<Record<string, unknown>>; readonly txn: Begun }>;
  /** Commits it with the changes. Throws TXN_ABORTED where others wrote meanwhile what it looked up. */
  write(changes: readonly GraphChange[], txn: Begun): Promise<void>;
  abort(txn: Begun): Promise<void>;
}

/** Names that the definitions of a target have, its types' and its schema's. */
export interface Declared {
  readonly predicates: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
}

/** Where an import goes: a data directory opened here, or a service over HTTP. */
export interface Target {
  /** First of `count` consecutive uids that nobody else gets. */
  lease(count: number): Promise<number>;
  /** Begins to fill predicates that stand empty; absent where that cannot be done from here. */
  bulk?(): Promise<BulkLoad>;
  /** Lands whole or not at all; what was aborted by another batch goes again. */
  write(changes: readonly GraphChange[]): Promise<void>;
  /** Which of the changes of a refused write is the wrong one, where that can be told; writes nothing. */
  refused(changes: readonly GraphChange[]): Promise<number | undefined>;
  /** Whether the peer's name of a node's type gives it its type there; absent where it does not. */
  takesPeerType?(): Promise<boolean>;
  language(): Promise<Language>;
  /** undefined where no type definitions are served */
  declared(): Promise<Declared | undefined>;
  schema(lines: string): Promise<void>;
  graphql(text: string): Promise<void>;
}

/** Batches of one import that meet are tried again this often. */
const ATTEMPTS = 20;

/** Writes anew where it is refused with one of these codes. */
export async function again<T>(codes: readonly ErrorCode[], write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof GraphsteadError) || !codes.includes(error.code) || attempt >= ATTEMPTS) throw error;
    }
  }
}
