import type { MaybePromise } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import type { ReadMetrics, UidList } from '../contract.js';
import { isSpilled, readSpilled } from '../posting-list.js';
import { chain, type Source } from '../source.js';
import { decodeChunk } from '../uid-chunk.js';
import { EMPTY_UIDS } from '../uid-list.js';

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
    return chain(readSpilled(source, prefixOf(spilled[at])), (list) => {
      lists[spilled[at]] = list;
      metrics.uidsRead += list.length;
      metrics.keysRead += 1;
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
