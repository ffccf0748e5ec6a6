import type { MaybePromise, Yielder } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import { editList, type ListEdit } from '../posting-list.js';
import type { PutKey, Source } from '../source.js';
import { CHUNK_SPLIT } from '../uid-chunk.js';
import { difference, sortedUids } from '../uid-list.js';

/** Lists that are read in one batch while an index is written. */
const BATCH = 1_024;
/** Lists that are merged between two looks at the time: a list of thousands takes a tenth of a millisecond. */
const MERGED_AT_ONCE = 32;

/** Changes to posting lists that stand under keys of their own: tokens of an index, counts. */
export class TokenEdits {
  /** by name, the uids that come, and negative those that go: most lists change by one, and there may be millions */
  readonly #edits = new Map<string, number[]>();

  /** @param makeKey the root's key of a list, called once for each */
  constructor(readonly makeKey: (name: string) => Key) {}

  add(name: string, uid: number): void {
    this.#note(name, uid);
  }

  remove(name: string, uid: number): void {
    this.#note(name, -uid);
  }

  #note(name: string, change: number): void {
    const changes = this.#edits.get(name);
    if (changes) changes.push(change);
    else this.#edits.set(name, [change]);
  }

  /** Merges all changes onto the lists, batch by batch. */
  async flush(source: Source, put: PutKey, yielder: Yielder): Promise<void> {
    const all = [...this.#edits.keys()];
    for (let from = 0; from < all.length; from += BATCH) {
      const batch = all.slice(from, from + BATCH);
      await yielder.due();
      const keys = batch.map((name) => this.makeKey(name));
      const reading: MaybePromise<(Uint8Array | undefined)[]> = source.getMany(keys);
      const roots = (reading instanceof Promise ? await reading : reading).map((root) => root?.slice());
      for (let i = 0; i < batch.length; i++) {
        const pause = i % MERGED_AT_ONCE === MERGED_AT_ONCE - 1 ? yielder.due() : undefined;
        if (pause) await pause;
        const key = keys[i];
        const list = this.#take(batch[i]);
        const merging = editList(source, () => key, roots[i], list, CHUNK_SPLIT, put);
        const change = merging instanceof Promise ? await merging : merging;
        if (change.added.length > 0 || change.removed.length > 0) put(key, change.root);
      }
    }
  }

  #take(name: string): ListEdit {
    const changes = this.#edits.get(name) ?? [];
    this.#edits.delete(name);
    const [come, gone]: [number[], number[]] = [[], []];
    for (const change of changes) {
      if (change > 0) come.push(change);
      else gone.push(-change);
    }
    const add = sortedUids(come);
    return { clear: false, add, remove: difference(sortedUids(gone), add) };
  }
}
