import type * as files from 'node:fs';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, open as openFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { assert, makeLimits } from '../base/index.js';
import { Checkpoints } from './checkpoints.js';
import type { Store } from './contract.js';
import { KeyWriter } from './key.js';
import type * as environments from './lmdb-env.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { type LmdbStoreOptions, openLmdbStore } from './lmdb-open.js';
import { tellsCaches } from './page-cache.js';
import { checkLog, HALF_BYTES, missingBatches, readLog, RedoLog } from './redo-log.js';
import { rollBack } from './roll-back.js';

// A disk on which writes to the log fail. Only `write` with a callback is the log's: LMDB has its own way to the disk.
const disk = vi.hoisted(() => ({
  fails: false,
  leavesBytes: false,
  cutsShort: false,
  checkpointsFail: false,
  startFails: false,
  /** LMDB's own word for a write of several pages that found room for some */
  cutsLmdbShort: false,
  /** a file that takes the room which a log needs */
  fullWith: '',
  whileCopying: undefined as (() => void) | undefined,
}));

/** what was brought to disk, and renamed, in order */
const told = vi.hoisted(() => [] as string[]);

type Written = (error: Error | null, written: number) => void;

vi.mock('node:fs', async (original) => {
  const real = await original<typeof files>();
  const write = (fd: number, bytes: Buffer, from: number, length: number, at: number, done: Written) => {
    const isCheckpoint = at % HALF_BYTES === 0;
    if (isCheckpoint && !disk.checkpointsFail) return real.write(fd, bytes, from, length, at, done);
    const failed = () => done(Object.assign(new Error('i/o error'), { code: 'EIO', errno: -5 }), 0);
    if (isCheckpoint || (disk.fails && !disk.leavesBytes)) return failed();
    if (disk.cutsShort) return real.write(fd, bytes, from, length - 1, at, done);
    return real.write(fd, bytes, from, length, at, disk.fails ? failed : done);
  };
  const writeSync = (fd: number, bytes: Buffer, from: number, length: number, at: number) => {
    const isFull = length === PAGE_SIZE && real.existsSync(disk.fullWith);
    if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    return real.writeSync(fd, bytes, from, length, at);
  };
  const fdatasyncSync = (fd: number) => {
    if (disk.startFails) throw Object.assign(new Error('i/o error'), { code: 'EIO', errno: -5 });
    real.fdatasyncSync(fd);
  };
  const copyFileSync = (from: string, to: string) => {
    real.copyFileSync(from, to);
    disk.whileCopying?.();
  };
  const fsyncSync = (fd: number) => {
    told.push('sync');
    real.fsyncSync(fd);
  };
  const renameSync = (from: string, to: string) => {
    if (to.endsWith('.mdb')) told.push('rename');
    real.renameSync(from, to);
  };
  return { ...real, copyFileSync, write, fdatasyncSync, fsyncSync, renameSync, writeSync };
});

// the file that was opened to be written last
const lmdb = vi.hoisted(() => ({ env: undefined as environments.LmdbEnv | undefined }));

