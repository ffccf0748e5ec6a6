import type { MaybePromise } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import type { Breath } from '../breath.js';
import { editList } from '../posting-list.js';
import type { PutKey, Source } from '../source.js';
import { CHUNK_SPLIT } from '../uid-chunk.js';
import { difference, sortedUids } from '../uid-list.js';

/** Lists that are read in one batch while an index is written. */
const BATCH = 1_024;

interface Edit {
  readonly key: Key;
  readonly add: number[];
  readonly remove: number[];
}

/** Changes to posting lists that stand under keys of their own: tokens of an index, counts. */
export class TokenEdits {
  readonly #edits = new Map<string, Edit>();

  /** @param makeKey the root's key of a list, called once for each */
  constructor(readonly makeKey: (name: string) => Key) {}

  add(name: string, uid: number): void {
    this.#edit(name).add.push(uid);
  }

  remove(name: string, uid: number): void {
    this.#edit(name).remove.push(uid);
  }

  #edit(name: string): Edit {
    let edit = this.#edits.get(name);
    if (!edit) {
      edit = { key: this.makeKey(name), add: [], remove: [] };
      this.#edits.set(name, edit);
    }
    return edit;
  }

  /** Merges all changes onto the lists, batch by batch. */
  async flush(source: Source, put: PutKey, breath: Breath): Promise<void> {
    const all = [...this.#edits.values()];
    this.#edits.clear();
    for (let from = 0; from < all.length; from += BATCH) {
      const batch = all.slice(from, from + BATCH);
      await breath.due();
      const reading: MaybePromise<(Uint8Array | undefined)[]> = source.getMany(batch.map((edit) => edit.key));
      const roots = (reading instanceof Promise ? await reading : reading).map((root) => root?.slice());
      for (let i = 0; i < batch.length; i++) {
        const edit = batch[i];
        const add = sortedUids(edit.add);
        const list = { clear: false, add, remove: difference(sortedUids(edit.remove), add) };
        const merging = editList(source, () => edit.key, roots[i], list, CHUNK_SPLIT, put);
        const change = merging instanceof Promise ? await merging : merging;
        if (change.added.length > 0 || change.removed.length > 0) put(edit.key, change.root);
      }
    }
  }
}
