import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { assert, GraphsteadError } from '../base/index.js';
import { inDoubt } from './failure.js';
import { newestHead, putHeadBack, transactionOf, valueUnder } from './lmdb-head.js';
import { DATA_FILE } from './lmdb-env.js';
import { syncDirectory } from './sync-file.js';
import { type FileMeta, META, TABLE_OF_META } from './lmdb-meta.js';
import { writerLives } from './lock-file.js';
import { cacheOf } from './page-cache.js';
import { type Checkpoint, checkLog, layFirstLog, type LogContent, readLog, withLog } from './redo-log.js';

// What LMDB wrote since the last checkpoint may be on disk in any part, its heads included. The pages that the checkpoint's
// head leads to are there as they were: a reader held them from being used again for as long as that checkpoint counted.

/** Stands for a cache that nobody may rely on: the disk refused what was to be brought there. */
const NO_CACHE = 'none';
/** the data file while it is being replaced */
const COPY = 'data.rolled-back';

/** The log of a directory whose data file may lack pages that were written to it; undefined where it is whole. */
export function logOfLost(directory: string): LogContent | undefined {
  const path = join(directory, DATA_FILE);
  const log = existsSync(path) ? readLog(directory) : undefined;
  if (log?.checkpoint.cache === undefined) return undefined;
  return withFile(path, 'r', (fd) => (log.checkpoint.cache !== cacheOf(fd) && isAhead(fd, log) ? log : undefined));
}

/** The same, where a copy has to be made by the log: a writer that lives, and does not doubt its file, has all of it in the cache. */
export function logToCopyBy(directory: string): LogContent | undefined {
  const log = logOfLost(directory);
  return log?.checkpoint.cache !== NO_CACHE && writerLives(directory) ? undefined : log;
}

/**
 * Makes the head of the last checkpoint count again where what came after it may be lost. Inside of `whileNoneWrites`: whoever has the
 * file open would read pages that are used anew. After a restart of the system nobody does; else the file is replaced, which they see.
 */
export async function rollBack(directory: string): Promise<void> {
  const log = logOfLost(directory);
  if (log === undefined) return;
  const path = join(directory, DATA_FILE);
  if (writerLives(directory)) return; // it reads and writes on, and the cache has what it wrote
  if (log.checkpoint.cache !== NO_CACHE) return putHeadOf(log, path);
  const copy = join(directory, `${COPY}-${process.pid}`);
  clearCopies(directory); // of those that were killed
  try {
    copyRolledBack(directory, log, copy);
  } catch (thrown) {
    clearCopies(directory);
    throw thrown;
  }
  // Others lose their patience while a large file is copied: one of them may have replaced it, and write to it by now.
  if (logOfLost(directory)?.checkpoint.sequence !== log.checkpoint.sequence) return rmSync(copy);
  renameSync(copy, path);
  await syncDirectory(directory);
}

/** Half of a copy takes as much room as the data. */
function clearCopies(directory: string): void {
  for (const name of readdirSync(directory)) if (name.startsWith(COPY)) rmSync(join(directory, name), { force: true });
}

/** Copies the data file of a directory, rolled back, and leaves the directory as it is. */
export function copyRolledBack(directory: string, log: LogContent, path: string): void {
  copyFileSync(join(directory, DATA_FILE), path);
  chmodSync(path, statSync(path).mode | 0o600); // of a file that one may only read it is one, too
  putHeadOf(log, path);
}

function putHeadOf({ checkpoint }: LogContent, path: string): void {
  withFile(path, 'r+', (fd) => {
    putHeadBack(fd, headOf(checkpoint));
    fsyncSync(fd);
  });
}

/**
 * Sees that the log of a directory has a checkpoint from which all of the data file can be had, before anything is written to it.
 * Answers with the log, in which are the batches that the file may lack.
 * @param meta what the file says of itself; undefined for one that holds no store yet
 */
export function checkLeft(directory: string, meta: FileMeta | undefined): Promise<LogContent | undefined> {
  const path = join(directory, DATA_FILE);
  return withLog(directory, async (log) => {
    const isOwn = log !== undefined && withFile(path, 'r', (fd) => isOwnOf(fd, log, meta));
    if (isOwn) checkLogOf(path, directory, log);
    else if (meta !== undefined) await beginLog(path, directory, meta);
    return log;
  });
}

