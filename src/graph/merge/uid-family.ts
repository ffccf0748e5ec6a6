import { inSteps, type MaybePromise, type Yielder } from '../../base/index.js';
import { BLOCK_UIDS, blockOf, slotOf } from '../block.js';
import { type Family, spillPrefix } from '../key.js';
import { editList, type ListChange, type ListEdit } from '../posting-list.js';
import type { PutKey, Source } from '../source.js';
import { EMPTY_UIDS, sortedUids } from '../uid-list.js';
import { BlockTable } from './block-table.js';

/** Bytes of a posting list that may stay inside its block. */
export const INLINE_LIST = 400;

/** What a group does to the list of one uid, in the order in which it came: the last word on each object counts. */
class PendingList {
  clear = false;
  /** objects that are added, and negative those that are removed; undefined for none, as most are of deleted nodes */
  #changes: number[] | undefined;
  #removals = 0;

  add(object: number): void {
    this.#note(object);
  }

  remove(object: number): void {
    this.#note(-object);
    this.#removals++;
  }

  #note(change: number): void {
    if (this.#changes) this.#changes.push(change);
    else this.#changes = [change];
  }

  removeAll(): void {
    this.clear = true;
    this.#changes = undefined;
    this.#removals = 0;
  }

  edit(): ListEdit {
    const changes = this.#changes ?? [];
    if (this.#removals === 0) return { clear: this.clear, add: sortedUids(changes), remove: EMPTY_UIDS };
    const last = new Map<number, boolean>();
    for (const change of changes) last.set(Math.abs(change), change > 0);
    const add: number[] = [];
    const remove: number[] = [];
    for (const [object, added] of last) (added ? add : remove).push(object);
    return { clear: this.clear, add: sortedUids(add), remove: sortedUids(remove) };
  }
}

/** A block family whose payloads are roots of posting lists: edges and reverse edges. */
export class UidFamily {
  readonly table: BlockTable;
  readonly #pending = new Map<number, PendingList>();

  constructor(predicate: number, family: Family) {
    this.table = new BlockTable(predicate, family);
  }

  pending(uid: number): PendingList {
    let list = this.#pending.get(uid);
    if (!list) {
      list = new PendingList();
      this.#pending.set(uid, list);
      this.table.need(blockOf(uid));
    }
    return list;
  }

  /** Merges everything pending onto the lists and tells each change. */
  async flush(
    source: Source,
    put: PutKey,
    yielder: Yielder,
    changed: (uid: number, change: ListChange) => MaybePromise<void>,
  ): Promise<void> {
    let count = 0;
    const loading = this.table.load(source, yielder);
    if (loading instanceof Promise) await loading;
    for (const [uid, list] of this.#pending) {
      if ((++count & 511) === 0) await yielder.due();
      const block = this.table.block(blockOf(uid));
      const slot = slotOf(uid);
      const prefix = () => spillPrefix(this.table.predicate, this.table.family, uid);
      const merged = editList(source, prefix, block.payloads[slot], list.edit(), INLINE_LIST, put);
      const change = merged instanceof Promise ? await merged : merged;
      if (change.added.length === 0 && change.removed.length === 0) continue;
      block.payloads[slot] = change.root;
      block.dirty |= 1 << (slot % BLOCK_UIDS);
      const noting = changed(uid, change);
      if (noting) await noting;
    }
    this.#pending.clear();
    await inSteps(this.table.write(put), () => yielder.due());
  }
}
