import { existsSync, statSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { makeLimits } from '../base/index.js';
import { restoreLmdbStore } from './lmdb-copy.js';
import { DATA_FILE } from './lmdb-env.js';
import { openLmdbStore } from './lmdb-open.js';

// What a power cut may leave is decided by what is on disk before which step: a name before its file is whole, a log that went
// before its batches stood in the data file.

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
let parent: string;
let directory: string;

beforeEach(async () => {
  parent = testFolder();
  directory = join(parent, 'data');
});

/** What was brought to disk while `work` ran, in order, by its path at the end; and whether `path` stood there then. */
async function synced(path: string, work: () => Promise<unknown>): Promise<readonly (readonly [string, boolean])[]> {
  const probe = await openFile(parent);
  const told: (readonly [number, boolean])[] = [];
  const sync = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, 'sync').mockImplementation(async function (
    this: typeof probe,
  ) {
    told.push([(await this.stat()).ino, existsSync(path)]);
  });
  try {
    await work();
  } finally {
    sync.mockRestore();
    await probe.close();
  }
  const paths = [parent, directory, join(directory, DATA_FILE), join(directory, 'redo-2.log')].filter(existsSync);
  const names = new Map(paths.map((one) => [statSync(one).ino, one.slice(parent.length)]));
  return told.map(([ino, stood]) => [names.get(ino) ?? 'another', stood]);
}

it('a start removes the log of the one before once the data file and the new log are on disk', async () => {
  await (await openLmdbStore(directory, { limits })).close();
  let close: (() => Promise<void>) | undefined;
  const order = await synced(join(directory, 'redo-1.log'), async () => {
    const store = await openLmdbStore(directory, { limits });
    close = () => store.close();
  });
  await close?.();
  expect(order).toEqual([
    ['/data/data.mdb', true],
    ['/data/redo-2.log', true],
    ['/data', true],
    ['', false],
  ]);
});

it('a copy is on disk before it has the name of a store', async () => {
  const backup = join(parent, 'backup');
  const store = await openLmdbStore(join(parent, 'live'), { limits });
  await store.backup(backup);
  await store.close();
  expect(await synced(join(directory, DATA_FILE), () => restoreLmdbStore(backup, directory))).toEqual([
    ['/data/data.mdb', false],
    ['/data', true],
    ['', true],
  ]);
});