function isOwnOf(fd: number, log: LogContent, meta: FileMeta | undefined): boolean {
  return log.checkpoint.cache === undefined ? log.checkpoint.incarnation === meta?.incarnation : isOfFile(fd, log);
}

/**
 * Brings to disk what a writer that is gone has left in the cache, and says so in its log: what is written next may use the pages that
 * only the last checkpoint still leads to. Also where all is on disk, but under another cache: until the next log is there, whoever
 * opens the directory would take what is written next for lost, and put the head of that checkpoint back.
 */
function checkLogOf(path: string, directory: string, log: LogContent): void {
  if (log.checkpoint.cache === undefined) return;
  withFile(path, 'r+', (fd) => {
    const ahead = isAhead(fd, log);
    if (log.checkpoint.cache === cacheOf(fd) && !ahead) return;
    if (log.checkpoint.cache === NO_CACHE && ahead) throw stillThere(directory);

    const checkpoint = checkpointOf(fd, log.checkpoint.incarnation);
    try {
      fdatasyncSync(fd);
    } catch (thrown) {
      distrustLog(directory);
      throw inDoubt(thrown);
    }
    checkLog(directory, log, checkpoint);
  });
}

/** A file without a log of its own (a backup, say) would be damaged by a power cut between the first transaction and the log that follows. */
async function beginLog(path: string, directory: string, { epoch, incarnation }: FileMeta): Promise<void> {
  const checkpoint = withFile(path, 'r+', (fd) => {
    fdatasyncSync(fd);
    return checkpointOf(fd, incarnation);
  });
  await layFirstLog(directory, epoch, checkpoint);
}

/** A file in doubt is replaced only when its writer is gone; a sync of it now would be told that all is well. */
function stillThere(directory: string): GraphsteadError {
  return new GraphsteadError(
    'STORE_LOCKED',
    `the process that writes to ${directory} could not bring its data file to disk, and has not ended`,
    { fix: 'Stop that process first: the next start brings back from the log what was acknowledged.' },
  );
}

/** Says in the log of a directory that what the data file holds behind its checkpoint may not get to the disk any more. */
export function distrustLog(directory: string): void {
  try {
    const log = readLog(directory);
    if (log !== undefined) checkLog(directory, log, distrusted(log.checkpoint));
  } catch {
    // Where the log fails as well, its own cache has the word at least; that there is doubt is told anyway.
  }
}

/** A checkpoint of what the data file holds now, to be used once that is on disk. */
export function checkpointOf(fd: number, incarnation: string): Checkpoint {
  const cache = cacheOf(fd);
  if (cache === undefined) return { head: '', incarnation };
  const head = newestHead(fd);
  assert(head !== undefined, 'a file that is open has a head');
  return { head: head.toString('base64'), incarnation, cache };
}

/** The same checkpoint, with what came after it given up: only the log has that. Where LMDB waits for its pages, it has seen to them. */
export function distrusted(checkpoint: Checkpoint): Checkpoint {
  return checkpoint.cache === undefined ? checkpoint : { ...checkpoint, cache: NO_CACHE };
}

/** Whether a file holds more than the last checkpoint. Of another file, put in the place of the log's, nothing is known. */
function isAhead(fd: number, log: LogContent): boolean {
  const newest = newestHead(fd);
  if (newest !== undefined && transactionOf(newest) === transactionOf(headOf(log.checkpoint))) return false;
  return isOfFile(fd, log);
}

function isOfFile(fd: number, { checkpoint }: LogContent): boolean {
  const head = headOf(checkpoint);
  const newest = newestHead(fd);
  // The checkpoint's head was on disk before it counted: what has less is an older copy, in which its pages are others.
  if (newest !== undefined && transactionOf(newest) < transactionOf(head)) return false;
  const found = valueUnder(fd, head, TABLE_OF_META, META.incarnation);
  return found?.toString().endsWith(checkpoint.incarnation) ?? false;
}

function headOf({ head }: Checkpoint): Buffer {
  return Buffer.from(head, 'base64');
}

function withFile<T>(path: string, mode: string, use: (fd: number) => T): T {
  const fd = openSync(path, mode);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
