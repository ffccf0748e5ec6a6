import { asError, GraphsteadError } from '../base/index.js';

// Errors of the file system and of LMDB that mean that there is no room: disk, quota, file size limit, process limit.
const NO_ROOM = /ENOSPC|EDQUOT|EFBIG|no space left|file too large|quota exceeded|MDB_MAP_FULL/i;
const NO_ROOM_ERRNO = new Set([27, 28, 122]);
// The directory belongs to somebody else, is mounted read-only, or is none.
const NOT_OURS = /EACCES|EPERM|EROFS|ENOTDIR|EEXIST|permission denied|not a directory|read-only file system/i;
const EIO = 5;
const CORRUPT = /MDB_CORRUPTED|MDB_PAGE_NOTFOUND|MDB_PANIC|MDB_INVALID|MDB_BAD_TXN/;

/** An error of the store below, told with our codes: DISK_FULL, STORE_CORRUPT, CONFIG, or what `asError` makes of it. */
export function storeFailure(thrown: unknown, action: string): GraphsteadError {
  if (thrown instanceof GraphsteadError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = errnoOf(thrown);
  if (NO_ROOM.test(message) || (code !== undefined && NO_ROOM_ERRNO.has(code)))
    return diskFull(`${action}: ${message}`);
  if (CORRUPT.test(message)) return damaged(`${action}: ${message}`, thrown);
  if (NOT_OURS.test(message)) {
    const user = process.getuid === undefined ? 'this user' : `the user with id ${process.getuid()}`;
    return new GraphsteadError('CONFIG', `${action}: ${message}`, {
      fix: `Let ${user} write to that folder (chown), or choose another one with --data.`,
      cause: thrown,
    });
  }
  const { code: other, message: reason, fix } = asError(thrown);
  return new GraphsteadError(other, `${action}: ${reason}`, { ...(fix === undefined ? {} : { fix }), cause: thrown });
}

/**
 * A write that did not land. LMDB tells a write that was cut short for want of room as an input/output error, as it does
 * a failing disk: both answer DISK_FULL, since both end all writes and leave reads alone.
 */
export function writeFailure(thrown: unknown): GraphsteadError {
  const failure = storeFailure(thrown, 'the write failed');
  return errnoOf(thrown) === EIO ? diskFull('the write was cut short: no room, a quota, or a failing disk') : failure;
}

/** STORE_CORRUPT with what to do about it. */
export function damaged(reason: string, cause?: unknown): GraphsteadError {
  return new GraphsteadError('STORE_CORRUPT', reason, {
    fix: 'Stop the service, keep the data directory, and restore the last backup: graphstead restore <BACKUP> --data <NEW DIR>.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** DISK_FULL with what to do about it. */
export function diskFull(reason: string): GraphsteadError {
  return new GraphsteadError('DISK_FULL', `no room on disk (${reason})`, {
    fix: 'Free space on the volume of the data directory, or drop data; reads go on meanwhile. On a small volume, set limits.diskReserve lower.',
  });
}

function errnoOf(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { code, errno } = thrown as { code?: unknown; errno?: unknown };
  if (typeof code === 'number') return Math.abs(code);
  return typeof errno === 'number' ? Math.abs(errno) : undefined;
}
