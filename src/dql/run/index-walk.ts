import type { Predicate, TokenPostings, TokenRange, UidList } from '../../graph/index.js';
import { decodeValue, type IndexKind, isHashedToken, TOKEN_BYTES, tokenizer, tokensOf } from '../../values/index.js';
import type { OrderKey } from '../syntax/index.js';
import { readyIndex } from './call/argument.js';
import type { Execution } from './execution.js';
import { chooseValues } from './language.js';
import { sortUids } from './sort.js';
import { concat, contains, filterUids, intersect, union } from './uid-set.js';

/** Indexes that an order can be read from, the finest first. */
const SORTABLE: readonly IndexKind[] = ['exact', 'int', 'bigfloat', 'float', 'hour', 'day', 'month', 'year'];

/** An index whose tokens stand in the order that a key asks for, and the part of it that matters. */
export interface OrderedIndex {
  readonly predicate: Predicate;
  readonly kind: IndexKind;
  readonly range: TokenRange;
}

/** Reading an index pays when the list is much longer than what is needed of it. */
const LONG = 1_000;
const RATIO = 4;

/** Whether the first `enough` of so many may be read off an index with less work than sorting takes. */
export function isWorthWalking(total: number, enough: number): boolean {
  return total >= LONG && enough * RATIO <= total;
}

/** What is wanted of a walk. */
interface WalkOptions {
  /** nodes after which it ends */
  readonly enough: number;
  /** entries that are met before it may give up */
  readonly budget: number;
  /** entries that may still lie ahead then, by what was met so far: it gives up where there are more */
  readonly patience: number;
  /** Those of some candidates (ascending, few at a time) that are wanted at all. */
  readonly pass: (candidates: UidList) => Promise<UidList>;
}

interface Walked {
  /** in the order of the keys */
  readonly uids: UidList;
  /** the index ended before enough were found: other nodes have no value */
  readonly ended: boolean;
}

/** The index that holds the order of a key; undefined: values have to be sorted. */
export function orderedIndex({ by, descending }: OrderKey, execution: Execution): OrderedIndex | undefined {
  // texts in a language stand in the order of that language, which no index follows
  if (by.kind !== 'predicate' || by.langs.length > 0) return undefined;
  const predicate = execution.predicate(by.name);
  const index = predicate && readyIndex(predicate, SORTABLE);
  return predicate && index && { predicate, kind: index.kind, range: { reverse: descending } };
}

/** The first nodes of an order, read off the index of its first key. undefined: they lie too deep, sorting is better. */
export async function walkIndex(
  index: OrderedIndex,
  keys: readonly OrderKey[],
  { enough, budget, patience, pass }: WalkOptions,
  execution: Execution,
): Promise<Walked | undefined> {
  const found: UidList[] = [];
  let count = 0;
  let seen = 0;
  for await (const groups of groupsOf(index, execution)) {
    // few are asked for first: what is wanted may be among them
    const few = Math.min(Math.max(2 * enough, seen), MOST_ASKED);
    for (const batch of batchesOf(groups, few, keys.length === 1)) {
      await execution.checkpoint();
      const candidates = batch.length === 1 ? batch[0].uids : union(batch.map((group) => group.uids));
      const passed = await pass(candidates);
      for (const group of batch) {
        const hits = intersect(group.uids, passed);
        const sorted = await sortGroup(group, hits, index, keys, enough - count, execution);
        found.push(sorted);
        count += sorted.length;
        if (count >= enough) return { uids: concat(found, count).subarray(0, enough), ended: false };
      }
      seen += candidates.length;
      const left = ((enough - count) * seen) / Math.max(count, 1);
      if (seen >= budget && left > patience) return undefined;
    }
  }
  return { uids: concat(found, count), ended: true };
}

/** Nodes that stand side by side in an order, under one token or under some that do not tell their values apart. */
interface Group {
  readonly tokens: readonly Uint8Array[];
  readonly uids: UidList;
  /** its nodes have one and the same value */
  readonly even: boolean;
}

