import type * as system from 'node:fs';
import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, open as openFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { assert, GraphsteadError, makeLimits } from '../base/index.js';
import { Checkpoints } from './checkpoints.js';
import type { Store } from './contract.js';
import { KeyWriter } from './key.js';
import type * as environments from './lmdb-env.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { checkPages } from './lmdb-head.js';
import { openLmdbStore } from './lmdb-open.js';
import { tellsCaches } from './page-cache.js';
import { type Checkpoint, checkLog, readLog, RedoLog } from './redo-log.js';
import { logOfLost, rollBack } from './roll-back.js';

// What another process does with a directory while one that will write to it is still about to open it.

/** listed, and gone before it is read */
const files = vi.hoisted(() => ({
  removed: undefined as string | undefined,
  /** run once, while a start brings the data file to disk */
  syncing: undefined as (() => void) | undefined,
}));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof system>();
  const readdirSync = (path: string) => {
    const names = real.readdirSync(path);
    if (files.removed !== undefined) names.push(files.removed);
    files.removed = undefined;
    return names;
  };
  const fdatasyncSync = (fd: number) => {
    files.syncing?.();
    files.syncing = undefined;
    real.fdatasyncSync(fd);
  };
  return { ...real, fdatasyncSync, readdirSync };
});

/** run once, where the data file is about to be opened for writing */
const opening = vi.hoisted(() => ({ comes: undefined as (() => void) | undefined }));

vi.mock('./lmdb-env.js', async (original) => {
  const real = await original<typeof environments>();
  const openEnv: typeof real.openEnv = async (path, options) => {
    if (!options.readOnly) opening.comes?.();
    if (!options.readOnly) opening.comes = undefined;
    return await real.openEnv(path, options);
  };
  return { ...real, openEnv };
});

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const keys = new KeyWriter('graph');
const batch = (version: number) => ({
  version,
  puts: [{ key: keys.uint(version).key(), value: Buffer.from(`value ${version}`) }],
});
const apply = (store: Store, version: number) => store.apply(batch(version), { expectEpoch: store.epoch });
let directory: string;
let live: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graphstead-beside-'));
  live = join(directory, 'live');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

async function batchesIn(store: Store): Promise<number> {
  const snapshot = store.snapshot();
  try {
    return (await snapshot.range({ ...new KeyWriter('graph').range(), limit: 100 })).keys.length;
  } finally {
    snapshot.release();
  }
}

describe('of two that open a directory at once', () => {
  const logs = () => readdirSync(live).filter((name) => name.startsWith('redo-'));

  it('the slower one leaves alone the log of the one that began after it', async () => {
    const create = RedoLog.create.bind(RedoLog);
    let second: Store | undefined;
    vi.spyOn(RedoLog, 'create').mockImplementationOnce(async (...args) => {
      second = await openLmdbStore(live, { limits, takeOver: true });
      await apply(second, 1);
      return await create(...args);
    });
    const first = await openLmdbStore(live, { limits });
    expect(logs()).toContain(`redo-${second?.epoch}.log`);
    await expect(apply(first, 2)).rejects.toMatchObject({ code: 'STORE_FENCED' });
    await Promise.all([first.close(), second?.close()]);
    await (await openLmdbStore(live, { limits })).close();
    expect(logs()).toEqual(['redo-3.log']);
  });

  it('the one that began first is told, where the other has finished in the midst of it', async () => {
    await (await openLmdbStore(live, { limits })).close();
    const probe = await openFile(directory);
    const sync = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, 'sync');
    let second: Promise<Store> | undefined;
    let syncs = 0;
    sync.mockImplementation(async () => {
      // the second of the first one is that of its log, which has no name yet
      if (++syncs === 2) await (second = openLmdbStore(live, { limits, takeOver: true }));
    });
    await expect(openLmdbStore(live, { limits })).rejects.toMatchObject({ code: 'STORE_FENCED' });
    expect(logs()).toEqual(['redo-3.log']);
    await (await second)?.close();
    await probe.close();
  });
});

