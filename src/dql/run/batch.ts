import type { MaybePromise } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import type { Execution } from './execution.js';

/** How many uids are read at once: a few milliseconds, so that deadlines hold and others get their turn. */
export const BATCH = 8_192;

/** One column for all uids, read a batch at a time. */
export async function readColumn<T>(
  uids: UidList,
  execution: Execution,
  read: (batch: UidList) => MaybePromise<readonly T[]>,
): Promise<readonly T[]> {
  if (uids.length <= BATCH) return read(uids);
  const out: T[] = [];
  for (let at = 0; at < uids.length; at += BATCH) {
    await execution.checkpoint();
    for (const one of await read(uids.subarray(at, at + BATCH))) out.push(one);
  }
  return out;
}
