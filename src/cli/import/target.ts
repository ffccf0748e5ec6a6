import type { BulkLoad, GraphChange } from '../../graph/index.js';

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
  schema(lines: string): Promise<void>;
  graphql(text: string): Promise<void>;
}

/** Batches of one import that meet are tried again this often. */
export const ATTEMPTS = 20;
