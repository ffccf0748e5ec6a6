import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { GraphsteadError } from '../base/index.js';

const LOCK_FILE = 'writer.json';

interface Writer {
  readonly pid: number;
  readonly host: string;
  /** when that process began, as the system counts it: a reused pid is not taken for the writer */
  readonly started: string;
}

/** Names the writing process in the directory. It only makes the message friendlier; the epoch is what fences. */
export class LockFile {
  readonly #path: string;

  /** Throws STORE_LOCKED while the process that is named there lives, unless `takeOver`. */
  constructor(directory: string, takeOver: boolean) {
    this.#path = join(directory, LOCK_FILE);
    const writer = this.#read();
    if (!takeOver && writer !== undefined && lives(writer)) throw locked(directory, writer);
    const me: Writer = { pid: process.pid, host: hostname(), started: startOf(process.pid) };
    writeFileSync(this.#path, `${JSON.stringify(me)}\n`);
  }

  /** Removes the file when it still names this process. */
  release(): void {
    const writer = this.#read();
    if (writer?.pid === process.pid && writer.host === hostname()) rmSync(this.#path, { force: true });
  }

  #read(): Writer | undefined {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as Writer;
    } catch {
      return undefined; // absent, or half written by a process that died
    }
  }
}

function lives(writer: Writer): boolean {
  if (writer.host !== hostname()) return false; // cannot be asked; the epoch decides
  try {
    process.kill(writer.pid, 0);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startOf(writer.pid) === writer.started;
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

function locked(directory: string, writer: Writer): GraphsteadError {
  return new GraphsteadError('STORE_LOCKED', `${directory} is in use by process ${writer.pid}`, {
    fix: `Stop process ${writer.pid} first, or give this one another data directory.`,
  });
}