it('a log that another process removes while it is looked for is looked for again', async () => {
  const writer = await openLmdbStore(live, { limits });
  files.removed = 'redo-9.log';
  expect(readLog(live)?.epoch).toBe(1);
  expect(files.removed).toBeUndefined();
  await writer.close();
});

it.runIf(tellsCaches)('so is one that is removed before its checkpoint is written', async () => {
  const killed = await openLmdbStore(live, { limits });
  await apply(killed, 1);
  vi.spyOn(Checkpoints.prototype, 'end').mockResolvedValueOnce();
  await killed.close();
  files.syncing = () => renameSync(join(live, 'redo-1.log'), join(live, 'redo-2.log'));
  const next = await openLmdbStore(live, { limits });
  expect(files.syncing).toBeUndefined();
  expect(await batchesIn(next)).toBe(1);
  await next.close();
});

it('a log that cannot be read is told as such', async () => {
  await (await openLmdbStore(live, { limits })).close();
  await mkdir(join(live, 'redo-9.log'));
  const opening = openLmdbStore(live, { limits, readOnly: true });
  await expect(opening).rejects.toBeInstanceOf(GraphsteadError);
  await expect(opening).rejects.toThrow('EISDIR');
});

it.runIf(tellsCaches)(
  'one that closes vouches for nothing that one that takes over writes after its sync',
  async () => {
    const first = await openLmdbStore(live, { limits });
    for (const version of [1, 2, 3]) await apply(first, version);
    const probe = await openFile(directory);
    const sync = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, 'sync');
    await probe.close();
    let synced = Buffer.alloc(0);
    sync.mockImplementationOnce(async () => {
      synced = readFileSync(join(live, DATA_FILE));
      vi.spyOn(RedoLog, 'create').mockRejectedValueOnce(new Error('it is killed here'));
      await expect(openLmdbStore(live, { limits, takeOver: true })).rejects.toThrow('it is killed here');
    });
    await first.close();
    // the power goes: of the rest only the heads are on disk
    const at = join(directory, 'cut');
    const heads = readFileSync(join(live, DATA_FILE)).subarray(0, 2 * PAGE_SIZE);
    await mkdir(at);
    copyFileSync(join(live, 'redo-1.log'), join(at, 'redo-1.log'));
    writeFileSync(join(at, DATA_FILE), Buffer.concat([heads, synced.subarray(2 * PAGE_SIZE)]));
    const next = await openLmdbStore(at, { limits });
    expect(await batchesIn(next)).toBe(3);
    await next.close();
  },
);

it.runIf(tellsCaches)(
  'the checkpoint that a writer had under way, when it was killed, may land until LMDB is open',
  async () => {
    // each part takes most of a slot: a checkpoint begins after a few batches, and leads to pages that the later ones set free
    const part = (id: number, version: number) =>
      Array.from({ length: 60 }, (_, i) => ({
        key: new KeyWriter('graph').uint(id).uint(i).key(),
        value: Buffer.alloc(3_000, `${version} `),
      }));
    const killed = await openLmdbStore(live, { limits });
    const probe = await openFile(directory);
    const proto = Object.getPrototypeOf(probe) as typeof probe;
    await probe.close();
    let goOn: (() => void) | undefined;
    vi.spyOn(proto, 'datasync').mockImplementation(() => new Promise((resolve) => (goOn = resolve)));
    const late: Checkpoint[] = [];
    const check = vi.spyOn(RedoLog.prototype, 'check').mockImplementation(async (one) => void late.push(one));
    let version = 0;
    const versions: number[] = [];
    const write = async (id: number) => {
      versions[id] = ++version;
      await killed.apply({ version, puts: part(id, version) }, { expectEpoch: killed.epoch });
    };
    while (goOn === undefined) await write(version);
    for (const id of [0, 1]) await write(id);
    const before = readFileSync(join(live, DATA_FILE));
    await write(2); // stands in the log alone when the writer is killed
    goOn();
    vi.spyOn(Checkpoints.prototype, 'end').mockResolvedValueOnce();
    await killed.close();
    writeFileSync(join(live, DATA_FILE), before);
    check.mockRestore();
    const log = readLog(live);
    assert(log !== undefined && late.length === 1, 'one checkpoint was under way');
    opening.comes = () => checkLog(live, log, late[0]);
    vi.spyOn(RedoLog, 'create').mockRejectedValueOnce(new Error('the power goes here'));
    await expect(openLmdbStore(live, { limits })).rejects.toThrow('the power goes here');
    expect(opening.comes).toBeUndefined();
    const files = [before, readFileSync(join(live, DATA_FILE))];
    for (const reached of [() => 0, () => 1, (page: number) => page % 2]) {
      const at = await mkdtemp(join(directory, 'cut-'));
      copyFileSync(join(live, 'redo-1.log'), join(at, 'redo-1.log'));
      const data = Buffer.from(files[1]);
      for (let page = 2; page * PAGE_SIZE < data.length; page++)
        data.set(files[reached(page)].subarray(page * PAGE_SIZE, (page + 1) * PAGE_SIZE), page * PAGE_SIZE);
      writeFileSync(join(at, DATA_FILE), data);
      const next = await openLmdbStore(at, { limits });
      const snapshot = next.snapshot();
      const { values } = await snapshot.range({ ...new KeyWriter('graph').range(), limit: 1_000 });
      const expected = versions.flatMap((one, id) => part(id, one).map(({ value }) => value));
      expect(values.map((one) => Buffer.from(one))).toEqual(expected);
      snapshot.release();
      await next.close();
      checkPages(join(at, DATA_FILE));
    }
  },
);

