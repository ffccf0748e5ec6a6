import { rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { GraphsteadError, type NamedProcess, namedIn, textOf } from '../base/index.js';
import { copied, writerOf } from './copied.js';

const LOCK_FILE = 'writer.json';

/** Names the writing process in the directory. It only makes the message friendlier; the epoch is what fences. */
export class LockFile {
  readonly #path: string;

  /** Throws STORE_LOCKED while the process that is named there lives, unless `takeOver`. */
  constructor(directory: string, takeOver: boolean) {
    this.#path = join(directory, LOCK_FILE);
    const writer = this.#read();
    // one of another host cannot be asked; the epoch decides
    if (!takeOver && writer?.lives) throw copied(directory, writer) ?? locked(directory, writer);
    writeFileSync(this.#path, writerOf(directory));
  }

  /** Removes the file when it still names this process. */
  release(): void {
    const writer = this.#read();
    if (writer?.pid === process.pid && writer.host === hostname()) rmSync(this.#path, { force: true });
  }

  #read(): NamedProcess | undefined {
    return namedIn(textOf(this.#path));
  }
}

/** Whether the process that writes to a directory can be seen to live. That of the original does not write to a copy. */
export function writerLives(directory: string): boolean {
  const writer = namedIn(textOf(join(directory, LOCK_FILE)));
  return writer?.lives === true && copied(directory, writer) === undefined;
}

function locked(directory: string, writer: NamedProcess): GraphsteadError {
  return new GraphsteadError('STORE_LOCKED', `${directory} is in use by process ${writer.pid}`, {
    fix: `Stop process ${writer.pid} first, or give this one another data directory.`,
  });
}
