import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { assert, GraphsteadError, makeLimits, makePrivateFolder } from '../base/index.js';
import { storeFailure } from './failure.js';
import { DATA_FILE, type LmdbEnv, openEnv, openToRead } from './lmdb-env.js';
import { renewIncarnation } from './lmdb-meta.js';

/**
 * Puts a backup into a new data directory under a new incarnation. Throws INVALID_REQUEST when there is a store already,
 * NOT_FOUND when the backup is none.
 */
export async function restoreLmdbStore(backup: string, directory: string): Promise<void> {
  const limits = makeLimits();
  const target = resolve(directory);
  refuseStoreIn(target);
  const source = await openToRead(resolve(backup), limits.readers);
  if (source === undefined) throw nothingThere(backup);
  try {
    await copyEnv(source, target);
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

/** Compact copy that opens as a store of its own: new incarnation, on disk when this returns. */
export async function copyEnv(env: LmdbEnv, target: string): Promise<void> {
  makePrivateFolder(target);
  const file = join(target, DATA_FILE);
  try {
    await env.root.backup(file, true);
    const copy = await openEnv(target, { readOnly: false, maxReaders: 8 });
    assert(copy !== undefined, 'a copy opens');
    renewIncarnation(copy);
    await copy.root.close();
    await syncFile(file);
    await syncDirectory(target);
    await syncDirectory(dirname(target));
  } catch (thrown) {
    await rm(file, { force: true });
    throw storeFailure(thrown, `the copy to ${target} failed`);
  }
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
