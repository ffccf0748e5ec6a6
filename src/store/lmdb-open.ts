import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { assert, GraphsteadError, internal, type Limits, makeLimits, makePrivateFolder } from '../base/index.js';
import { Checkpoints } from './checkpoints.js';
import type { Store } from './contract.js';
import { DiskGuard } from './disk.js';
import { openFailure, storeFailure } from './failure.js';
import { nothingThere, unfinishedCopies } from './lmdb-copy.js';
import { DATA_FILE, type LmdbEnv, openEnv, openToRead } from './lmdb-env.js';
import { corrupt } from './lmdb-head.js';
import { WriteHold } from './lmdb-hold.js';
import { checkFormat, type FileMeta, raiseEpoch, readMeta, versionOf } from './lmdb-meta.js';
import { makeDataFile } from './lmdb-new.js';
import { LmdbStore } from './lmdb-store.js';
import { LockFile, writerLives } from './lock-file.js';
import { WriteMark, whileNoneWrites } from './open-gate.js';
import { Place } from './place.js';
import { hasLog, missingBatches, readLog } from './redo-log.js';
import { checkLeft, logOfLost, rollBack } from './roll-back.js';
import { syncName } from './sync-file.js';

// Address space costs nothing until it is used; a map that need not grow never has to be mapped again under readers.
const MAP_SIZES = [64 * 2 ** 30, 2 ** 30, undefined];

export interface LmdbStoreOptions {
  readonly limits?: Limits;
  /** opens beside a writer, and never writes */
  readonly readOnly?: boolean;
  /** opens although another process seems to write; that one is fenced from then on */
  readonly takeOver?: boolean;
  /** bytes of address space to begin with, for tests of its growth */
  readonly mapSize?: number;
  /** free bytes of a volume, for tests of a full disk */
  readonly freeBytes?: (directory: string) => number;
}

/**
 * Opens a data directory, and creates it when it is missing. A file of a newer minor format opens read-only.
 * Throws STORE_LOCKED, STORE_FORMAT, NOT_FOUND (read-only, and nothing there), CONFIG (no folder, or not ours to write),
 * DISK_FULL, STORE_CORRUPT.
 */
export async function openLmdbStore(directory: string, options: LmdbStoreOptions = {}): Promise<Store> {
  const limits = options.limits ?? makeLimits();
  const path = resolve(directory);
  await putBack(path);
  // A batch in flight stands in the log before LMDB has it: one that only reads would take over to put it in.
  const { writable, whole } = await whileNoneWrites(path, () => probe(path, limits)).catch((thrown: unknown) => {
    throw storeFailure(thrown, `opening ${path} failed`);
  });
  if (writable && !options.readOnly) return await openToWrite(path, limits, options);
  if (writable && !whole) await makeWhole(path, limits);
  return await openReadOnly(path, limits);
}

/** The data file as the last checkpoint left it: what came after it is in the log, and is put in by who opens it to write. */
async function putBack(path: string): Promise<void> {
  try {
    if (logOfLost(path) !== undefined) await whileNoneWrites(path, () => rollBack(path));
  } catch (thrown) {
    throw storeFailure(thrown, `bringing ${path} back to where it was when the power went failed`);
  }
}

async function openToWrite(path: string, limits: Limits, options: LmdbStoreOptions): Promise<Store> {
  const disk = new DiskGuard(path, limits.diskReserve, options.freeBytes);
  const lock = takeDirectory(path, options.takeOver ?? false, disk);
  let env: LmdbEnv | undefined;
  let file: FileHandle | undefined;
  let checkpoints: Checkpoints | undefined;
  let mark: WriteMark | undefined;
  let hold: WriteHold | undefined;
  try {
    const opened = await whileNoneWrites(path, () => openWritable(path, limits, options.mapSize));
    ({ env, hold } = opened);
    const { meta } = opened;
    file = await open(join(path, DATA_FILE), 'r+');
    const place = await Place.of(join(path, DATA_FILE), file);
    checkpoints = await Checkpoints.begin({ env, file, directory: path, meta });
    mark = new WriteMark(path);
    await syncName(path);
    await disk.layBallast(limits.ballastBytes);
    return new LmdbStore({ env, meta, limits, place, writer: { disk, lock, mark, hold, checkpoints, file } });
  } catch (thrown) {
    lock.release();
    mark?.close();
    await checkpoints?.stop();
    checkpoints?.redo.close();
    await hold?.close();
    await env?.root.close();
    await file?.close();
    throw openFailure(thrown, path);
  }
}

