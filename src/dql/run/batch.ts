import type { MaybePromise } from '../../base/index.js';
import { COLUMN_BATCH, type Predicate, StoredColumn, type UidList } from '../../graph/index.js';
import type { Execution } from './execution.js';

/** How many uids are read at once: a few milliseconds, so that deadlines hold and others get their turn. */
export const BATCH = COLUMN_BATCH;

/** One column for all uids, read a batch at a time. */
export function readColumn<T>(
  uids: UidList,
  execution: Execution,
  read: (batch: UidList) => MaybePromise<readonly T[]>,
): MaybePromise<readonly T[]> {
  return uids.length <= BATCH ? read(uids) : readBatches(uids, execution, read);
}

async function readBatches<T>(
  uids: UidList,
  execution: Execution,
  read: (batch: UidList) => MaybePromise<readonly T[]>,
): Promise<readonly T[]> {
  const out: T[] = [];
  for (let at = 0; at < uids.length; at += BATCH) {
    await execution.checkpoint();
    for (const one of await read(uids.subarray(at, at + BATCH))) out.push(one);
  }
  return out;
}

/** The uids that `keep` leaves of each batch. */
export function filterBatches(
  uids: UidList,
  execution: Execution,
  keep: (batch: UidList) => MaybePromise<UidList>,
): MaybePromise<UidList> {
  return uids.length <= BATCH ? keep(uids) : keepOfBatches(uids, execution, keep);
}

async function keepOfBatches(
  uids: UidList,
  execution: Execution,
  keep: (batch: UidList) => MaybePromise<UidList>,
): Promise<UidList> {
  const out = new Float64Array(uids.length);
  let n = 0;
  for (let at = 0; at < uids.length; at += BATCH) {
    await execution.checkpoint();
    const kept = await keep(uids.subarray(at, at + BATCH));
    out.set(kept, n);
    n += kept.length;
  }
  return out.subarray(0, n);
}

/** The values of all uids in one language, read a batch at a time. */
export function readValues(
  predicate: Predicate,
  uids: UidList,
  lang: string,
  execution: Execution,
): MaybePromise<StoredColumn> {
  if (uids.length <= BATCH) return execution.reader.values(predicate, uids, lang);
  return readValueBatches(predicate, uids, lang, execution);
}

async function readValueBatches(
  predicate: Predicate,
  uids: UidList,
  lang: string,
  execution: Execution,
): Promise<StoredColumn> {
  const columns: StoredColumn[] = [];
  for (let at = 0; at < uids.length; at += BATCH) {
    await execution.checkpoint();
    columns.push(await execution.reader.values(predicate, uids.subarray(at, at + BATCH), lang));
  }
  return StoredColumn.join(columns);
}
