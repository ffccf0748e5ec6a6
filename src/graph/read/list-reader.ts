import type { MaybePromise } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import type { ReadMetrics, UidList } from '../contract.js';
import { isSpilled, joinChunks, readChunks, readFirstChunks } from '../posting-list.js';
import { chain, type Source } from '../source.js';
import { decodeChunk } from '../uid-chunk.js';
import { EMPTY_UIDS, lowerBoundUid } from '../uid-list.js';

/** Lists of roots that were read already; chunks of spilled ones are fetched one list after the other. */
export function readLists(
  source: Source,
  roots: readonly (Uint8Array | undefined)[],
  prefixOf: (index: number) => Key,
  metrics: ReadMetrics,
): MaybePromise<UidList[]> {
  const lists: UidList[] = new Array(roots.length);
  const spilled: number[] = [];
  for (let i = 0; i < roots.length; i++) {
    const root = roots[i];
    if (root && isSpilled(root)) spilled.push(i);
    const list = !root || isSpilled(root) ? EMPTY_UIDS : decodeChunk(root);
    metrics.uidsRead += list.length;
    lists[i] = list;
  }
  const step = (at: number): MaybePromise<UidList[]> => {
    if (at === spilled.length) return lists;
    return chain(readChunks(source, prefixOf(spilled[at])), (chunks) => {
      const list = joinChunks(chunks);
      lists[spilled[at]] = list;
      metrics.uidsRead += list.length;
      metrics.keysRead += chunks.length;
      return step(at + 1);
    });
  };
  return step(0);
}

/** Posting lists that stand under keys of their own; unknown keys are empty lists. */
export function readKeyed(source: Source, keys: readonly Key[], metrics: ReadMetrics): MaybePromise<UidList[]> {
  metrics.keysRead += keys.length;
  return chain(source.getMany(keys), (roots) => {
    // what was read is valid until the next call only, and spilled lists make one
    const kept = roots.some((root) => root && isSpilled(root)) ? roots.map((root) => root?.slice()) : roots;
    return readLists(source, kept, (i) => keys[i], metrics);
  });
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
