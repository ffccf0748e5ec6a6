import type * as files from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { assert, makeLimits } from '../base/index.js';
import type { Store } from './contract.js';
import { KeyWriter } from './key.js';
import type * as environments from './lmdb-env.js';
import { openLmdbStore } from './lmdb-open.js';
import { missingBatches, RedoLog } from './redo-log.js';

// A disk on which writes to the log fail. Only `write` with a callback is the log's: LMDB has its own way to the disk.
const disk = vi.hoisted(() => ({ fails: false, leavesBytes: false, cutsShort: false }));

type Written = (error: Error | null, written: number) => void;

vi.mock('node:fs', async (original) => {
  const real = await original<typeof files>();
  const write = (fd: number, bytes: Buffer, from: number, length: number, at: number, done: Written) => {
    const failed = () => done(Object.assign(new Error('i/o error'), { code: 'EIO' }), 0);
    if (disk.fails && !disk.leavesBytes) return failed();
    if (disk.cutsShort) return real.write(fd, bytes, from, length - 1, at, done);
    return real.write(fd, bytes, from, length, at, disk.fails ? failed : done);
  };
  return { ...real, write };
});

// the file that was opened to be written last
const lmdb = vi.hoisted(() => ({ env: undefined as environments.LmdbEnv | undefined }));

vi.mock('./lmdb-env.js', async (original) => {
  const real = await original<typeof environments>();
  const openEnv: typeof real.openEnv = async (...args) => (lmdb.env = await real.openEnv(...args));
  return { ...real, openEnv };
});

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const keys = new KeyWriter('graph');
const batch = (version: number) => ({
  version,
  puts: [{ key: keys.uint(version).key(), value: Buffer.from(`value ${version}`) }],
});
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graphstead-failing-'));
  disk.fails = disk.leavesBytes = disk.cutsShort = false;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

it.each(['fails', 'cutsShort'] as const)(
  'a batch that did not reach the log is acknowledged once the data file is on disk whole: %s',
  async (how) => {
    const store: Store = await openLmdbStore(directory, { limits });
    const file = await open(join(directory, 'probe'), 'w');
    const synced = vi.spyOn(Object.getPrototypeOf(file), 'datasync');
    await store.apply(batch(1), { expectEpoch: store.epoch });
    expect(synced).not.toHaveBeenCalled();
    disk[how] = true;
    await store.apply(batch(2), { expectEpoch: store.epoch });
    expect(synced).toHaveBeenCalledTimes(1);
    disk[how] = false;
    await store.apply(batch(3), { expectEpoch: store.epoch });
    expect(synced).toHaveBeenCalledTimes(1);
    await file.close();
    await store.close();
  },
);

it('where the data file cannot be brought to disk either, nothing more is written', async () => {
  const store: Store = await openLmdbStore(directory, { limits });
  const file = await open(join(directory, 'probe'), 'w');
  disk.fails = true;
  vi.spyOn(Object.getPrototypeOf(file), 'datasync').mockRejectedValue(Object.assign(new Error('i/o'), { code: 'EIO' }));
  await expect(store.apply(batch(1), { expectEpoch: store.epoch })).rejects.toThrow();
  disk.fails = false;
  await expect(store.apply(batch(2), { expectEpoch: store.epoch })).rejects.toThrow();
  await file.close();
  vi.restoreAllMocks();
  await store.close();
});

it('where a batch that LMDB refused may stand in the log for good, nothing more is written until it is opened anew', async () => {
  const store: Store = await openLmdbStore(directory, { limits });
  await store.apply(batch(1), { expectEpoch: store.epoch });
  assert(lmdb.env !== undefined, 'the store was opened');
  vi.spyOn(lmdb.env.meta, 'ifVersion').mockRejectedValueOnce(new Error('MDB_MAP_FULL'));
  disk.fails = disk.leavesBytes = true;
  await expect(store.apply(batch(2), { expectEpoch: store.epoch })).rejects.toMatchObject({ code: 'DISK_FULL' });
  disk.fails = false;
  await expect(store.apply(batch(3), { expectEpoch: store.epoch })).rejects.toMatchObject({ code: 'DISK_FULL' });
  await store.close();
});

it('a write that failed and left its bytes all the same is forgotten with its batch', async () => {
  const log = await RedoLog.create(directory, 1);
  expect(await log.write(batch(1), 0)).toBe(true);
  disk.fails = disk.leavesBytes = true;
  expect(await log.write(batch(2), 1)).toBe(false);
  const versions = () => missingBatches(directory, 1, 0).map(({ version }) => version);
  expect(versions()).toEqual([1, 2]);
  expect(await log.forget()).toBe(false);
  disk.fails = false;
  expect(await log.forget()).toBe(true);
  expect(versions()).toEqual([1]);
  log.close();
});
