import type { PredicateRecord } from '../schema.js';

/** A predicate that a bulk load has written under an id of its own. */
export interface LoadedPredicate {
  /** as it is from now on, with its new id */
  readonly record: PredicateRecord;
  /** the id under which it stood empty; 0 when it did not exist */
  readonly replaces: number;
}

/**
 * A bulk load in the commit stream. It writes under predicate ids that nothing refers to until `finish` puts them into
 * the schema, all at once. Finished keys travel beside the commits: their records tell that there was a load, not what
 * was in it (docs/decisions/0012-bulk-load.md).
 */
export type BulkPart =
  /** reserves ids; answers the first as a number */
  | { readonly kind: 'bulk'; readonly step: 'begin'; readonly predicates: number }
  | { readonly kind: 'bulk'; readonly step: 'write'; readonly load: string; readonly batch: number }
  | {
      readonly kind: 'bulk';
      readonly step: 'finish';
      readonly loaded: readonly LoadedPredicate[];
      /** highest uid that was named, and that leases must not give out; 0 for none */
      readonly highest: number;
    }
  /** what an unfinished load has written goes */
  | { readonly kind: 'bulk'; readonly step: 'abandon' };
