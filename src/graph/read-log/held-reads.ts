import { atOnce } from '../../base/index.js';
import type { ConflictKey } from '../../commit/index.js';
import { ConflictSet, conflictTexts, EVERYTHING, predicateKey } from '../conflict.js';
import type { Predicate, UidList } from '../contract.js';
import type { ReadLog } from './logged-reader.js';

/** uids of one predicate that are told apart; where more were read, every change of the predicate counts */
const APART = 1_000;

/**
 * What a transaction has read and wants to find unchanged when it commits, as keys that no later commit may have touched:
 * a uid's values where they were asked for by uid, the whole predicate where nodes were looked for.
 */
export class HeldReads implements ReadLog {
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
    this.absent(name);
  }

  absent(name: string): void {
    this.#uids.set(name, undefined);
  }

  lookup(predicate: Predicate): void {
    this.whole(predicate);
  }

  /** An edge lies under the node that it leaves. */
  incoming(predicate: Predicate): void {
    this.whole(predicate);
  }

  uids(predicate: Predicate, uids: UidList): void {
    const { name } = predicate;
    const known = this.#uids.has(name) ? this.#uids.get(name) : new Set<number>();
    if (known === undefined) return;
    if (known.size + uids.length > APART) {
      this.whole(predicate);
      return;
    }
    for (const uid of uids) known.add(uid);
    this.#uids.set(name, known);
  }
}
