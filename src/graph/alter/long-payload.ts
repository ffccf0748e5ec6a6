import { Yielder } from '../../base/index.js';
import type { UidList } from '../contract.js';
import { chunkOfKey, type Family, spillRange } from '../key.js';
import { SPILL_BYTES } from '../merge/bytes-family.js';
import type { Source } from '../source.js';
import type { Range } from '../../store/index.js';

/** Keys in one page. */
const PAGE = 1_000;

/** Uids whose payload in a family of bytes may have `bytes` or more: told by the keys of what lies outside the blocks, which are few. */
export async function* longPayloads(
  source: Source,
  predicate: number,
  family: Family,
  bytes: number,
  yieldMs: number,
): AsyncIterable<UidList> {
  const least = Math.max(0, Math.floor(bytes / SPILL_BYTES));
  const yielder = new Yielder(yieldMs);
  let rest: Range | undefined = { ...spillRange(predicate, family), keysOnly: true, limit: PAGE };
  while (rest !== undefined) {
    const page = await source.range(rest);
    const chunks = page.keys.map(chunkOfKey).filter(({ chunk }) => chunk === least);
    if (chunks.length > 0) yield Float64Array.from(chunks, ({ uid }) => uid);
    await yielder.due();
    rest = page.next;
  }
}
