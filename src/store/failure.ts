import { asError, GraphsteadError } from '../base/index.js';

// Errors of the file system and of LMDB that mean that there is no room: disk, quota, file size limit, process limit.
const NO_ROOM = /ENOSPC|EDQUOT|EFBIG|no space left|file too large|quota exceeded|MDB_MAP_FULL/i;
const NO_ROOM_ERRNO = new Set([27, 28, 122]);
// The directory belongs to somebody else, is mounted read-only, or is none.
const NOT_OURS = /EACCES|EPERM|EROFS|permission denied|read-only file system/i;
/** The path is none that can hold data, and what to do about it. */
const NO_PLACE: readonly (readonly [RegExp, string])[] = [
  [/ENOTDIR|EEXIST|not a directory/i, 'Move away the file that stands where a folder should be'],
  // as of what the system shows as files
  [/ENOENT.* mkdir /, 'No folder can be made there: make it yourself'],
  [/ENAMETOOLONG/, 'Shorten the path'],
  [/ELOOP/, 'Mend the symbolic links, which lead to each other'],
];
const EIO = 5;
const CUT_SHORT = 'the write was cut short: no room, a quota, or a failing disk';
const CORRUPT = /MDB_CORRUPTED|MDB_PAGE_NOTFOUND|MDB_PANIC|MDB_INVALID|MDB_BAD_TXN/;

/** All processes that have the file open share so many readers as the first of them asked for. */
const NO_READER = /MDB_READERS_FULL/;

/** What helps where files are written: for want of room, and where the folder is not ours to write. */
interface Advice {
  readonly room: string;
  readonly other: string;
}

const DATA: Advice = {
  room: 'Free space on the volume of the data directory, or drop data; reads go on meanwhile. On a small volume, set limits.diskReserve lower.',
  other: 'choose another one with --data',
};

/** An error of the store below, told with our codes: DISK_FULL, STORE_CORRUPT, CONFIG, or what `asError` makes of it. */
export function storeFailure(thrown: unknown, action: string): GraphsteadError {
  return failureOf(thrown, action, DATA);
}

/** The same for a start, whose first transaction LMDB may find half the room for: DISK_FULL, as in `writeFailure`. */
export function openFailure(thrown: unknown, path: string): GraphsteadError {
  const action = `opening ${path} failed`;
  return errnoOf(thrown) === EIO ? diskFull(`${action}: ${CUT_SHORT}`) : failureOf(thrown, action, DATA);
}

/** The same for a backup or an export, which has a folder of its own. One that was cut short is DISK_FULL, as in `writeFailure`. */
export function copyFailure(thrown: unknown, action: string, folder: string): GraphsteadError {
  const advice = {
    room: `Free space on the volume of ${folder}, or name a folder on another one.`,
    other: 'name another one',
  };
  if (!(thrown instanceof GraphsteadError) && errnoOf(thrown) === EIO)
    return diskFull(`${action}: ${CUT_SHORT}`, advice);
  return failureOf(thrown, action, advice);
}