/** Brings into the data file what a power cut took from it; a writer that lives does so itself. */
async function makeWhole(path: string, limits: Limits): Promise<void> {
  try {
    await (await openToWrite(path, limits, {})).close();
  } catch (thrown) {
    if (!(thrown instanceof GraphsteadError) || thrown.code !== 'STORE_LOCKED') throw thrown;
  }
}

function takeDirectory(path: string, takeOver: boolean, disk: DiskGuard): LockFile {
  try {
    makePrivateFolder(path);
    // Beforehand: a sync that failed for want of room must not be asked for again.
    if (!writerLives(path)) disk.makeRoomForStart();
    return new LockFile(path, takeOver);
  } catch (thrown) {
    throw storeFailure(thrown, `opening ${path} failed`);
  }
}

/** What the file says of itself, without touching it: whether this program may write it, and whether the last batch is in it. */
async function probe(path: string, limits: Limits): Promise<{ readonly writable: boolean; readonly whole: boolean }> {
  const env = await openEnv(path, { readOnly: true, maxReaders: limits.readers });
  try {
    const meta = env && readMeta(env);
    if (env === undefined || meta === undefined) {
      await assertNew(path);
      return { writable: true, whole: true };
    }
    return { ...checkFormat(meta), whole: missingBatches(readLog(path), meta, versionOf(env)).length === 0 };
  } finally {
    await env?.root.close();
  }
}

/** A process that died while it created the file leaves an empty one; a log came only when something stood in it. */
async function assertNew(path: string): Promise<void> {
  const file = join(path, DATA_FILE);
  if (existsSync(path) && hasLog(path)) {
    const flaw = existsSync(file) ? 'it holds no store' : 'it is not there';
    throw corrupt(file, `${flaw}, though the log of one stands beside it`);
  }
  const [unfinished] = await unfinishedCopies(path);
  if (unfinished === undefined) return;
  throw new GraphsteadError('CONFIG', `${path} holds no store, but a copy that was not finished: ${unfinished}`, {
    fix: 'Run the backup or the restore into this folder again; or remove what is unfinished, to begin without data.',
  });
}

async function openReadOnly(path: string, limits: Limits): Promise<Store> {
  const env = await openToRead(path, limits.readers);
  const meta = env && readMeta(env);
  if (env === undefined || meta === undefined) throw nothingThere(path);
  const file = await open(join(path, DATA_FILE), 'r');
  try {
    return new LmdbStore({ env, meta, limits, place: await Place.of(join(path, DATA_FILE), file) });
  } finally {
    await file.close();
  }
}

/** Opens the file and raises its epoch. The second handle is opened with it: while this process held LMDB's lock it would wait for itself. */
async function openWritable(
  path: string,
  limits: Limits,
  mapSize?: number,
): Promise<{ readonly env: LmdbEnv; readonly hold: WriteHold; readonly meta: FileMeta }> {
  await makeDataFile(path);
  const env = await openMapped(path, limits, mapSize);
  try {
    // A killed writer's thread may still write a checkpoint that it had under way. As long as it can, the process has its locks, and
    // LMDB its readers, so that the pages of that checkpoint stay. Once LMDB has forgotten them, nothing comes after what is written here.
    const log = await checkLeft(path, readMeta(env));
    const meta = raiseEpoch(env, (before, version) => missingBatches(log, before, version));
    return { env, meta, hold: new WriteHold(path) };
  } catch (thrown) {
    await env.root.close();
    throw thrown;
  }
}

async function openMapped(path: string, limits: Limits, mapSize?: number): Promise<LmdbEnv> {
  const sizes = mapSize === undefined ? MAP_SIZES : [mapSize];
  for (const [index, size] of sizes.entries()) {
    try {
      const env = await openEnv(path, { readOnly: false, maxReaders: limits.readers, mapSize: size });
      assert(env !== undefined, 'a writable file is created when missing');
      return env;
    } catch (thrown) {
      // A process whose address space is limited cannot map the larger sizes.
      if (index === sizes.length - 1 || !/ENOMEM|Cannot allocate|memory/i.test(String(thrown))) throw thrown;
    }
  }
  throw internal('no map size fits');
}
