import type { OldestReader } from './contract.js';
import type { LmdbEnv } from './lmdb-env.js';

/** A line of lmdb's list: process, thread, and the transaction that is read; a dash for that of a reader who is at nothing. */
const READER = /^\s*(\d+)\s+\w+\s+(\d+)\s*$/gm;

/** Who of all processes that have the file open reads the oldest version of it. */
export function oldestReader({ root }: LmdbEnv): OldestReader | undefined {
  const last = Number((root.getStats() as Record<string, unknown>)['lastTxnId']);
  let oldest: OldestReader | undefined;
  for (const [, process, transaction] of root.readerList().matchAll(READER)) {
    const batches = last - Number(transaction);
    if (oldest === undefined || batches > oldest.batches) oldest = { process: Number(process), batches };
  }
  return oldest;
}
