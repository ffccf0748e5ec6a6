import type { MaybePromise } from '../../base/index.js';
import { COLUMN_BATCH, type Predicate, StoredColumn, type UidList } from '../../graph/index.js';
import type { Execution } from './execution.js';

/** How many uids are read at once: a few milliseconds, so that deadlines hold and others get their turn. */
export const BATCH = COLUMN_BATCH;

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

/** The values of all uids in one language, read a batch at a time. */
export async function readValues(
  predicate: Predicate,
  uids: UidList,
  lang: string,
  execution: Execution,
): Promise<StoredColumn> {
  if (uids.length <= BATCH) return execution.reader.values(predicate, uids, lang);
  const columns: StoredColumn[] = [];
  for (let at = 0; at < uids.length; at += BATCH) {
    await execution.checkpoint();
    columns.push(await execution.reader.values(predicate, uids.subarray(at, at + BATCH), lang));
  }
  return StoredColumn.join(columns);
}
