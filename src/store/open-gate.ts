import { closeSync, existsSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, GraphsteadError, type NamedProcess, namedIn, textOf } from '../base/index.js';
import { copied, writerOf } from './copied.js';

// LMDB notes, in memory that all its processes share, which transaction was the last one; and whoever opens the file sets
// that to what it has read from there a moment before, though another process may have committed meanwhile (mdb_env_open2).
// The next transaction then takes the place of the acknowledged one. So nobody opens while a batch is in flight, and no
// batch takes off while somebody opens. Both say so in a file of the directory before they look at the other's.
const SIGN = 'opening.json';
/** one byte, and who writes */
const MARK = 'writing';
const WRITES = '1';
const RESTS = '0';
const LOOK_MS = 1;
/** Longer than one opens, or a batch takes. */
const PATIENCE_MS = 5_000;
/** with one that cannot be asked whether it lives */
const LITTLE_PATIENCE_MS = 1_000;
/** Errors of a directory that is only to be read: LMDB then keeps no shared memory. */
const READ_ONLY: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** The writer's side. */
export class WriteMark {
  readonly #fd: number;
  readonly #sign: string;

  /** A file of its own: one that was fenced goes on with that from before. */
  constructor(directory: string) {
    const path = join(directory, MARK);
    rmSync(path, { force: true });
    writeFileSync(path, RESTS + writerOf(directory));
    this.#fd = openSync(path, 'r+');
    this.#sign = join(directory, SIGN);
  }

  /** Before a batch. A promise where somebody opens the file: the batch waits until that is over. */
  begin(): Promise<void> | undefined {
    this.#put(WRITES);
    return existsSync(this.#sign) ? this.#beginLater() : undefined;
  }

  async #beginLater(): Promise<void> {
    do {
      this.#put(RESTS);
      await taken(this.#sign);
      this.#put(WRITES);
    } while (existsSync(this.#sign));
  }

  /** The batch is on disk, or was refused. */
  end(): void {
    try {
      this.#put(RESTS);
    } catch {
      // who opens the file waits in vain, and says so; the batch is what it is
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #put(mark: string): void {
    writeSync(this.#fd, mark, 0);
  }
}

/** Opens the file of a directory while no batch is in flight. Throws STORE_LOCKED where one does not end. */
export async function whileNoneWrites<T>(directory: string, open: () => T | Promise<T>): Promise<T> {
  const sign = join(directory, SIGN);
  if (!existsSync(directory)) return open();
  const name = writerOf(directory);
  if (!(await putUp(sign, name))) return open();
  try {
    await untilItRests(directory);
    return await open();
  } finally {
    takeDown(sign, name);
  }
}

/** The own sign, and one that found no room for its name: one of another process stands there where that one did not wait. */
function takeDown(sign: string, name: string): void {
  if (['', name].includes(textOf(sign))) rmSync(sign, { force: true });
}

/** Whether the sign could be put up; waits for that of another. */
async function putUp(sign: string, name: string): Promise<boolean> {
  for (;;) {
    try {
      const fd = openSync(sign, 'wx');
      try {
        writeSync(fd, name);
      } catch {
        // A full disk is to be read all the same: a sign without a name counts for a while.
      } finally {
        closeSync(fd);
      }
      return true;
    } catch (thrown) {
      const code = codeOf(thrown);
      if (READ_ONLY.has(code)) return false;
      if (code !== 'EEXIST') throw thrown;
    }
    await taken(sign);
  }
}

/**
 * Waits until a sign is taken down, or takes it down where nobody will. Throws STORE_LOCKED where one that lives leaves it: it may be
 * about to bring the file to a slow disk, and who went on would write to what it takes for at rest.
 */
async function taken(sign: string): Promise<void> {
  for (let ms = 0; existsSync(sign); ms += LOOK_MS) {
    const holder = namedIn(textOf(sign));
    // that of a copy stays as it is
    if (holder?.lives && copied(dirname(sign), holder) !== undefined) rmSync(sign, { force: true });
    else if (ms < patienceWith(holder)) await pause(LOOK_MS);
    else if (holder?.lives) throw stillOpening(sign, holder);
    else rmSync(sign, { force: true });
  }
}

async function untilItRests(directory: string): Promise<void> {
  const path = join(directory, MARK);
  for (let ms = 0; ; ms += LOOK_MS) {
    const text = textOf(path);
    if (!text.startsWith(WRITES)) return;
    const writer = namedIn(text.slice(WRITES.length));
    // the mark of a copy stays as it is
    const copy = writer?.lives ? copied(directory, writer) : undefined;
    if (copy !== undefined) throw copy;
    if (ms >= patienceWith(writer)) {
      if (writer?.lives) throw busy(directory);
      return;
    }
    await pause(LOOK_MS);
  }
}

function patienceWith(holder: NamedProcess | undefined): number {
  if (holder?.lives === false) return 0;
  return holder?.lives ? PATIENCE_MS : LITTLE_PATIENCE_MS;
}

function stillOpening(sign: string, { pid }: NamedProcess): GraphsteadError {
  return new GraphsteadError(
    'STORE_LOCKED',
    `process ${pid} has been opening ${dirname(sign)} for more than ${PATIENCE_MS} ms`,
    { fix: `Try again: a slow disk takes its time; where process ${pid} stands still, stop it.` },
  );
}

function busy(directory: string): GraphsteadError {
  return new GraphsteadError('STORE_LOCKED', `a write to ${directory} has not ended for ${PATIENCE_MS} ms`, {
    fix: 'Try again; where the service stands still, stop it first.',
  });
}
