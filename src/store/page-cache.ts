import { fstatSync } from 'node:fs';
import { bootOfThis } from '../base/index.js';
import { hasKnownHeads } from './lmdb-head.js';

// What a process wrote stands in the system's cache and is seen by whoever reads the file, though it is not on disk. A
// process that is killed leaves it there; when the system ends, it is gone.

const thisRun = hasKnownHeads ? bootOfThis() : undefined;

/** Whether `cacheOf` answers: else nobody knows afterwards whether what was not on disk is still there. */
export const tellsCaches = thisRun !== undefined;

/**
 * Names the cache that holds what was written to an open file: another one after a restart of the system, for a copy of the file, and
 * for a snapshot of its volume. Undefined where that cannot be told.
 */
export function cacheOf(fd: number): string | undefined {
  if (thisRun === undefined) return undefined;
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${thisRun} ${dev}:${ino}`;
}
