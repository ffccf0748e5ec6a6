import {
  type GraphReader,
  indexConflictKey,
  LoggedReader,
  type Predicate,
  type ReadLog,
  type UidList,
} from '../../graph/index.js';
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
 * that did not exist, and `has` of one that no node had.
 */
export class NotingReader extends LoggedReader {
  readonly #lookups: Lookups;

  constructor(reader: GraphReader) {
    const lookups = new Lookups();
    super(reader, lookups);
    this.#lookups = lookups;
  }

  override having(...args: Parameters<GraphReader['having']>): ReturnType<GraphReader['having']> {
    const [predicate, options] = args;
    const pages = super.having(...args);
    return options?.after ? pages : this.#unlessNone(predicate, pages);
  }

  async *#unlessNone(predicate: Predicate, pages: ReturnType<GraphReader['having']>): AsyncGenerator<UidList> {
    let found = false;
    for await (const page of pages) {
      found ||= page.length > 0;
      yield page;
    }
    if (!found) this.#lookups.absent(predicate.name);
  }

  /** conflict keys of what was looked up */
  get keys(): readonly string[] {
    return [...this.#lookups.keys];
  }

  /** names that were looked for, and that no predicate had, or no node had as one */
  get absent(): readonly string[] {
    return [...this.#lookups.names];
  }
}
