import { asError, type ErrorCode } from '../base/index.js';

/** What each exit code of the command means; shown in docs/reference/cli.md. */
export const EXIT_CODES = {
  0: 'done',
  1: 'failed: each mistake is on standard error, with its place and what to do about it',
  2: 'wrong usage: an unknown command, flag or value',
  3: 'not now: the data directory or the database is in use or was taken over, a service that only reads has missed commits, the disk is full, or a service does not answer; the same call may work later',
  70: 'a service that ran was ended by a mistake in this program, whose stack is on standard error: it may be started again',
  130: 'interrupted',
} as const;

type ExitCode = keyof typeof EXIT_CODES;

export const CRASHED: ExitCode = 70;

const LATER: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'STORE_LOCKED',
  'STORE_FENCED',
  'DISK_FULL',
  'OVERLOADED',
  'NOT_READY',
  'DRAINING',
  'TIMEOUT',
  'TXN_ABORTED',
  'INDEX_BUILDING',
  'CONNECTION_FAILED',
  'EVENT_GAP',
]);

/** The exit code that a failure ends with. */
export function exitCodeOf(error: unknown): ExitCode {
  return LATER.has(asError(error).code) ? 3 : 1;
}
