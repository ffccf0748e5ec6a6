import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from './errors.js';

/** A process that a file names. */
export interface NamedProcess {
  readonly pid: number;
  readonly host: string;
  /** when that process began, as the system counts it: a reused pid is not taken for the named one */
  readonly started: string;
  /** which start of which system it began in; absent where the system does not say */
  readonly boot?: string;
  /** what it holds, where it was named with that */
  readonly holds?: string;
  /** undefined for one of another host, which cannot be asked */
  readonly lives?: boolean;
}

/** What names this process, with what it holds. */
export function nameOfThis(holds?: string): string {
  const started = startOf(process.pid);
  return `${JSON.stringify({ pid: process.pid, host: hostname(), started, boot: bootOfThis(), holds })}\n`;
}

/** No two machines have the same, whatever their names are; undefined where there is no /proc. */
export function bootOfThis(): string | undefined {
  return textOf('/proc/sys/kernel/random/boot_id').trim() || undefined;
}

/** The text of a file; empty for one that is gone, or was never there. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Whom a text names; undefined where it is half written. */
export function namedIn(text: string): NamedProcess | undefined {
  try {
    const found = JSON.parse(text) as NamedProcess;
    return found.host === hostname() ? { ...found, lives: lives(found) } : found;
  } catch {
    return undefined;
  }
}

function lives({ pid, started }: NamedProcess): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    if (codeOf(thrown) !== 'EPERM') return false;
  }
  return startOf(pid) === started;
}

/**
 * Start time of a process from /proc; empty where there is none. A process that has ended and whose parent has not asked
 * how (the first process of a container often never does) still stands there: it holds nothing any more.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? 'ended' : fields[18];
  } catch {
    return '';
  }
}
