import { chain } from '../../base/index.js';
import type { IndexKind } from '../../values/index.js';
import type { GraphReader, Predicate, Schema, TokenPostings, TokenRange, UidList } from '../contract.js';
import { ToldSchema } from './told-schema.js';

/** Hears what a reader is asked for, before it reads, and what it found where that tells more. */
export interface ReadLog {
  /** index keys of these tokens */
  lookup(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): void;
  /** values, edges, counts or presence of these uids */
  uids?(predicate: Predicate, uids: UidList): void;
  /** edges that come in to these uids */
  incoming?(predicate: Predicate, uids: UidList): void;
  /** anything else: every change of the predicate may bear on it */
  whole?(predicate: Predicate): void;
  /**
   * A range of tokens is read, as far as its reader pulls; `whole` hears of it otherwise. What it gives is told each page, and that there
   * is no more.
   */
  scan?(predicate: Predicate, kind: IndexKind, range: TokenRange): (page: readonly TokenPostings[] | undefined) => void;
  /** a predicate that does not exist, which reads as empty */
  absent?(name: string): void;
  /** the lists of uids that a lookup gave, or that incoming edges come from */
  found?(predicate: Predicate, lists: readonly UidList[]): void;
}

/** A reader with a log. */
export class LoggedReader implements GraphReader {
  readonly #reader: GraphReader;
  readonly #log: ReadLog;
  #schema: Schema | undefined;

  constructor(reader: GraphReader, log: ReadLog) {
    this.#reader = reader;
    this.#log = log;
  }

  get schema(): Schema {
    this.#schema ??= this.#log.absent
      ? new ToldSchema(this.#reader.schema, (name) => this.#log.absent?.(name))
      : this.#reader.schema;
    return this.#schema;
  }

  get version(): number {
    return this.#reader.version;
  }

  get metrics(): GraphReader['metrics'] {
    return this.#reader.metrics;
  }

  edges(...args: Parameters<GraphReader['edges']>): ReturnType<GraphReader['edges']> {
    const [predicate, uids, options] = args;
    if (!options?.reverse) {
      this.#log.uids?.(predicate, uids);
      return this.#reader.edges(...args);
    }
    this.#log.incoming?.(predicate, uids);
    return chain(this.#reader.edges(...args), (matrix) => {
      this.#log.found?.(predicate, matrix.rows);
      return matrix;
    });
  }

  values(...args: Parameters<GraphReader['values']>): ReturnType<GraphReader['values']> {
    this.#log.uids?.(args[0], args[1]);
    return this.#reader.values(...args);
  }

  allValues(...args: Parameters<GraphReader['allValues']>): ReturnType<GraphReader['allValues']> {
    this.#log.uids?.(args[0], args[1]);
    return this.#reader.allValues(...args);
  }

  counts(...args: Parameters<GraphReader['counts']>): ReturnType<GraphReader['counts']> {
    this.#some(args[0], args[1], args[2]?.reverse);
    return this.#reader.counts(...args);
  }

  filterHaving(...args: Parameters<GraphReader['filterHaving']>): ReturnType<GraphReader['filterHaving']> {
    this.#some(args[0], args[1], args[2]?.reverse);
    return this.#reader.filterHaving(...args);
  }

  postings(...args: Parameters<GraphReader['postings']>): ReturnType<GraphReader['postings']> {
    this.#log.lookup(...args);
    return chain(this.#reader.postings(...args), (lists) => {
      this.#log.found?.(args[0], lists);
      return lists;
    });
  }

  postingCounts(...args: Parameters<GraphReader['postingCounts']>): ReturnType<GraphReader['postingCounts']> {
    this.#log.lookup(...args);
    return this.#reader.postingCounts(...args);
  }

  firstPostings(...args: Parameters<GraphReader['firstPostings']>): ReturnType<GraphReader['firstPostings']> {
    const [predicate, kind, token] = args;
    this.#log.lookup(predicate, kind, [token]);
    return chain(this.#reader.firstPostings(...args), (uids) => {
      this.#log.found?.(predicate, [uids]);
      return uids;
    });
  }

  tokens(...args: Parameters<GraphReader['tokens']>): ReturnType<GraphReader['tokens']> {
    const scanned = this.#log.scan?.(...args);
    if (scanned) return told(this.#reader.tokens(...args), scanned);
    this.#log.whole?.(args[0]);
    return this.#reader.tokens(...args);
  }

  byCount(...args: Parameters<GraphReader['byCount']>): ReturnType<GraphReader['byCount']> {
    this.#log.whole?.(args[0]);
    return this.#reader.byCount(...args);
  }

  having(...args: Parameters<GraphReader['having']>): ReturnType<GraphReader['having']> {
    this.#log.whole?.(args[0]);
    return this.#reader.having(...args);
  }

  similar(...args: Parameters<GraphReader['similar']>): ReturnType<GraphReader['similar']> {
    this.#log.whole?.(args[0]);
    return this.#reader.similar(...args);
  }

  release(): void {
    this.#reader.release();
  }

  /** What comes in is not told apart but for edges: who left nothing to be found is not known. */
  #some(predicate: Predicate, uids: UidList, reverse: boolean | undefined): void {
    if (reverse) this.#log.whole?.(predicate);
    else this.#log.uids?.(predicate, uids);
  }
}

async function* told<Page>(pages: AsyncIterable<Page>, tell: (page: Page | undefined) => void): AsyncIterable<Page> {
  for await (const page of pages) {
    tell(page);
    yield page;
  }
  tell(undefined);
}
