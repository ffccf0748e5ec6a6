import type { IndexKind } from '../../values/index.js';
import type { Predicate, TokenPostings, TokenRange, UidList } from '../contract.js';
import { fittedToken } from '../key.js';
import type { ReadLog } from './logged-reader.js';
import { hasUid, union } from '../uid-list.js';

/** uids that are told apart, of all predicates together; where more were read, every change of the predicate counts */
const APART = 4_096;
/** tokens of one predicate that are told apart */
const TOKENS_APART = 256;
/** lists of one predicate that are kept as they came; more of them are joined to one */
const LISTS = 32;

/** ranges of one predicate that are told apart */
const RANGES_APART = 32;
/** As much of a token is compared with the bounds of a range: behind it, long ones that begin alike are not in order. */
const ORDERED = 256;

/** Tokens of one index from the first to the last, as far as they were read; a bound that is absent is open. */
interface WatchedRange {
  readonly kind: IndexKind;
  first: string | undefined;
  last: string | undefined;
}

/** What was read of one predicate. */
interface Watched {
  uids: UidList[];
  /** edges that come in to these */
  objects: UidList[];
  readonly tokens: Map<IndexKind, Set<string>>;
  readonly ranges: WatchedRange[];
}

/** One change as a watch is asked about it. */
export interface WrittenValue {
  readonly uid: number;
  /** the node that an edge goes to; 0 for values */
  readonly object: number;
  /** the tokens of what was set, under an index of its predicate; undefined where there are too many to tell */
  tokens(kind: IndexKind): readonly string[] | undefined;
}

/**
 * What a query has read, so that it can be told which changes cannot have changed its answer: the nodes whose values it
 * asked for, and the tokens it looked nodes up by with the nodes it found under them. A change elsewhere in an index is none of
 * its business: a node that gains a token is told by the value that was set, one that loses it was among those found.
 */
export class Watch implements ReadLog {
  /** undefined stands for all of a predicate */
  readonly #predicates = new Map<string, Watched | undefined>();
  #size = 0;

  whole({ name }: Predicate): void {
    const watched = this.#predicates.get(name);
    if (watched) this.#size -= sizeOf(watched.uids) + sizeOf(watched.objects);
    this.#predicates.set(name, undefined);
  }

  uids(predicate: Predicate, uids: UidList): void {
    this.#add(predicate, 'uids', uids);
  }

  incoming(predicate: Predicate, uids: UidList): void {
    this.#add(predicate, 'objects', uids);
  }

  found(predicate: Predicate, lists: readonly UidList[]): void {
    if (lists.length > 0) this.#add(predicate, 'uids', lists.length === 1 ? lists[0] : union(lists));
  }

  lookup(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): void {
    const watched = this.#of(predicate);
    if (!watched) return;
    const known = watched.tokens.get(kind) ?? new Set<string>();
    watched.tokens.set(kind, known);
    for (const token of tokens) known.add(tokenText(token));
    if (known.size > TOKENS_APART) this.whole(predicate);
  }

  scan(predicate: Predicate, kind: IndexKind, range: TokenRange): (page: readonly TokenPostings[] | undefined) => void {
    const watched = this.#of(predicate);
    // whether a limit cut the range short is not told
    if (!watched || range.limit !== undefined || watched.ranges.length === RANGES_APART) {
      this.whole(predicate);
      return () => undefined;
    }
    const [first, last] = [range.from, range.to].map((bound) => bound && ordered(tokenText(bound)));
    const seen: WatchedRange = { kind, first, last };
    watched.ranges.push(seen);
    return (page) => {
      const reached = page && ordered(tokenText(page[page.length - 1].token));
      if (range.reverse) seen.first = reached ?? first;
      else seen.last = reached ?? last;
      const lists = page?.map(({ uids }) => uids) ?? [];
      this.found(predicate, lists);
    };
  }

  /** Whether the change of one predicate may bear on what was read. */
  minds(name: string, change: WrittenValue): boolean {
    if (!this.#predicates.has(name)) return false;
    const watched = this.#predicates.get(name);
    if (!watched) return true;
    const { uid, object } = change;
    if (watched.uids.some((list) => hasUid(list, uid)) || watched.objects.some((list) => hasUid(list, object)))
      return true;
    for (const [kind, wanted] of watched.tokens) {
      const tokens = change.tokens(kind);
      if (!tokens || tokens.some((token) => wanted.has(token))) return true;
    }
    return watched.ranges.some((range) => {
      const tokens = change.tokens(range.kind);
      return !tokens || tokens.some((token) => isWithin(range, ordered(token)));
    });
  }

  /** undefined where all of it counts */
  #of({ name }: Predicate): Watched | undefined {
    if (!this.#predicates.has(name))
      this.#predicates.set(name, { uids: [], objects: [], tokens: new Map(), ranges: [] });
    return this.#predicates.get(name);
  }

  #add(predicate: Predicate, side: 'uids' | 'objects', uids: UidList): void {
    const watched = this.#of(predicate);
    if (!watched || uids.length === 0 || watched[side].includes(uids)) return;
    if (watched[side].length === LISTS) this.#join(watched, side);
    // what fits only because it is joined with others is not worth the joining
    if (this.#size + uids.length > APART) {
      this.whole(predicate);
      return;
    }
    this.#size += uids.length;
    watched[side].push(own(uids));
  }

  #join(watched: Watched, side: 'uids' | 'objects'): void {
    this.#size -= sizeOf(watched[side]);
    watched[side] = [union(watched[side])];
    this.#size += sizeOf(watched[side]);
  }
}

/** A token as it stands in an index, as text. */
export function tokenText(token: Uint8Array): string {
  return Buffer.from(fittedToken(token)).toString('latin1');
}

function ordered(token: string): string {
  return token.slice(0, ORDERED);
}

function isWithin({ first, last }: WatchedRange, token: string): boolean {
  return (first === undefined || token >= first) && (last === undefined || token <= last);
}

function sizeOf(lists: readonly UidList[]): number {
  return lists.reduce((sum, { length }) => sum + length, 0);
}

/** A list that is a small part of a large one must not keep all of it. */
function own(uids: UidList): UidList {
  return uids.buffer.byteLength > uids.byteLength * 2 ? uids.slice() : uids;
}
