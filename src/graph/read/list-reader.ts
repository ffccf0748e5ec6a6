import { chain, type MaybePromise } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import type { ReadMetrics, UidList } from '../contract.js';
import { spillPrefix } from '../key.js';
import { isSpilled, joinChunks, readChunks, readFirstChunks } from '../posting-list.js';
import { type Source, visitValues } from '../source.js';
import { decodeChunk } from '../uid-chunk.js';
import { EMPTY_UIDS, lowerBoundUid } from '../uid-list.js';
import { ListedKeys } from './key-run.js';
import { visitPayloads, type Wanted } from './slot-reader.js';

/** Lists while their roots are visited: those that lie in chunks of their own are fetched after that. */
class ListBatch {
  readonly lists: UidList[];
  readonly #spilled: number[] = [];
  readonly #metrics: ReadMetrics;

  constructor(count: number, metrics: ReadMetrics) {
    this.lists = new Array<UidList>(count).fill(EMPTY_UIDS);
    this.#metrics = metrics;
  }

  readonly root = (index: number, bytes: Uint8Array, start: number, end: number): void => {
    if (isSpilled(bytes, start)) {
      this.#spilled.push(index);
      return;
    }
    const list = decodeChunk(bytes, start, end);
    this.#metrics.uidsRead += list.length;
    this.lists[index] = list;
  };

  /** One list after the other. */
  fetch(source: Source, prefixOf: (index: number) => Key, from = 0): MaybePromise<UidList[]> {
    if (from === this.#spilled.length) return this.lists;
    const index = this.#spilled[from];
    return chain(readChunks(source, prefixOf(index)), (chunks) => {
      const list = joinChunks(chunks);
      this.lists[index] = list;
      this.#metrics.uidsRead += list.length;
      this.#metrics.keysRead += chunks.length;
      return this.fetch(source, prefixOf, from + 1);
    });
  }
}

/** Lists whose roots stand in blocks; an absent one is empty. */
export function readLists(source: Source, wanted: Wanted, metrics: ReadMetrics): MaybePromise<UidList[]> {
  const { predicate, family, uids } = wanted;
  const batch = new ListBatch(uids.length, metrics);
  return chain(visitPayloads(source, wanted, metrics, batch.root), () =>
    batch.fetch(source, (i) => spillPrefix(predicate, family, uids[i])),
  );
}

/** Posting lists that stand under keys of their own; unknown keys are empty lists. */
export function readKeyed(source: Source, keys: readonly Key[], metrics: ReadMetrics): MaybePromise<UidList[]> {
  metrics.keysRead += keys.length;
  const batch = new ListBatch(keys.length, metrics);
  return chain(visitValues(source, new ListedKeys(keys), batch.root), () => batch.fetch(source, (i) => keys[i]));
}

/** At least `count` uids of one list above `after`; fewer when it holds no more. */
export function readFirst(
  source: Source,
  key: Key,
  after: number,
  count: number,
  metrics: ReadMetrics,
): MaybePromise<UidList> {
  const above = (list: UidList): UidList => {
    metrics.uidsRead += list.length;
    return list.subarray(lowerBoundUid(list, after + 1));
  };
  metrics.keysRead += 1;
  return chain(source.getMany([key]), ([root]) => {
    if (!root) return EMPTY_UIDS;
    if (!isSpilled(root)) return above(decodeChunk(root));
    return chain(readFirstChunks(source, key, after, count), (chunks) => {
      metrics.keysRead += chunks.length;
      return above(joinChunks(chunks));
    });
  });
}