function failureOf(thrown: unknown, action: string, advice: Advice): GraphsteadError {
  if (thrown instanceof GraphsteadError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = errnoOf(thrown);
  if (NO_ROOM.test(message) || (code !== undefined && NO_ROOM_ERRNO.has(code)))
    return diskFull(`${action}: ${message}`, advice);
  if (NO_READER.test(message))
    return new GraphsteadError('OVERLOADED', `${action}: ${message}`, {
      fix: 'Try again, or stop processes that read the same data directory. Where there are to be so many, stop all of them, and set limits.readers higher for the one that writes.',
      cause: thrown,
    });
  if (CORRUPT.test(message)) return damaged(`${action}: ${message}`, thrown);
  const noPlace = NO_PLACE.find(([told]) => told.test(message))?.[1];
  if (noPlace !== undefined || NOT_OURS.test(message)) {
    const user = process.getuid === undefined ? 'this user' : `the user with id ${process.getuid()}`;
    const permit = /EROFS|read-only/i.test(message)
      ? 'Mount its volume for writing'
      : `Let ${user} write to that folder (chown)`;
    return new GraphsteadError('CONFIG', `${action}: ${message}`, {
      fix: `${noPlace ?? permit}, or ${advice.other}.`,
      cause: thrown,
    });
  }
  const { code: other, message: reason, fix } = asError(thrown);
  return new GraphsteadError(other, `${action}: ${reason}`, { fix, cause: thrown });
}

/**
 * A write that did not land. LMDB tells a write that was cut short for want of room as an input/output error, as it does
 * a failing disk: both answer DISK_FULL, since both end all writes and leave reads alone. So does a directory that has
 * been taken from us: systems mount a volume read-only when its disk fails.
 */
export function writeFailure(thrown: unknown): GraphsteadError {
  if (errnoOf(thrown) === EIO) return diskFull(CUT_SHORT);
  const failure = storeFailure(thrown, 'the write failed');
  return failure.code === 'CONFIG' ? noMoreWrites(failure) : failure;
}

/** Whoever sent the write has made no mistake, and it may be taken later: it is not to be told as one of a start is. */
function noMoreWrites({ message, cause }: GraphsteadError): GraphsteadError {
  return new GraphsteadError('DISK_FULL', message, {
    fix: "Look in the system's log why the data directory can be written no more, and mend that: a volume is mounted read-only when its disk fails. Reads go on meanwhile.",
    cause,
  });
}

/** Where what is on disk is not known any more, so that nothing more is written by this process. */
export function inDoubt(thrown: unknown): GraphsteadError {
  const { code, message } = writeFailure(thrown);
  return new GraphsteadError(code, `${message}; nothing more is written until the data directory is opened anew`, {
    fix: 'See that the disk is sound and has room, then stop the service and start it again: what was acknowledged comes from the log. Reads go on meanwhile.',
    cause: thrown,
  });
}

/** The batch that met it is in the data file, and the log could not be told that it is not to count. */
export function unknownFate({ message, fix, cause }: GraphsteadError): GraphsteadError {
  return new GraphsteadError('OUTCOME_UNKNOWN', `${message}; whether this write stands is seen then`, { fix, cause });
}

// MDB_NOTFOUND, MDB_BAD_VALSIZE
const SLIPS: ReadonlySet<unknown> = new Set([-30798, -30781]);

/**
 * Whether LMDB has lost its way in its own list of free pages, which it reads while it writes it (mdb_page_alloc in lmdb's mdb.c). It
 * gives the transaction up, and reads the list anew with the next one.
 */
export function isSlip({ cause }: GraphsteadError): boolean {
  return SLIPS.has((cause as { readonly code?: unknown } | undefined)?.code);
}

/** `writeFailure` for lmdb, which tells the reason by a promise of its own, and that ends the process when it is not observed. */
export async function reasonOf(thrown: unknown): Promise<GraphsteadError> {
  const reason = (thrown as { commitError?: Promise<unknown> }).commitError;
  const cause = reason === undefined ? thrown : await reason.then(() => thrown).catch((error: unknown) => error);
  return writeFailure(cause);
}

/** STORE_CORRUPT with what to do about it. */
export function damaged(reason: string, cause?: unknown): GraphsteadError {
  return new GraphsteadError('STORE_CORRUPT', reason, {
    fix: 'Stop the service, keep the data directory, and restore the last backup: graphstead restore <BACKUP> --data <NEW DIR>.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** DISK_FULL with what to do about it. */
export function diskFull(reason: string, { room }: Advice = DATA): GraphsteadError {
  return new GraphsteadError('DISK_FULL', `no room on disk (${reason})`, { fix: room });
}

function errnoOf(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { code, errno } = thrown as { code?: unknown; errno?: unknown };
  if (typeof code === 'number') return Math.abs(code);
  return typeof errno === 'number' ? Math.abs(errno) : undefined;
}
