import { atOnce } from '../../base/index.js';
import type { ConflictKey } from '../../commit/index.js';
import type { IndexKind } from '../../values/index.js';
import { ConflictSet, conflictTexts, EVERYTHING, indexConflictKey, predicateKey } from '../conflict.js';
import type { Predicate, UidList } from '../contract.js';
import type { ReadLog } from './logged-reader.js';

/** uids and index keys of one predicate that are told apart; where more were read, every change of the predicate counts */
const APART = 1_000;

/** What was read of a predicate of which not every change counts. */
interface Parts {
  readonly uids: Set<number>;
  readonly indexKeys: Set<string>;
}

/**
 * What a transaction has read and wants to find unchanged when it commits, as keys that no later commit may have touched:
 * a uid's values where they were asked for by uid, the whole predicate where nodes were looked for. Under `@upsert` a lookup is the index keys
 * that were asked for, and the nodes under them: who comes under one writes that key, who leaves it was among those.
 */
export class HeldReads implements ReadLog {
  /** by predicate; undefined stands for all of it */
  readonly #read = new Map<string, Parts | undefined>();

  /** In these an exclusive key stands for any change, a shared one for what only an exclusive key does: drops, alters. */
  keys(): readonly ConflictKey[] {
    const keys = new ConflictSet();
    if (this.#read.size > 0) keys.shared(EVERYTHING);
    for (const [name, parts] of this.#read) {
      if (parts === undefined) keys.exclusive(predicateKey(name));
      else keys.shared(predicateKey(name));
      for (const uid of parts?.uids ?? []) keys.exclusiveUid(name, uid);
      for (const key of parts?.indexKeys ?? []) keys.exclusive(key);
    }
    return conflictTexts(atOnce(keys.list()));
  }

  whole({ name }: Predicate): void {
    this.absent(name);
  }

  absent(name: string): void {
    this.#read.set(name, undefined);
  }

  /** Also where those under a token are only counted: that decides in which way a query reads, and not what it gives. */
  lookup(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): void {
    // nothing else says with each value that it writes which index keys those are
    if (!predicate.upsert || predicate.noconflict) {
      this.whole(predicate);
      return;
    }
    const parts = this.#room(predicate, tokens.length);
    for (const token of tokens) parts?.indexKeys.add(indexConflictKey(predicate.name, kind, token));
  }

  found(predicate: Predicate, lists: readonly UidList[]): void {
    for (const uids of lists) this.uids(predicate, uids);
  }

  /** An edge lies under the node that it leaves. */
  incoming(predicate: Predicate): void {
    this.whole(predicate);
  }

  uids(predicate: Predicate, uids: UidList): void {
    const parts = this.#room(predicate, uids.length);
    if (parts !== undefined) for (const uid of uids) parts.uids.add(uid);
  }

  /** What was read of a predicate, with room for so much more; undefined where all of it counts, or does from now on. */
  #room(predicate: Predicate, more: number): Parts | undefined {
    const { name } = predicate;
    if (!this.#read.has(name)) this.#read.set(name, { uids: new Set(), indexKeys: new Set() });
    const parts = this.#read.get(name);
    if (parts === undefined || parts.uids.size + parts.indexKeys.size + more <= APART) return parts;
    this.whole(predicate);
    return undefined;
  }
}