vi.mock('./lmdb-env.js', async (original) => {
  const real = await original<typeof environments>();
  const openEnv: typeof real.openEnv = async (...args) => {
    lmdb.env = await real.openEnv(...args);
    if (disk.cutsLmdbShort && lmdb.env !== undefined && !args[1].readOnly)
      vi.spyOn(lmdb.env.meta, 'transactionSync').mockImplementation(() => {
        throw Object.assign(new Error('Input/output error'), { code: 5 });
      });
    return lmdb.env;
  };
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
  disk.fails = disk.leavesBytes = disk.cutsShort = disk.checkpointsFail = false;
  disk.startFails = disk.cutsLmdbShort = false;
  disk.fullWith = '';
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

it.each(['fails', 'cutsShort'] as const)(
  'a batch that did not reach the log is acknowledged once the data file is on disk whole: %s',
  async (how) => {
    const store: Store = await openLmdbStore(directory, { limits });
    const file = await openFile(join(directory, 'probe'), 'w');
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

describe('where the data file cannot be brought to disk', () => {
  const path = () => join(directory, DATA_FILE);
  const open = (options: LmdbStoreOptions = {}) => openLmdbStore(directory, { limits, ...options });
  const apply = (store: Store, version: number) => store.apply(batch(version), { expectEpoch: store.epoch });
  let store: Store;

  async function versionOf(one: Store): Promise<number> {
    const snapshot = one.snapshot();
    snapshot.release();
    return snapshot.version;
  }

  /** Answers with the file as it is on disk: the first batch is not there yet. */
  async function failing(how: 'datasync' | 'checkpoint'): Promise<Buffer> {
    store = await open();
    const onDisk = readFileSync(path());
    await apply(store, 1);
    disk.fails = true;
    const file = await openFile(path());
    if (how === 'checkpoint') disk.checkpointsFail = true;
    else
      vi.spyOn(Object.getPrototypeOf(file), 'datasync').mockRejectedValue(
        Object.assign(new Error('i/o'), { code: 'EIO', errno: -5 }),
      );
    await expect(apply(store, 2)).rejects.toThrow();
    await file.close();
    vi.restoreAllMocks();
    disk.fails = disk.checkpointsFail = false;
    return onDisk;
  }

  it.each(['datasync', 'checkpoint'] as const)('nothing more is written, and reads go on: %s', async (how) => {
    await failing(how);
    await expect(apply(store, 2)).rejects.toMatchObject({
      code: 'DISK_FULL',
      fix: expect.stringContaining('start it'),
    });
    expect(await versionOf(store)).toBe(1);
    await store.close();
  });

  it.runIf(tellsCaches)(
    'what was acknowledged comes from the log at the next start: the cache may have lost it',
    async () => {
      const onDisk = await failing('datasync');
      const { ino } = statSync(path());
      const reader = await open({ readOnly: true });
      expect([await versionOf(reader), statSync(path()).ino]).toEqual([2, ino]); // its writer lives, and the cache has all
      await store.close();
      const heads = readFileSync(path()).subarray(0, 2 * PAGE_SIZE);
      writeFileSync(path(), Buffer.concat([heads, onDisk.subarray(2 * PAGE_SIZE)]));
      const next = await open();
      expect(await versionOf(next)).toBe(1);
      // whoever read the old file sees that it is another one now
      await expect(reader.refresh?.()).rejects.toMatchObject({ code: 'STORE_FENCED' });
      await apply(next, 2);
      await Promise.all([reader.close(), next.close()]);
      expect(readdirSync(directory).filter((name) => name.startsWith('data.'))).toEqual([
        DATA_FILE,
        `${DATA_FILE}-lock`,
      ]);
    },
  );

  it.runIf(tellsCaches)('the file that is put in its place is on disk before it has its name', async () => {
    await failing('datasync');
    await store.close();
    told.length = 0;
    const file = await openFile(path());
    const proto = Object.getPrototypeOf(file) as typeof file;
    const { sync } = proto;
    await file.close();
    vi.spyOn(proto, 'sync').mockImplementation(async function (this: typeof file) {
      if ((await this.stat()).isDirectory()) told.push('sync of the directory');
      await sync.call(this);
    });
    await rollBack(directory);
    expect(told).toEqual(['sync', 'rename', 'sync of the directory']);
  });

  it.runIf(tellsCaches)('one that takes longer than another waited for leaves the file to that one', async () => {
    await failing('datasync');
    await store.close();
    const { ino } = statSync(path());
    disk.whileCopying = () => {
      const log = readLog(directory);
      assert(log !== undefined, 'there is a log');
      checkLog(directory, log, log.checkpoint);
    };
    await rollBack(directory);
    disk.whileCopying = undefined;
    expect(statSync(path()).ino).toBe(ino);
    expect(readdirSync(directory).filter((name) => name.startsWith('data.rolled-back'))).toEqual([]);
  });

  it.runIf(tellsCaches)('half of a copy is left by nobody: for want of room, nor by one that was killed', async () => {
    await failing('datasync');
    await store.close();
    const copies = () => readdirSync(directory).filter((name) => name.startsWith('data.rolled-back'));
    disk.whileCopying = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, copyfile'), { code: 'ENOSPC' });
    };
    await expect(open()).rejects.toMatchObject({ code: 'DISK_FULL' });
    disk.whileCopying = undefined;
    expect(copies()).toEqual([]);
    writeFileSync(join(directory, 'data.rolled-back-1'), 'of one that was killed');
    const next = await open();
    expect([await versionOf(next), copies()]).toEqual([1, []]);
    await next.close();
  });

  it.runIf(tellsCaches)('nobody takes over while its writer lives, whose cache is not to be trusted', async () => {
    const onDisk = await failing('datasync');
    await expect(open({ takeOver: true })).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await store.close();
    writeFileSync(path(), onDisk);
    const next = await open();
    expect(await versionOf(next)).toBe(1);
    await next.close();
  });

  it.runIf(tellsCaches)(
    'a batch that is refused is not there later, though its entry got to the log whole',
    async () => {
      disk.leavesBytes = true;
      await failing('datasync');
      await store.close();
      const next = await open();
      expect(await versionOf(next)).toBe(1);
      await next.close();
    },
  );

  it.each([
    ['one that the log has no room for', 60],
    ['one that is too large for the log', 100],
  ])('a batch that waits for a checkpoint is told why that failed: %s', async (_, entries) => {
    store = await open();
    const file = await openFile(path());
    let fail: ((thrown: unknown) => void) | undefined;
    const syncing = vi.spyOn(Object.getPrototypeOf(file) as typeof file, 'datasync');
    syncing.mockImplementation(() => new Promise((_done, reject) => (fail = reject)));
    await file.close();
    const large = (version: number, count: number) => ({
      version,
      puts: Array.from({ length: count }, (_put, i) => ({
        key: new KeyWriter('graph').uint(version).uint(i).key(),
        value: Buffer.alloc(3_000),
      })),
    });
    let version = 0;
    const write = (count: number) => store.apply(large(++version, count), { expectEpoch: store.epoch });
    while (fail === undefined) await write(60);
    const pending = (async () => {
      for (let i = 0; i < 10; i++) await write(entries);
    })();
    const refused = expect(pending).rejects.toMatchObject({ code: 'DISK_FULL' });
    setTimeout(() => fail?.(Object.assign(new Error('i/o'), { code: 'EIO', errno: -5 })), 300);
    await refused;
    expect(syncing).toHaveBeenCalledTimes(1); // one after the other, so that the later checkpoint is the later one in the log
    vi.restoreAllMocks();
    await store.close();
    const next = await open();
    expect(await versionOf(next)).toBe(version - 1);
    await next.close();
  });

  it
    .runIf(tellsCaches)
    .each([
      'the last sync of one that closes',
      'the sync of a start behind a writer that was killed',
      'the sync of a start that has put in what was missing',
    ])('nor is the cache trusted after %s', async (which) => {
    store = await open();
    const onDisk = readFileSync(path());
    await apply(store, 1);
    const file = await openFile(path());
    const failed = Object.assign(new Error('i/o'), { code: 'EIO', errno: -5 });
    const sync = vi.spyOn(Object.getPrototypeOf(file) as typeof file, 'sync');
    await file.close();
    const isClosing = which.endsWith('closes');
    if (isClosing) sync.mockRejectedValueOnce(failed);
    else vi.spyOn(Checkpoints.prototype, 'end').mockResolvedValueOnce();
    const closing = store.close();
    if (isClosing) await expect(closing).rejects.toMatchObject({ code: 'DISK_FULL' });
    else await closing;
    if (which.endsWith('killed')) disk.startFails = true;
    if (which.endsWith('missing')) {
      writeFileSync(path(), onDisk);
      sync.mockRejectedValueOnce(failed);
    }
    if (!isClosing) await expect(open()).rejects.toMatchObject({ code: 'DISK_FULL' });
    disk.startFails = false;
    // The next sync succeeds, though the disk has nothing but the heads.
    const heads = readFileSync(path()).subarray(0, 2 * PAGE_SIZE);
    writeFileSync(path(), Buffer.concat([heads, onDisk.subarray(2 * PAGE_SIZE)]));
    const next = await open();
    expect(await versionOf(next)).toBe(1);
    await next.close();
  });

  it.runIf(tellsCaches)(
    'a start on a full disk asks no second time, for it would be told that all is well',
    async () => {
      store = await open();
      await apply(store, 1);
      vi.spyOn(Checkpoints.prototype, 'end').mockResolvedValueOnce();
      await store.close();
      disk.startFails = true;
      await expect(open({ freeBytes: () => 0 })).rejects.toMatchObject({
        code: 'DISK_FULL',
        message: expect.stringContaining('opened anew'),
      });
      disk.startFails = false;
      const next = await open();
      expect(await versionOf(next)).toBe(1);
      await next.close();
    },
  );
});

it.each([
  ['one that fits into the log', 60, 'limits.readers', false],
  ['one that is too large for it', 100, 'start it again', true],
])('a batch is told the truth where processes that read have taken all readers: %s', async (...given) => {
  const [, entries, fix, isRefused] = given;
  let store: Store = await openLmdbStore(directory, { limits });
  assert(lmdb.env !== undefined, 'the store was opened');
  const { data } = lmdb.env;
  const begin = data.useReadTransaction.bind(data);
  let isFull = true;
  vi.spyOn(data, 'useReadTransaction').mockImplementation(() => {
    const isCheckpoint = new Error().stack?.includes('checkpoints.ts');
    if (isFull && isCheckpoint) throw Object.assign(new Error('MDB_READERS_FULL'), { code: -30790 });
    return begin();
  });
  const write = (version: number) =>
    store.apply(
      {
        version,
        puts: Array.from({ length: entries }, (_put, i) => ({
          key: new KeyWriter('graph').uint(version).uint(i).key(),
          value: Buffer.alloc(3_000),
        })),
      },
      { expectEpoch: store.epoch },
    );
  let acknowledged = 0;
  const writing = (async () => {
    for (;;) await write(acknowledged + 1).then(() => acknowledged++);
  })();
  await expect(writing).rejects.toMatchObject({ code: 'OVERLOADED', fix: expect.stringContaining(fix) });
  isFull = false;
  // The large one has landed, and cannot be taken back.
  if (isRefused) await expect(write(acknowledged + 2)).rejects.toMatchObject({ code: 'OVERLOADED' });
  else await write(++acknowledged);
  await store.close();
  store = await openLmdbStore(directory, { limits });
  const snapshot = store.snapshot();
  const { keys: found } = await snapshot.range({ ...new KeyWriter('graph').range(), keysOnly: true, limit: 10_000 });
  snapshot.release();
  expect(found.length).toBe(acknowledged * entries);
  await store.close();
});

it('closing waits for the checkpoint that is under way', async () => {
  const store = await openLmdbStore(directory, { limits });
  const file = await openFile(join(directory, DATA_FILE));
  let done: (() => void) | undefined;
  vi.spyOn(Object.getPrototypeOf(file) as typeof file, 'datasync').mockImplementation(
    () => new Promise((resolve) => (done = resolve)),
  );
  await file.close();
  const puts = Array.from({ length: 60 }, (_, i) => ({
    key: new KeyWriter('graph').uint(i).key(),
    value: Buffer.alloc(3_000),
  }));
  for (let version = 1; done === undefined; version++)
    await store.apply({ version, puts }, { expectEpoch: store.epoch });
  let isClosed = false;
  const closing = store.close().then(() => (isClosed = true));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(isClosed).toBe(false);
  done();
  await closing;
  expect(readLog(directory)?.checkpoint.sequence).toBe(2);
});

it.each([-30798, -30781])(
  'a batch for which LMDB lost its way in its free pages lands at the second try: %i',
  async (code) => {
    const store: Store = await openLmdbStore(directory, { limits });
    assert(lmdb.env !== undefined, 'the store was opened');
    const slip = () => Object.assign(new Error('MDB_'), { code });
    vi.spyOn(lmdb.env.meta, 'ifVersion').mockRejectedValueOnce(slip());
    await store.apply(batch(1), { expectEpoch: store.epoch });
    const snapshot = store.snapshot();
    expect(snapshot.version).toBe(1);
    snapshot.release();
    vi.spyOn(lmdb.env.meta, 'ifVersion').mockRejectedValueOnce(slip()).mockRejectedValueOnce(slip());
    await expect(store.apply(batch(2), { expectEpoch: store.epoch })).rejects.toMatchObject({ code: 'INTERNAL' });
    await store.apply(batch(3), { expectEpoch: store.epoch });
    await store.close();
  },
);

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
  const log = await RedoLog.create(directory, 1, { head: '', incarnation: 'one' });
  expect(await log.write(batch(1), 0)).toBe(true);
  disk.fails = disk.leavesBytes = true;
  expect(await log.write(batch(2), 1)).toBe(false);
  const versions = () =>
    missingBatches(readLog(directory), { epoch: 1, incarnation: 'one' }, 0).map(({ version }) => version);
  expect(versions()).toEqual([1, 2]);
  expect(await log.forget()).toBe(false);
  disk.fails = false;
  expect(await log.forget()).toBe(true);
  expect(versions()).toEqual([1]);
  log.close();
});

it('a start on a full disk gets the room of the ballast, and leaves no half of a log where that is not enough', async () => {
  let store: Store = await openLmdbStore(directory, { limits });
  await store.apply(batch(1), { expectEpoch: store.epoch });
  await store.close();
  const ballast = join(directory, 'ballast');
  const open = () => openLmdbStore(directory, { limits, freeBytes: () => 0 });
  disk.fullWith = ballast;
  store = await open();
  expect(existsSync(ballast)).toBe(false);
  const snapshot = store.snapshot();
  expect(snapshot.version).toBe(1);
  snapshot.release();
  await store.close();
  disk.fullWith = directory;
  await expect(open()).rejects.toMatchObject({ code: 'DISK_FULL' });
  expect(readdirSync(directory).filter((name) => name.startsWith('redo-'))).toEqual([`redo-${store.epoch}.log`]);
});

it.each(['a new directory', 'one that holds a store'])(
  'a start that LMDB has no room for is told so: of %s',
  async (which) => {
    if (which.startsWith('one')) await (await openLmdbStore(directory, { limits })).close();
    disk.cutsLmdbShort = true;
    await expect(openLmdbStore(directory, { limits })).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining(`opening ${directory} failed`),
      fix: expect.stringContaining('data directory'),
    });
  },
);
