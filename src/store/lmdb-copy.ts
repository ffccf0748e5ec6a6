import { existsSync } from 'node:fs';
import { mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { assert, codeOf, GraphsteadError, makeLimits, makePrivateFolder } from '../base/index.js';
import { copyFailure } from './failure.js';
import { DATA_FILE, type LmdbEnv, openEnv, openToRead } from './lmdb-env.js';
import type { Batch } from './contract.js';
import { checkFormat, putBatches, readMeta, renewIncarnation, versionOf } from './lmdb-meta.js';
import { missingBatches } from './redo-log.js';

/** Changes a copy, in the directory that it is made in, before anybody can open it. */
type Amend = (making: string) => Promise<void>;

/**
 * Puts a backup, or another copy of a data directory, into a new one under a new incarnation: with what a power cut took from its data
 * file and its log has. Throws INVALID_REQUEST when there is a store already, NOT_FOUND when the backup is none, STORE_FORMAT, and what
 * `amend` throws; then the directory holds no store.
 */
export async function restoreLmdbStore(backup: string, directory: string, amend?: Amend): Promise<void> {
  const limits = makeLimits();
  const target = resolve(directory);
  refuseStoreIn(target);
  const from = resolve(backup);
  const source = await openToRead(from, limits.readers);
  if (source === undefined) throw nothingThere(backup);
  try {
    const meta = readMeta(source);
    if (meta === undefined) throw nothingThere(backup);
    checkFormat(meta);
    await copyEnv(source, target, { amend, missing: (version) => missingBatches(from, meta.epoch, version) });
  } finally {
    await source.root.close();
  }
}

/** Throws INVALID_REQUEST when a directory holds a store. */
export function refuseStoreIn(directory: string): void {
  if (!existsSync(join(directory, DATA_FILE))) return;
  throw new GraphsteadError('INVALID_REQUEST', `${directory} holds a store already`, {
    fix: 'Name a new directory for each copy.',
  });
}

/** Begins the names of folders that copies are made in. */
const UNFINISHED = 'unfinished-copy-';

/**
 * Compact copy that opens as a store of its own: new incarnation, on disk when this returns. Half of one never has a store's
 * name, wherever the process ends, and is taken away by the next copy to the same place. Answers with the version that it holds.
 */
export async function copyEnv(
  env: LmdbEnv,
  target: string,
  {
    amend,
    missing = () => [],
  }: { readonly amend?: Amend; readonly missing?: (version: number) => readonly Batch[] } = {},
): Promise<number> {
  let making: string | undefined;
  try {
    makePrivateFolder(target);
    for (const left of await unfinishedCopies(target)) await rm(left, { recursive: true, force: true });
    making = await mkdtemp(join(target, UNFINISHED));
    const file = join(making, DATA_FILE);
    await env.root.backup(file, true);
    const copy = await openEnv(making, { readOnly: false, maxReaders: 8 });
    assert(copy !== undefined, 'a copy opens');
    copy.meta.transactionSync(() => putBatches(copy, missing(versionOf(copy))));
    const version = versionOf(copy);
    renewIncarnation(copy);
    await copy.root.close();
    await amend?.(making);
    await syncFile(file);
    refuseStoreIn(target); // another copy may have come first
    await rename(file, join(target, DATA_FILE));
    await rm(making, { recursive: true, force: true });
    await syncDirectory(target);
    await syncName(target);
    return version;
  } catch (thrown) {
    if (making !== undefined) await rm(making, { recursive: true, force: true });
    throw copyFailure(thrown, `the copy to ${target} failed`, target);
  }
}

/** Folders in a directory that hold half of a copy. */
export async function unfinishedCopies(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.startsWith(UNFINISHED)).map((name) => join(directory, name));
}

/** NOT_FOUND: nothing to read. */
export function nothingThere(path: string): GraphsteadError {
  return new GraphsteadError('NOT_FOUND', `${path} holds no store`);
}

/** Brings a file, or a directory's names, to disk. */
async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

// Without it a new file's name may be lost with the power although its content is on disk.
export const syncDirectory = syncFile;

/**
 * Brings the name of a directory to disk, where this user may read the one that it stands in: in /home or /srv of some machines
 * one may not, and who made it there has done so.
 */
export async function syncName(directory: string): Promise<void> {
  try {
    await syncDirectory(dirname(directory));
  } catch (thrown) {
    if (codeOf(thrown) !== 'EACCES') throw thrown;
  }
}
