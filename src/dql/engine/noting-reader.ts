import { type GraphReader, indexConflictKey, LoggedReader, type Predicate, type ReadLog } from '../../graph/index.js';
import type { IndexKind } from '../../values/index.js';

/** index keys one request may note; a lookup of more is too broad to stand for "this value is free" */
const MAX_NOTED = 100_000;

class Lookups implements ReadLog {
  readonly keys = new Set<string>();
  readonly names = new Set<string>();

  lookup(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): void {
    for (const token of tokens) {
      if (this.keys.size >= MAX_NOTED) break;
      this.keys.add(indexConflictKey(predicate.name, kind, token));
    }
  }

  absent(name: string): void {
    this.names.add(name);
  }
}

/**
 * A reader that remembers which index keys were looked up, so that a transaction that also writes one of them
 * conflicts with another that does the same: a lookup that found nothing still holds at the commit. So does one in a predicate
 * that did not exist.
 */
export class NotingReader extends LoggedReader {
  readonly #lookups: Lookups;

  constructor(reader: GraphReader) {
    const lookups = new Lookups();
    super(reader, lookups);
    this.#lookups = lookups;
  }

  /** conflict keys of what was looked up */
  get keys(): readonly string[] {
    return [...this.#lookups.keys];
  }

  /** names that were looked for, and that no predicate had */
  get absent(): readonly string[] {
    return [...this.#lookups.names];
  }
}
