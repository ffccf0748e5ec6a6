import { type GraphReader, indexConflictKey, type Predicate, type Schema } from '../../graph/index.js';
import type { IndexKind } from '../../values/index.js';

/** index keys one request may note; a lookup of more is too broad to stand for "this value is free" */
const MAX_NOTED = 100_000;

/**
 * A reader that remembers which index keys were looked up, so that a transaction that also writes one of them
 * conflicts with another that does the same: a lookup that found nothing still holds at the commit.
 */
export class NotingReader implements GraphReader {
  readonly #reader: GraphReader;
  readonly #keys = new Set<string>();

  constructor(reader: GraphReader) {
    this.#reader = reader;
  }

  /** conflict keys of what was looked up */
  get keys(): readonly string[] {
    return [...this.#keys];
  }

  get schema(): Schema {
    return this.#reader.schema;
  }

  get version(): number {
    return this.#reader.version;
  }

  get metrics(): GraphReader['metrics'] {
    return this.#reader.metrics;
  }

  postings(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): ReturnType<GraphReader['postings']> {
    this.#note(predicate, kind, tokens);
    return this.#reader.postings(predicate, kind, tokens);
  }

  postingCounts(
    predicate: Predicate,
    kind: IndexKind,
    tokens: readonly Uint8Array[],
  ): ReturnType<GraphReader['postingCounts']> {
    this.#note(predicate, kind, tokens);
    return this.#reader.postingCounts(predicate, kind, tokens);
  }

  firstPostings(...args: Parameters<GraphReader['firstPostings']>): ReturnType<GraphReader['firstPostings']> {
    const [predicate, kind, token] = args;
    this.#note(predicate, kind, [token]);
    return this.#reader.firstPostings(...args);
  }

  #note(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): void {
    for (const token of tokens) {
      if (this.#keys.size >= MAX_NOTED) break;
      this.#keys.add(indexConflictKey(predicate.name, kind, token));
    }
  }

  edges(...args: Parameters<GraphReader['edges']>): ReturnType<GraphReader['edges']> {
    return this.#reader.edges(...args);
  }

  values(...args: Parameters<GraphReader['values']>): ReturnType<GraphReader['values']> {
    return this.#reader.values(...args);
  }

  allValues(...args: Parameters<GraphReader['allValues']>): ReturnType<GraphReader['allValues']> {
    return this.#reader.allValues(...args);
  }

  counts(...args: Parameters<GraphReader['counts']>): ReturnType<GraphReader['counts']> {
    return this.#reader.counts(...args);
  }

  tokens(...args: Parameters<GraphReader['tokens']>): ReturnType<GraphReader['tokens']> {
    return this.#reader.tokens(...args);
  }

  byCount(...args: Parameters<GraphReader['byCount']>): ReturnType<GraphReader['byCount']> {
    return this.#reader.byCount(...args);
  }

  having(...args: Parameters<GraphReader['having']>): ReturnType<GraphReader['having']> {
    return this.#reader.having(...args);
  }

  filterHaving(...args: Parameters<GraphReader['filterHaving']>): ReturnType<GraphReader['filterHaving']> {
    return this.#reader.filterHaving(...args);
  }

  similar(...args: Parameters<GraphReader['similar']>): ReturnType<GraphReader['similar']> {
    return this.#reader.similar(...args);
  }

  release(): void {
    this.#reader.release();
  }
}
