import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  write,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Batch } from './contract.js';
import { PAGE_SIZE } from './lmdb-env.js';
import { decodeSlot, encodeSlot, HEADER, type RedoEntry } from './redo-slot.js';

/** bytes of a batch at most; a larger one waits for the data file itself */
export const SLOT_BYTES = 256 * 1024;
/** One is whole while the other is written. */
const SLOTS = 2;

const NAME = /^redo-\d+\.log$/;
const nameOf = (epoch: number) => `redo-${epoch}.log`;
// Where the system can, a write returns when it is on disk: one way to its thread instead of two.
const SYNCED = process.platform === 'linux' ? constants.O_DSYNC : 0;

/**
 * The newest two batches, made durable while LMDB writes its pages. LMDB then need not wait for its meta page: after a
 * power cut its file is at the batch before at worst (MDB_NOMETASYNC in lmdb.h), and what is missing stands here. A file
 * for each epoch: a writer that was fenced writes into one that nobody reads. Its blocks exist from the start, so that no
 * write changes its size.
 */
export class RedoLog {
  readonly #fd: number;
  readonly #bytes = Buffer.allocUnsafeSlow(SLOT_BYTES);
  #slot = 0;
  /** whether the batch that was given last went to a slot at all */
  #written = false;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Creates the file of an epoch and removes older ones, whose batches must be on disk in the data file by now. */
  static async create(directory: string, epoch: number): Promise<RedoLog> {
    const path = join(directory, nameOf(epoch));
    const file = await open(path, 'w', 0o600);
    try {
      // page by page: of what is written at once the system makes one page, and counts all of it for each later write
      const page = Buffer.alloc(PAGE_SIZE);
      for (let at = 0; at < SLOTS * SLOT_BYTES; at += PAGE_SIZE) writeSync(file.fd, page, 0, PAGE_SIZE, at);
      await file.sync();
    } finally {
      await file.close();
    }
    for (const name of readdirSync(directory)) {
      if (NAME.test(name) && name !== nameOf(epoch)) rmSync(join(directory, name), { force: true });
    }
    return new RedoLog(openSync(path, constants.O_RDWR | SYNCED));
  }

  /** Whether the batch is on disk: not when it is too large for a slot, or the write failed. Never rejects. */
  async write(batch: Batch, previous: number): Promise<boolean> {
    const length = encodeSlot(this.#bytes, batch, previous);
    this.#written = length !== undefined;
    if (length === undefined) return false;
    this.#slot = (this.#slot + 1) % SLOTS;
    return await this.#put(length);
  }

  /**
   * Forgets the batch that was given last: the store refused it. Answers whether that is on disk. A write that failed may
   * have left a whole entry all the same; a batch that was too large left none.
   */
  async forget(): Promise<boolean> {
    if (!this.#written) return true;
    this.#bytes.fill(0, 0, HEADER);
    return await this.#put(HEADER);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #put(length: number): Promise<boolean> {
    return new Promise((resolve) => {
      write(this.#fd, this.#bytes, 0, length, this.#slot * SLOT_BYTES, (error, written) => {
        if (error !== null || written < length) resolve(false);
        else if (SYNCED !== 0) resolve(true);
        else fdatasync(this.#fd, (failed) => resolve(failed === null));
      });
    });
  }
}

/** Whether a log of any epoch stands in a directory. */
export function hasLog(directory: string): boolean {
  return readdirSync(directory).some((name) => NAME.test(name));
}

/** The batches that a store of this epoch lacks at `version`, in order. Of two for one version the earlier was refused. */
export function missingBatches(directory: string, epoch: number, version: number): RedoEntry[] {
  const entries = readRedo(join(directory, nameOf(epoch)));
  const missing: RedoEntry[] = [];
  for (let at = version; ; at = missing[missing.length - 1].version) {
    const next = entries.filter(({ previous }) => previous === at).sort((a, b) => b.version - a.version)[0];
    if (next === undefined) return missing;
    missing.push(next);
  }
}

function readRedo(path: string): RedoEntry[] {
  if (!existsSync(path)) return [];
  const file = readFileSync(path);
  const slots = Array.from({ length: SLOTS }, (_, i) => file.subarray(i * SLOT_BYTES, (i + 1) * SLOT_BYTES));
  return slots.map(decodeSlot).filter((entry) => entry !== undefined);
}
