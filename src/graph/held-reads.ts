import { atOnce } from '../base/index.js';
import type { ConflictKey } from '../commit/index.js';
import { ConflictSet, conflictTexts, EVERYTHING, predicateKey } from './conflict.js';
import type { GraphReader, Predicate, Schema, UidList } from './contract.js';

/** uids of one predicate that are told apart; where more were read, every change of the predicate counts */
const APART = 1_000;

/**
 * What a transaction has read and wants to find unchanged when it commits, as keys that no later commit may have touched:
 * a uid's values where they were asked for by uid, the whole predicate where nodes were looked for.
 */
export class HeldReads {
  /** by predicate; undefined stands for all of it */
  readonly #uids = new Map<string, Set<number> | undefined>();

  /** In these an exclusive key stands for any change, a shared one for what only an exclusive key does: drops, alters. */
  keys(): readonly ConflictKey[] {
    const keys = new ConflictSet();
    if (this.#uids.size > 0) keys.shared(EVERYTHING);
    for (const [name, uids] of this.#uids) {
      if (uids === undefined) keys.exclusive(predicateKey(name));
      else keys.shared(predicateKey(name));
      for (const uid of uids ?? []) keys.exclusiveUid(name, uid);
    }
    return conflictTexts(atOnce(keys.list()));
  }

  whole({ name }: Predicate): void {
    this.#uids.set(name, undefined);
  }

  some(predicate: Predicate, uids: UidList, reverse = false): void {
    const { name } = predicate;
    const known = this.#uids.has(name) ? this.#uids.get(name) : new Set<number>();
    if (known === undefined) return;
    // an edge lies under the node that it leaves
    if (reverse || known.size + uids.length > APART) {
      this.whole(predicate);
      return;
    }
    for (const uid of uids) known.add(uid);
    this.#uids.set(name, known);
  }
}

/** A reader that notes what it is asked for. */
export class HoldingReader implements GraphReader {
  constructor(
    readonly reader: GraphReader,
    readonly held: HeldReads,
  ) {}

  get schema(): Schema {
    return this.reader.schema;
  }

  get version(): number {
    return this.reader.version;
  }

  get metrics(): GraphReader['metrics'] {
    return this.reader.metrics;
  }

  edges(...args: Parameters<GraphReader['edges']>): ReturnType<GraphReader['edges']> {
    this.held.some(args[0], args[1], args[2]?.reverse);
    return this.reader.edges(...args);
  }

  values(...args: Parameters<GraphReader['values']>): ReturnType<GraphReader['values']> {
    this.held.some(args[0], args[1]);
    return this.reader.values(...args);
  }

  allValues(...args: Parameters<GraphReader['allValues']>): ReturnType<GraphReader['allValues']> {
    this.held.some(args[0], args[1]);
    return this.reader.allValues(...args);
  }

  counts(...args: Parameters<GraphReader['counts']>): ReturnType<GraphReader['counts']> {
    this.held.some(args[0], args[1], args[2]?.reverse);
    return this.reader.counts(...args);
  }

  filterHaving(...args: Parameters<GraphReader['filterHaving']>): ReturnType<GraphReader['filterHaving']> {
    this.held.some(args[0], args[1], args[2]?.reverse);
    return this.reader.filterHaving(...args);
  }

  postings(...args: Parameters<GraphReader['postings']>): ReturnType<GraphReader['postings']> {
    this.held.whole(args[0]);
    return this.reader.postings(...args);
  }

  postingCounts(...args: Parameters<GraphReader['postingCounts']>): ReturnType<GraphReader['postingCounts']> {
    this.held.whole(args[0]);
    return this.reader.postingCounts(...args);
  }

  firstPostings(...args: Parameters<GraphReader['firstPostings']>): ReturnType<GraphReader['firstPostings']> {
    this.held.whole(args[0]);
    return this.reader.firstPostings(...args);
  }

  tokens(...args: Parameters<GraphReader['tokens']>): ReturnType<GraphReader['tokens']> {
    this.held.whole(args[0]);
    return this.reader.tokens(...args);
  }

  byCount(...args: Parameters<GraphReader['byCount']>): ReturnType<GraphReader['byCount']> {
    this.held.whole(args[0]);
    return this.reader.byCount(...args);
  }

  having(...args: Parameters<GraphReader['having']>): ReturnType<GraphReader['having']> {
    this.held.whole(args[0]);
    return this.reader.having(...args);
  }

  similar(...args: Parameters<GraphReader['similar']>): ReturnType<GraphReader['similar']> {
    this.held.whole(args[0]);
    return this.reader.similar(...args);
  }

  release(): void {
    this.reader.release();
  }
}
