import { setImmediate as yielder } from 'node:timers/promises';
import type { Snapshot } from '../store/index.js';
import type { Predicate, RangeSize } from './contract.js';
import { countsRange, FAMILY, familyRange, hnswRange, type predicateRange, tokenRange } from './key.js';

type KeyRange = ReturnType<typeof predicateRange>;

const PAGE = 256;

/** What of a predicate takes room: its values and edges, and each of its indexes by its kind. */
export function rangesOf(predicate: Predicate): readonly { readonly what: string; readonly range: KeyRange }[] {
  const { id, indexes, reverse, count } = predicate;
  const data = {
    start: familyRange(id, FAMILY.value).start,
    end: familyRange(id, FAMILY.edge).end,
  };
  return [
    { what: 'data', range: data },
    ...(reverse ? [{ what: 'reverse', range: familyRange(id, FAMILY.reverse) }] : []),
    ...indexes.map(({ kind }) => ({
      what: kind,
      range: kind === 'hnsw' ? hnswRange(id) : tokenRange(id, kind),
    })),
    ...(count ? [{ what: 'count', range: countsRange(id, false) }] : []),
  ];
}

/** Counts keys and bytes of one range, up to `most` keys; the reader is given back between pages. */
export async function measure(open: () => Snapshot, range: KeyRange, most: number): Promise<RangeSize> {
  let [keys, bytes] = [0, 0];
  for (let rest: KeyRange | undefined = range; rest !== undefined; ) {
    if (keys >= most) return { keys, bytes, more: true };
    const snapshot = open();
    try {
      const page = await snapshot.range({ ...rest, limit: Math.min(PAGE, most - keys) });
      keys += page.keys.length;
      for (const key of page.keys) bytes += key.length;
      for (const value of page.values) bytes += value.length;
      rest = page.next;
    } finally {
      snapshot.release();
    }
    await yielder();
  }
  return { keys, bytes, more: false };
}
