import { BLOCK_UIDS, blockOf, slotOf } from '../block.js';
import type { UidList } from '../contract.js';
import { type Family, spillPrefix } from '../key.js';
import { editList, type ListChange, type ListEdit } from '../posting-list.js';
import type { PutKey, Source } from '../source.js';
import { BlockTable } from './block-table.js';

/** Bytes of a posting list that may stay inside its block. */
const INLINE_LIST = 400;

/** What a group does to the list of one uid, in the order in which it came: the last word on each object counts. */
export class PendingList {
  clear = false;
  readonly ops = new Map<number, boolean>();

  add(object: number): void {
    this.ops.set(object, true);
  }

  remove(object: number): void {
    this.ops.set(object, false);
  }

  removeAll(): void {
    this.clear = true;
    this.ops.clear();
  }

  edit(): ListEdit {
    return { clear: this.clear, add: this.#sorted(true), remove: this.#sorted(false) };
  }

  #sorted(wanted: boolean): UidList {
    const uids = new Float64Array(this.ops.size);
    let count = 0;
    for (const [uid, added] of this.ops) if (added === wanted) uids[count++] = uid;
    return uids.slice(0, count).sort();
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

  get touched(): boolean {
    return this.#pending.size > 0;
  }

  /** Merges everything pending onto the lists and tells each change. */
  async flush(source: Source, put: PutKey, changed: (uid: number, change: ListChange) => void): Promise<void> {
    const loading = this.table.load(source);
    if (loading instanceof Promise) await loading;
    for (const [uid, list] of this.#pending) {
      const block = this.table.block(blockOf(uid));
      const slot = slotOf(uid);
      const prefix = () => spillPrefix(this.table.predicate, this.table.family, uid);
      const merged = editList(source, prefix, block.payloads[slot], list.edit(), INLINE_LIST, put);
      const change = merged instanceof Promise ? await merged : merged;
      if (change.added.length === 0 && change.removed.length === 0) continue;
      block.payloads[slot] = change.root;
      block.dirty |= 1 << (slot % BLOCK_UIDS);
      changed(uid, change);
    }
    this.#pending.clear();
    this.table.write(put);
  }
}