/** Pages of an index as groups. */
async function* groupsOf({ predicate, kind, range }: OrderedIndex, execution: Execution): AsyncIterable<Group[]> {
  const lossy = tokenizer(kind).lossy || predicate.lang;
  let cut: TokenPostings[] = [];
  for await (const page of execution.reader.tokens(predicate, kind, range)) {
    const groups: Group[] = [];
    for (const entry of page) {
      // long texts that begin alike have tokens that say no more of their order
      const isCut = isHashedToken(entry.token);
      if (cut.length > 0 && !(isCut && beginAlike(cut[0].token, entry.token))) {
        groups.push(groupOf(cut, false));
        cut = [];
      }
      if (isCut) cut.push(entry);
      else groups.push(groupOf([entry], !lossy));
    }
    if (groups.length > 0) yield groups;
  }
  if (cut.length > 0) yield [groupOf(cut, false)];
}

function groupOf(entries: readonly TokenPostings[], even: boolean): Group {
  return { tokens: entries.map((entry) => entry.token), uids: union(entries.map((entry) => entry.uids)), even };
}

function beginAlike(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a.subarray(0, TOKEN_BYTES), b.subarray(0, TOKEN_BYTES)) === 0;
}

/** Candidates that are asked for at once: filters read the values of so few instead of looking them up. */
const MOST_ASKED = 256;

/** Small groups together; large ones in slices where what comes first of them is known before they are sorted. */
function* batchesOf(groups: readonly Group[], few: number, uidOrder: boolean): Iterable<readonly Group[]> {
  let batch: Group[] = [];
  let size = 0;
  for (const group of groups) {
    if (size > 0 && size + group.uids.length > few) {
      yield batch;
      batch = [];
      size = 0;
    }
    if (group.uids.length > few && group.even && uidOrder) {
      yield* slicesOf(group, few);
    } else {
      batch.push(group);
      size += group.uids.length;
    }
  }
  if (batch.length > 0) yield batch;
}

/** Slices that grow, so that the first few of very many are cheap and all of them are not dear. */
function* slicesOf(group: Group, few: number): Iterable<readonly Group[]> {
  let size = few;
  for (let at = 0; at < group.uids.length; ) {
    const uids = group.uids.subarray(at, at + size);
    at += size;
    size *= 2;
    yield [{ ...group, uids }];
  }
}

/** Those of a group that are wanted, in the order of the keys; of many only as many as are needed. */
async function sortGroup(
  group: Group,
  hits: UidList,
  index: OrderedIndex,
  keys: readonly OrderKey[],
  needed: number,
  execution: Execution,
): Promise<UidList> {
  if (hits.length === 0) return hits;
  if (!group.even) {
    const own = index.predicate.lang ? await owners(group, hits, index, execution) : hits;
    return await sortUids(own, keys, execution);
  }
  if (keys.length === 1) return hits;
  const next = isWorthWalking(hits.length, needed) ? orderedIndex(keys[1], execution) : undefined;
  const walked = next && (await walkAmong(hits, next, keys.slice(1), needed, execution));
  // Where some have no value, only sorting by all keys tells where they stand.
  return walked && !walked.ended ? walked.uids : await sortUids(hits, keys, execution);
}

/** The first of known uids in the order of the keys. undefined: sorting them is better. */
export function walkAmong(
  uids: UidList,
  index: OrderedIndex,
  keys: readonly OrderKey[],
  enough: number,
  execution: Execution,
): Promise<Walked | undefined> {
  const pass = async (candidates: UidList) => intersect(candidates, uids);
  return walkIndex(index, keys, { enough, budget: uids.length / 4, patience: uids.length, pass }, execution);
}

/** Nodes whose untagged value belongs to the group, not one in another language. */
async function owners(group: Group, hits: UidList, index: OrderedIndex, execution: Execution): Promise<UidList> {
  const { values } = await chooseValues(execution, index.predicate, hits, []);
  return filterUids(hits, (_, i) => {
    const value = values.at(i);
    const token = value && tokensOf(index.kind, decodeValue(value))[0];
    return token !== undefined && group.tokens.some((one) => Buffer.compare(one, token) === 0);
  });
}

/** What of an ascending list a walk did not meet. */
export function withoutWalked(uids: UidList, walked: UidList): UidList {
  const met = walked.slice().sort();
  return filterUids(uids, (uid) => !contains(met, uid));
}