describe.runIf(tellsCaches)('who opens a directory whose data file has its pages from another cache', () => {
  /** A copy is another file: as after a restart of the system, what stands behind the last checkpoint counts as lost. */
  async function copyOf(isClosed: boolean): Promise<string> {
    const at = join(directory, 'copy');
    const store = await openLmdbStore(live, { limits });
    for (const version of [1, 2, 3]) await apply(store, version);
    if (isClosed) await store.close();
    await cp(live, at, { recursive: true });
    for (const name of ['writer.json', 'writing']) rmSync(join(at, name), { force: true });
    await store.close();
    expect(logOfLost(at) !== undefined).toBe(!isClosed);
    return at;
  }

  it.each([
    ['that was not closed, and whose new writer is seen', false, true],
    ['that was closed', true, false],
  ])('leaves alone what a writer put there before it had its own log: %s', async (_, isClosed, isSeen) => {
    const at = await copyOf(isClosed);
    const begin = Checkpoints.begin.bind(Checkpoints);
    let reader: Store | undefined;
    vi.spyOn(Checkpoints, 'begin').mockImplementationOnce(async (options) => {
      // as of a process in another container
      if (!isSeen) rmSync(join(at, 'writer.json'));
      reader = await openLmdbStore(at, { limits, readOnly: true });
      return await begin(options);
    });
    const writer = await openLmdbStore(at, { limits });
    expect(reader && (await batchesIn(reader))).toBe(3);
    await apply(writer, 10);
    await Promise.all([reader?.close(), writer.close()]);
    const again = await openLmdbStore(at, { limits });
    expect(await batchesIn(again)).toBe(4);
    await again.close();
  });

  it('puts the head back in a copy, though the writer of the original lives', async () => {
    const writer = await openLmdbStore(live, { limits });
    await apply(writer, 1);
    const at = join(directory, 'copy');
    await cp(live, at, { recursive: true });
    expect(logOfLost(at)).toBeDefined();
    await rollBack(at);
    expect(logOfLost(at)).toBeUndefined();
    await writer.close();
  });

  it('leaves the file to its writer where that one names the cache otherwise', async () => {
    const writer = await openLmdbStore(live, { limits });
    await apply(writer, 1);
    const log = readLog(live);
    assert(log !== undefined, 'a store that is open has a log');
    checkLog(live, log, { ...log.checkpoint, cache: 'as a sandbox tells it' });
    const reader = await openLmdbStore(live, { limits, readOnly: true });
    expect(await batchesIn(reader)).toBe(1);
    await apply(writer, 2);
    expect(await batchesIn(reader)).toBe(2);
    await Promise.all([reader.close(), writer.close()]);
  });
});
