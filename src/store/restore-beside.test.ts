import type * as system from 'node:fs';
import { chmod, cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { assert, makeLimits } from '../base/index.js';
import type { Store } from './contract.js';
import { KeyWriter } from './key.js';
import { restoreLmdbStore } from './lmdb-copy.js';
import type * as environments from './lmdb-env.js';
import { openLmdbStore } from './lmdb-open.js';
import { tellsCaches } from './page-cache.js';
import { checkLog, readLog, RedoLog } from './redo-log.js';
import { logOfLost } from './roll-back.js';

// What a copy holds of a directory that another process writes to, or begins to write to, while the copy is made.

const lmdb = vi.hoisted(() => ({
  env: undefined as environments.LmdbEnv | undefined,
  /** run once, where a file is opened for writing */
  comes: undefined as (() => Promise<unknown>) | undefined,
}));

vi.mock('./lmdb-env.js', async (original) => {
  const real = await original<typeof environments>();
  const openEnv: typeof real.openEnv = async (path, options) => {
    const { comes } = lmdb;
    if (!options.readOnly) lmdb.comes = undefined;
    if (!options.readOnly) await comes?.();
    return (lmdb.env = await real.openEnv(path, options));
  };
  return { ...real, openEnv };
});

const files = vi.hoisted(() => ({ copied: undefined as (() => void) | undefined }));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof system>();
  const copyFileSync = (from: string, to: string) => {
    real.copyFileSync(from, to);
    files.copied?.();
  };
  return { ...real, copyFileSync };
});

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const keys = new KeyWriter('graph');
const apply = (store: Store, version: number) =>
  store.apply(
    { version, puts: [{ key: keys.uint(version).key(), value: Buffer.from(`${version}`) }] },
    { expectEpoch: store.epoch },
  );
let directory: string;
let live: string;
let restored: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graphstead-restoring-'));
  [live, restored] = [join(directory, 'live'), join(directory, 'restored')];
});
afterEach(async () => {
  lmdb.comes = files.copied = undefined;
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

async function batchesIn(path: string): Promise<number> {
  const store = await openLmdbStore(path, { limits, readOnly: true });
  const snapshot = store.snapshot();
  const { keys: found } = await snapshot.range({ ...new KeyWriter('graph').range(), keysOnly: true, limit: 1_000 });
  snapshot.release();
  await store.close();
  return found.length;
}

it('a batch that is refused a moment later is not in what is restored meanwhile', async () => {
  const writer = await openLmdbStore(live, { limits });
  const { env } = lmdb;
  assert(env !== undefined, 'the store was opened');
  await apply(writer, 1);
  let refuse: ((thrown: Error) => void) | undefined;
  vi.spyOn(env.meta, 'ifVersion').mockImplementationOnce(() => new Promise((_, reject) => (refuse = reject)));
  const write = vi.spyOn(RedoLog.prototype, 'write');
  let refused: Promise<unknown> | undefined;
  lmdb.comes = async () => {
    refused = expect(apply(writer, 2)).rejects.toMatchObject({ code: 'DISK_FULL' });
    await vi.waitFor(() => expect(write).toHaveBeenCalled());
    expect(await write.mock.results[0].value).toBe(true);
  };
  await restoreLmdbStore(live, restored);
  refuse?.(new Error('MDB_MAP_FULL'));
  await refused;
  await writer.close();
  expect(await batchesIn(restored)).toBe(1);
});

describe.runIf(tellsCaches)('of a directory whose data file may lack pages', () => {
  it('nothing is restored in part, where a writer begins while it is copied', async () => {
    const writer = await openLmdbStore(join(directory, 'original'), { limits });
    for (let version = 1; version <= 40; version++) await apply(writer, version);
    await cp(join(directory, 'original'), live, { recursive: true });
    await writer.close();
    for (const name of ['writer.json', 'writing']) await rm(join(live, name), { force: true });
    expect(logOfLost(live)).toBeDefined();
    let next: Promise<Store> | undefined;
    lmdb.comes = async () => await (next = openLmdbStore(live, { limits }));
    await restoreLmdbStore(live, restored);
    await (await next)?.close();
    expect(await batchesIn(restored)).toBe(40);
  });

  it('nor is a file taken that its writer goes on with while it is copied', async () => {
    const writer = await openLmdbStore(join(directory, 'original'), { limits });
    await apply(writer, 1);
    await cp(join(directory, 'original'), live, { recursive: true });
    await writer.close();
    for (const name of ['writer.json', 'writing']) await rm(join(live, name), { force: true });
    files.copied = () => {
      const log = readLog(live);
      assert(log !== undefined, 'there is a log');
      checkLog(live, log, log.checkpoint);
    };
    await expect(restoreLmdbStore(live, restored)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    files.copied = undefined;
    await restoreLmdbStore(live, restored);
    expect(await batchesIn(restored)).toBe(1);
  });

  it('that one may only read, what is restored can be written, also by who is no superuser', async () => {
    const writer = await openLmdbStore(join(directory, 'original'), { limits });
    await apply(writer, 1);
    await cp(join(directory, 'original'), live, { recursive: true });
    await writer.close();
    for (const name of ['writer.json', 'writing']) await rm(join(live, name), { force: true });
    await chmod(join(live, 'data.mdb'), 0o444);
    expect(logOfLost(live)).toBeDefined();
    await restoreLmdbStore(live, restored);
    expect((await stat(join(restored, 'data.mdb'))).mode & 0o600).toBe(0o600);
    expect(await batchesIn(restored)).toBe(1);
  });

  it('a writer that lives has all of it, though it names the cache otherwise', async () => {
    const writer = await openLmdbStore(live, { limits });
    for (let version = 1; version <= 40; version++) await apply(writer, version);
    const log = readLog(live);
    assert(log !== undefined, 'a store that is open has a log');
    checkLog(live, log, { ...log.checkpoint, cache: 'as a sandbox tells it' });
    expect(logOfLost(live)).toBeDefined();
    lmdb.comes = async () => {
      for (let version = 41; version <= 120; version++) await apply(writer, version);
    };
    await restoreLmdbStore(live, restored);
    expect(await batchesIn(restored)).toBeGreaterThanOrEqual(40);
    await writer.close();
  });
});
