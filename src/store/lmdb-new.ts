import { lstatSync, renameSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../base/index.js';
import { DATA_FILE, openEnv } from './lmdb-env.js';
import { hasContent } from './lmdb-head.js';
import { createMeta } from './lmdb-meta.js';
import { syncDirectory, syncFile } from './sync-file.js';

/** Begins the names of folders that new files are made in. */
const UNFINISHED = 'unfinished-store-';
const FEW_READERS = 8;

/**
 * Makes the data file of a new store where there is none. It has its name once it is on disk whole: what a power cut leaves of one
 * that was not could not be told from one that is damaged. Inside of `whileNoneWrites`.
 */
export async function makeDataFile(directory: string): Promise<void> {
  const path = join(directory, DATA_FILE);
  await clearUnfinished(directory);
  if (hasContent(path) || leadsElsewhere(path)) return;
  const making = await mkdtemp(join(directory, UNFINISHED));
  try {
    await fill(making);
    await syncFile(join(making, DATA_FILE));
    // another one may have lost its patience
    if (!hasContent(path)) renameSync(join(making, DATA_FILE), path);
    await syncDirectory(directory);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** A link that leads to no file yet: LMDB makes the file where it leads to. */
function leadsElsewhere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** What is left of starts that ended before. */
async function clearUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith(UNFINISHED)) await rm(join(directory, name), { recursive: true, force: true });
  }
}

async function fill(making: string): Promise<void> {
  const env = await openEnv(making, { readOnly: false, maxReaders: FEW_READERS });
  assert(env !== undefined, 'a writable file is created when missing');
  try {
    env.meta.transactionSync(() => createMeta(env));
  } finally {
    await env.root.close();
  }
}
