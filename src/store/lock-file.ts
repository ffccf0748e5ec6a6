import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf, GraphsteadError } from '../base/index.js';

const LOCK_FILE = 'writer.json';

/** A process that a file names. */
export interface Named {
  readonly pid: number;
  readonly host: string;
  /** when that process began, as the system counts it: a reused pid is not taken for the named one */
  readonly started: string;
  /** undefined for one of another host, which cannot be asked */
  readonly lives?: boolean;
}

/** What names this process. */
export function nameOfThis(): string {
  return `${JSON.stringify({ pid: process.pid, host: hostname(), started: startOf(process.pid) })}\n`;
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
export function named(text: string): Named | undefined {
  try {
    const found = JSON.parse(text) as Named;
    return found.host === hostname() ? { ...found, lives: lives(found) } : found;
  } catch {
    return undefined;
  }
}

/** Names the writing process in the directory. It only makes the message friendlier; the epoch is what fences. */
export class LockFile {
  readonly #path: string;

  /** Throws STORE_LOCKED while the process that is named there lives, unless `takeOver`. */
  constructor(directory: string, takeOver: boolean) {
    this.#path = join(directory, LOCK_FILE);
    const writer = this.#read();
    // one of another host cannot be asked; the epoch decides
    if (!takeOver && writer?.lives) throw locked(directory, writer);
    writeFileSync(this.#path, nameOfThis());
  }

  /** Removes the file when it still names this process. */
  release(): void {
    const writer = this.#read();
    if (writer?.pid === process.pid && writer.host === hostname()) rmSync(this.#path, { force: true });
  }

  #read(): Named | undefined {
    return named(textOf(this.#path));
  }
}

function lives({ pid, started }: Named): boolean {
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

function locked(directory: string, writer: Named): GraphsteadError {
  return new GraphsteadError('STORE_LOCKED', `${directory} is in use by process ${writer.pid}`, {
    fix: `Stop process ${writer.pid} first, or give this one another data directory.`,
  });
}
