import type { Page, Range } from '../../store/index.js';
import { BLOCK_UIDS, blockOf, presentMask } from '../block.js';
import type { ReadMetrics, UidList } from '../contract.js';
import { blockOfKey, blockRange, type Family } from '../key.js';
import type { Source } from '../source.js';
import { EMPTY_UIDS } from '../uid-list.js';

/** Blocks in the first page of a scan; pages grow, so that the first few of millions are cheap. */
const FIRST_PAGE = 4;
const LAST_PAGE = 256;

interface Masked {
  readonly block: number;
  readonly mask: number;
}

async function* masks(
  source: Source,
  predicate: number,
  family: Family,
  from: number,
  metrics: ReadMetrics,
): AsyncIterable<Masked[]> {
  let size = FIRST_PAGE;
  for (let next: Range | undefined = blockRange(predicate, family, from); next; ) {
    const page: Page = await source.range({ ...next, limit: size });
    next = page.next;
    size = Math.min(size * 2, LAST_PAGE);
    if (page.keys.length === 0) continue;
    metrics.keysRead += page.keys.length;
    yield page.keys.map((key, i) => ({ block: blockOfKey(key), mask: presentMask(page.values[i]) }));
  }
}

/** Uids of one stream, each page as soon as it is read but for its last block, whose other parts may follow. */
async function* scanOne(stream: AsyncIterable<Masked[]>, after: number): AsyncIterable<UidList> {
  let last: Masked | undefined;
  for await (const page of stream) {
    const merged = new Map<number, number>();
    for (const { block, mask } of last ? [last, ...page] : page) merged.set(block, (merged.get(block) ?? 0) | mask);
    const { block } = page[page.length - 1];
    last = { block, mask: merged.get(block)! };
    merged.delete(block);
    const uids = uidsOf(merged, after);
    if (uids.length > 0) yield uids;
  }
  const uids = last ? uidsOf(new Map([[last.block, last.mask]]), after) : EMPTY_UIDS;
  if (uids.length > 0) yield uids;
}

/** Merges several ascending streams of pages into ascending pages of uids, each uid once. */
export async function* scanUids(
  source: Source,
  predicate: number,
  families: readonly Family[],
  after: number,
  metrics: ReadMetrics,
): AsyncIterable<UidList> {
  const from = blockOf(after + 1);
  if (families.length === 1) {
    yield* scanOne(masks(source, predicate, families[0], from, metrics), after);
    return;
  }
  const streams = families.map((family) => masks(source, predicate, family, from, metrics)[Symbol.asyncIterator]());
  const heads: Masked[][] = await Promise.all(streams.map(pull));
  while (heads.some((head) => head.length > 0)) {
    // every stream has been read up to here, so what lies below is complete
    const safe = Math.min(...heads.filter((head) => head.length > 0).map((head) => head[head.length - 1].block));
    const merged = new Map<number, number>();
    for (let s = 0; s < streams.length; s++) {
      const rest = heads[s].findIndex((masked) => masked.block > safe);
      const taken = rest < 0 ? heads[s] : heads[s].slice(0, rest);
      for (const { block, mask } of taken) merged.set(block, (merged.get(block) ?? 0) | mask);
      heads[s] = rest < 0 ? (heads[s].length > 0 ? await pull(streams[s]) : []) : heads[s].slice(rest);
      // parts of the block at the border may go on in the next page
      while (heads[s].length > 0 && heads[s][0].block <= safe) {
        const { block, mask } = heads[s].shift()!;
        merged.set(block, (merged.get(block) ?? 0) | mask);
        if (heads[s].length === 0) heads[s] = await pull(streams[s]);
      }
    }
    const uids = uidsOf(merged, after);
    if (uids.length > 0) yield uids;
  }
}

async function pull(stream: AsyncIterator<Masked[]>): Promise<Masked[]> {
  const next = await stream.next();
  return next.done ? [] : next.value;
}

function uidsOf(merged: ReadonlyMap<number, number>, after: number): UidList {
  const out = new Float64Array(merged.size * BLOCK_UIDS);
  let count = 0;
  for (const block of [...merged.keys()].sort((a, b) => a - b)) {
    let mask = merged.get(block)!;
    while (mask !== 0) {
      const uid = block * BLOCK_UIDS + 31 - Math.clz32(mask & -mask);
      mask &= mask - 1;
      if (uid > after) out[count++] = uid;
    }
  }
  return out.slice(0, count);
}
