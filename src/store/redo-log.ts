import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  write,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../base/index.js';
import type { Batch } from './contract.js';
import { type CheckpointRecord, decodeCheckpoint, encodeCheckpoint } from './checkpoint-record.js';
import { damaged } from './failure.js';
import { PAGE_SIZE } from './lmdb-env.js';
import { checkFormat } from './lmdb-meta.js';
import { decodeBatch, encodeSlot, endOf, entryIn, HEADER, type RedoEntry } from './redo-slot.js';
import { syncDirectory } from './sync-file.js';

/** bytes of a batch at most; a larger one waits for the data file itself */
export const SLOT_BYTES = 256 * 1024;
/** bytes of one half: a page with a checkpoint, then batches, each from the start of a page */
export const HALF_BYTES = 1024 * 1024;
/** One is whole while the other is written. */
const HALVES = 2;
const LOG_BYTES = HALVES * HALF_BYTES;
/**
 * Batches in a half: each leaves LMDB an entry in its list of free pages that it cannot use before the next checkpoint, and a long
 * list is where it goes wrong (`isSlip`). A sync for so many costs little.
 */
const HALF_BATCHES = 32;

/** looks at a directory in which another process replaces the log meanwhile */
const LOOKS = 10;

const NAME = /^redo-(\d+)\.log$/;
/** as two may make theirs at once, each under a name of its own */
const unfinishedOf = (epoch: number) => `redo-unfinished-${epoch}.log`;
const ANY = /^redo-(unfinished-)?\d+\.log$/;
const nameOf = (epoch: number) => `redo-${epoch}.log`;
// Where the system can, a write returns when it is on disk: one way to its thread instead of two.
const SYNCED = process.platform === 'linux' ? constants.O_DSYNC : 0;

/** What a checkpoint says, but for its place in their order. */
export type Checkpoint = Omit<CheckpointRecord, 'sequence' | 'format'>;

/**
 * The batches since the last checkpoint, each on disk before anybody hears of it, so that LMDB need not wait for the disk at all.
 * What it wrote since then may be lost with the power; then the checkpoint's head counts again, and the batches are put in anew. A file
 * for each epoch: a writer that was fenced writes into one that nobody reads. Its blocks exist from the start, so that no
 * write changes its size.
 */
export class RedoLog {
  readonly #fd: number;
  readonly #bytes = Buffer.allocUnsafeSlow(SLOT_BYTES);
  #half = 0;
  /** where the next batch goes, in the file */
  #next = PAGE_SIZE;
  /** batches in this half */
  #count = 0;
  /** where the batch stands that was given last; undefined where it went to no slot at all */
  #last: number | undefined;
  #sequence = 0;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Creates the file of an epoch, which has its name once it is on disk, and removes all others, whose batches must be on disk in the
   * data file by now.
   * @param isLatest whether no other epoch has begun since: that one's log holds what was acknowledged
   */
  static async create(
    directory: string,
    epoch: number,
    checkpoint: Checkpoint,
    isLatest: () => boolean = () => true,
  ): Promise<RedoLog> {
    await layLog(directory, epoch, checkpoint, LOG_BYTES);
    // An epoch begins before its log: where none has begun by now, none that is listed here is of a later one.
    const others = othersIn(directory, epoch);
    if (isLatest()) for (const name of others) rmSync(join(directory, name), { force: true });
    return new RedoLog(openSync(join(directory, nameOf(epoch)), constants.O_RDWR | SYNCED));
  }

  /** Whether the half in use may have no room for another batch. */
  get isFull(): boolean {
    return this.#count >= HALF_BATCHES || this.#next + SLOT_BYTES > (this.#half + 1) * HALF_BYTES;
  }

  /** What comes goes to the other half, whose batches must stand behind a checkpoint: in front of the one in use. */
  turn(): void {
    this.#half = (this.#half + 1) % HALVES;
    this.#next = this.#half * HALF_BYTES + PAGE_SIZE;
    this.#count = 0;
    this.#last = undefined;
  }

  /** Lets a checkpoint of the moment of the last `turn` count, once it is on disk. Rejects where the write fails. */
  async check(checkpoint: Checkpoint): Promise<void> {
    const page = pageOf({ ...checkpoint, sequence: ++this.#sequence });
    await putOn(this.#fd, page, PAGE_SIZE, this.#half * HALF_BYTES);
  }

  /** Whether the batch is on disk: not when it is too large for a slot, or the write failed. Never rejects. */
  async write(batch: Batch, previous: number): Promise<boolean> {
    const length = encodeSlot(this.#bytes, batch, previous);
    this.#last = length === undefined ? undefined : this.#next;
    if (length === undefined) return false;
    this.#count++;
    this.#next += onPages(length);
    return await this.#put(length);
  }

  /**
   * Forgets the batch that was given last: the store refused it. Answers whether that is on disk. A write that failed may
   * have left a whole entry all the same; a batch that was too large left none.
   */
  async forget(): Promise<boolean> {
    if (this.#last === undefined) return true;
    this.#bytes.fill(0, 0, HEADER);
    this.#next = this.#last;
    return await this.#put(HEADER);
  }

  close(): void {
    closeSync(this.#fd);
  }

  async #put(length: number): Promise<boolean> {
    try {
      await putOn(this.#fd, this.#bytes, length, this.#last ?? this.#next);
      return true;
    } catch {
      return false;
    }
  }
}

/** The file of an epoch, with its name once it is on disk; its blocks exist up to `bytes`. */
async function layLog(directory: string, epoch: number, checkpoint: Checkpoint, bytes: number): Promise<void> {
  const unfinished = join(directory, unfinishedOf(epoch));
  const file = await open(unfinished, 'w', 0o600);
  try {
    // page by page: of what is written at once the system makes one page, and counts all of it for each later write
    const page = Buffer.alloc(PAGE_SIZE);
    for (let at = PAGE_SIZE; at < bytes; at += PAGE_SIZE) writeSync(file.fd, page, 0, PAGE_SIZE, at);
    writeSync(file.fd, pageOf({ ...checkpoint, sequence: 0 }), 0, PAGE_SIZE, 0);
    await file.truncate(LOG_BYTES);
    await file.sync();
  } catch (thrown) {
    rmSync(unfinished, { force: true }); // on a full disk it would take the room that is left
    throw thrown;
  } finally {
    await file.close();
  }
  renameSync(unfinished, join(directory, nameOf(epoch)));
  await syncDirectory(directory);
}

function othersIn(directory: string, epoch: number): readonly string[] {
  return readdirSync(directory).filter((name) => ANY.test(name) && name !== nameOf(epoch));
}

/**
 * Gives a data file that has no log one of a checkpoint alone, for its last epoch, in the place of logs of other files: they are gone for
 * good when this returns, so that none of a later epoch is taken for the file's own after a power cut.
 */
export async function layFirstLog(directory: string, epoch: number, checkpoint: Checkpoint): Promise<void> {
  await layLog(directory, epoch, checkpoint, PAGE_SIZE);
  const others = othersIn(directory, epoch);
  for (const name of others) rmSync(join(directory, name), { force: true });
  if (others.length > 0) await syncDirectory(directory);
}

/** bytes that a batch takes up to the page where the next one begins */
function onPages(length: number): number {
  return Math.ceil(length / PAGE_SIZE) * PAGE_SIZE;
}

function pageOf(record: Omit<CheckpointRecord, 'format'>): Buffer {
  const page = Buffer.alloc(PAGE_SIZE);
  encodeCheckpoint(page, record);
  return page;
}

/** Brings the first bytes of a buffer to disk. */
function putOn(fd: number, bytes: Buffer, length: number, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null) => (error === null ? resolve() : reject(error));
    write(fd, bytes, 0, length, at, (error, written) => {
      if (error !== null) reject(error);
      else if (written < length) reject(new Error(`EIO: ${written} of ${length} bytes of the log were written`));
      else if (SYNCED !== 0) resolve();
      else fdatasync(fd, done);
    });
  });
}

/** What stands in the log of a directory. */
export interface LogContent {
  readonly epoch: number;
  /** the last one that counts */
  readonly checkpoint: CheckpointRecord;
  /** with batches in no order, old ones too */
  readonly halves: readonly Buffer[];
}

/** The epochs of the logs in a directory, the latest first. */
function epochsIn(directory: string): readonly number[] {
  if (!existsSync(directory)) return [];
  const epochs = readdirSync(directory).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  return epochs.map(Number).sort((a, b) => b - a);
}

/** Whether a log of any epoch stands in a directory. */
export function hasLog(directory: string): boolean {
  return epochsIn(directory).length > 0;
}

/**
 * The log of the latest epoch that has one; undefined where there is none. Throws STORE_CORRUPT where it was cut short, or none of its
 * checkpoints can be read, for one of them was whole at every moment; STORE_FORMAT for that of a newer version.
 */
export function readLog(directory: string): LogContent | undefined {
  for (let look = 1; ; look++) {
    try {
      return latestLog(directory);
    } catch (thrown) {
      // One that has just begun removed what was listed a moment before; its own log is there by then.
      if (codeOf(thrown) !== 'ENOENT' || look === LOOKS) throw thrown;
    }
  }
}

/** What `use` makes of the log of a directory, which it may write to: begun anew where another process removed it meanwhile. */
export async function withLog<T>(directory: string, use: (log: LogContent | undefined) => Promise<T>): Promise<T> {
  for (let look = 1; ; look++) {
    try {
      return await use(latestLog(directory)); // which may be gone as well by the time it is read
    } catch (thrown) {
      if (codeOf(thrown) !== 'ENOENT' || look === LOOKS) throw thrown;
    }
  }
}

function latestLog(directory: string): LogContent | undefined {
  const [epoch] = epochsIn(directory);
  if (epoch === undefined) return undefined;
  const path = join(directory, nameOf(epoch));
  const file = readFileSync(path);
  // What is missing may be the last checkpoint, and the one before leads to pages that were used anew.
  if (file.length < LOG_BYTES)
    throw damaged(`the log ${path} was cut short: it has ${file.length} of ${LOG_BYTES} bytes`);
  const halves = halvesOf(file);
  const records = halves.map(decodeCheckpoint).filter((record) => record !== undefined);
  const [checkpoint] = records.sort((a, b) => b.sequence - a.sequence);
  if (checkpoint === undefined) throw damaged(`the log ${path} cannot be read: it holds no checkpoint`);
  checkFormat({ major: checkpoint.format, minor: 0 });
  return { epoch, checkpoint, halves };
}

function halvesOf(file: Buffer): readonly Buffer[] {
  return Array.from({ length: HALVES }, (_, i) => file.subarray(i * HALF_BYTES, (i + 1) * HALF_BYTES));
}

function entriesOf(half: Buffer): readonly RedoEntry[] {
  const entries: RedoEntry[] = [];
  for (let at = PAGE_SIZE; at < half.length; ) {
    const slot = half.subarray(at, at + SLOT_BYTES);
    const entry = entryIn(slot);
    if (entry === undefined) break;
    entries.push(entry);
    at += onPages(endOf(slot));
  }
  return entries;
}

/**
 * The batches that a store lacks at `version`, in order: none where the log is that of another one, or of an epoch before. Of two for
 * one version the earlier was refused.
 */
export function missingBatches(
  log: LogContent | undefined,
  { epoch, incarnation }: LogOwner,
  version: number,
): readonly Batch[] {
  if (log?.epoch !== epoch || log.checkpoint.incarnation !== incarnation) return [];
  const entries = log.halves.flatMap(entriesOf);
  const missing: RedoEntry[] = [];
  for (let at = version; ; at = missing[missing.length - 1].version) {
    const next = entries.filter(({ previous }) => previous === at).sort((a, b) => b.version - a.version)[0];
    if (next === undefined) return missing.map(decodeBatch);
    missing.push(next);
  }
}

/** Whose batches stand in a log. */
interface LogOwner {
  readonly epoch: number;
  readonly incarnation: string;
}

/** Lets another checkpoint count in a log whose writer is gone: it keeps its batches. */
export function checkLog(directory: string, { epoch, checkpoint, halves }: LogContent, next: Checkpoint): void {
  const half = decodeCheckpoint(halves[0])?.sequence === checkpoint.sequence ? 1 : 0;
  const page = pageOf({ ...next, sequence: checkpoint.sequence + 1 });
  const fd = openSync(join(directory, nameOf(epoch)), 'r+');
  try {
    writeSync(fd, page, 0, PAGE_SIZE, half * HALF_BYTES);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
