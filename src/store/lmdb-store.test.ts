import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, open as openFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { makeLimits } from '../base/index.js';
import type { Store } from './contract.js';
import { KeyWriter } from './key.js';
import { restoreLmdbStore } from './lmdb-copy.js';
import { DATA_FILE, openAgain, openEnv } from './lmdb-env.js';
import { FORMAT_MAJOR, FORMAT_MINOR, META } from './lmdb-meta.js';
import { type LmdbStoreOptions, openLmdbStore } from './lmdb-open.js';
import { RedoLog } from './redo-log.js';

const keys = new KeyWriter('graph');
const key = (id: number): Uint8Array => keys.uint(id).key();
const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
/** above the reserve, but not so much that it is not looked at before each write */
const ENOUGH = 10_000_000;

describe('the lmdb store', () => {
  let directory: string;
  const opened: Store[] = [];

  const open = async (options: LmdbStoreOptions = {}, at = directory): Promise<Store> => {
    const store = await openLmdbStore(at, { limits, ...options });
    opened.push(store);
    return store;
  };
  const apply = (store: Store, version: number, ids: readonly number[], bytes = 100): Promise<void> =>
    store.apply(
      { version, puts: ids.map((id) => ({ key: key(id), value: Buffer.alloc(bytes, id) })) },
      { expectEpoch: store.epoch },
    );
  const count = (store: Store): number => {
    const snapshot = store.snapshot();
    const page = snapshot.range({ start: keys.key(), end: Uint8Array.of(255), keysOnly: true, limit: 1_000_000 });
    snapshot.release();
    if (page instanceof Promise) throw new Error('the embedded store answers at once');
    return page.keys.length;
  };

  beforeEach(() => {
    directory = testFolder();
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  it('grows beyond the map it began with, under an open snapshot', async () => {
    const store = await open({ mapSize: 256 * 1024 });
    await apply(store, 1, [0]);
    const snapshot = store.snapshot();
    for (let version = 2; version < 12; version++) {
      await apply(
        store,
        version,
        Array.from({ length: 500 }, (_, i) => version * 1_000 + i),
        2_000,
      );
    }
    expect(count(store)).toBe(5_001);
    expect((await snapshot.getMany([key(0), key(2_000)])).map((value) => value?.length)).toEqual([100, undefined]);
    snapshot.release();
    expect(Number(store.stats()['mapBytes'])).toBeGreaterThan(10_000_000);
  });

  it('lands all of a large batch, and nothing of one that is refused', async () => {
    const store = await open();
    await apply(store, 1, [1]);
    const puts = Array.from({ length: 50_000 }, (_, i) => ({ key: key(i), value: Buffer.of(1) }));
    await expect(store.apply({ version: 2, puts }, { expectEpoch: store.epoch + 1 })).rejects.toThrow();
    expect(count(store)).toBe(1);
    await store.apply({ version: 2, puts }, { expectEpoch: store.epoch });
    expect(count(store)).toBe(50_000);
  });

  it('shows all of a batch or nothing to whoever looks while it lands, and nothing once another took over', async () => {
    const store = await open();
    await apply(store, 1, [0]);
    const reader = await open({ readOnly: true });
    const ids = Array.from({ length: 20_000 }, (_, i) => i);
    const landing = apply(store, 2, ids, 10);
    let landed = false;
    void landing.finally(() => {
      landed = true;
    });
    const seen = new Set<number>();
    while (!landed) {
      for (const one of [reader, store]) seen.add(count(one));
      await nextTurn();
    }
    await landing;
    seen.add(count(reader));
    expect([...seen].sort((one, other) => one - other)).toEqual([1, 20_000]);
    await open({ takeOver: true });
    const late = Array.from({ length: 20_000 }, (_, i) => 30_000 + i);
    await expect(apply(store, 3, late, 10)).rejects.toMatchObject({ code: 'STORE_FENCED' });
    expect(count(store)).toBe(20_000);
  });

  it('hands lmdb a batch whole before its own thread begins with it: where that has begun, this one may be made to wait', async () => {
    const env = await openEnv(directory, { readOnly: false, maxReaders: 10 });
    if (env === undefined) throw new Error('one that writes is made');
    await env.meta.put(META.epoch, Buffer.of(1), 1);
    const { env: native } = env.data as unknown as { readonly env: { startWriting(...all: unknown[]): void } };
    const { startWriting } = native;
    const [all, handed]: [number, number[]] = [5_000, []];
    let puts = 0;
    const begun = vi.spyOn(native, 'startWriting').mockImplementation((...given) => {
      handed.push(puts);
      startWriting.apply(native, given);
    });
    try {
      const landed = env.meta.ifVersion(META.epoch, 1, () => {
        for (; puts < all; puts++) void env.data.put(key(puts), Buffer.of(1));
      });
      expect(await landed).toBe(true);
      expect(handed).toEqual([all]);
    } finally {
      begun.mockRestore();
      await env.root.close();
    }
  });

  it('begins each snapshot with the newest state, although lmdb keeps a reader until the thread is free', async () => {
    const writer = await open();
    await apply(writer, 1, [1]);
    const reader = await open({ readOnly: true });
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      expect(count(reader)).toBe(1);
      await apply(writer, 2, [2]);
      expect(count(reader)).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('gives up the readers of processes that were killed, whose pages could never be used again', async () => {
    const store = await open();
    await apply(store, 1, [1]);
    const file = openAgain(directory); // opening looks for them too
    const reads = `const file = require('lmdb').open({ path: ${JSON.stringify(join(directory, DATA_FILE))}, noSubdir: true, readOnly: true });
      file.useReadTransaction();
      file.get('a');
      process.kill(process.pid, 'SIGKILL');`;
    const reader = spawn(process.execPath, ['-e', reads], { stdio: 'ignore' });
    await once(reader, 'exit');
    try {
      await apply(store, 2, [2]);
      expect(file.readerList()).toContain(`${reader.pid}`);
      const now = performance.now();
      vi.spyOn(performance, 'now').mockReturnValue(now + 60_001);
      await apply(store, 3, [3]);
      expect(file.readerList()).not.toContain(`${reader.pid}`);
    } finally {
      vi.restoreAllMocks();
      await file.close();
    }
  });

  it('tells which process reads the oldest version, and how much came after it', async () => {
    const store = await open();
    await apply(store, 1, [1]);
    const reads = `const file = require('lmdb').open({ path: ${JSON.stringify(join(directory, DATA_FILE))}, noSubdir: true, readOnly: true });
      globalThis.held = { transaction: file.useReadTransaction() };
      file.get('a', globalThis.held);
      process.stdout.write('reads');
      setInterval(() => {}, 60_000);`;
    const reader = spawn(process.execPath, ['-e', reads], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await once(reader.stdout, 'data');
      const before = store.oldestReader?.()?.batches ?? 0;
      for (let version = 2; version <= 81; version++) await apply(store, version, [version]);
      // this process holds some versions of its own, for its checkpoints
      const { process, batches } = store.oldestReader?.() ?? {};
      expect(process).toBe(reader.pid);
      expect(batches).toBeGreaterThanOrEqual(80);
      expect(batches).toBeLessThan(90 + before);
      expect(store.stats()['heldBatches']).toBe(batches);
    } finally {
      reader.kill('SIGKILL');
    }
  });

  it('has its data file on disk once it is closed, and the lock only until then', async () => {
    const store = await open();
    await apply(store, 1, [1]);
    const file = await openFile(join(directory, DATA_FILE));
    const { ino } = await file.stat();
    const synced: unknown[] = [];
    const sync = vi.spyOn(Object.getPrototypeOf(file) as typeof file, 'sync').mockImplementation(async function (
      this: typeof file,
    ) {
      synced.push((await this.stat()).ino, existsSync(join(directory, 'writer.json')));
    });
    try {
      await store.close();
    } finally {
      sync.mockRestore();
      await file.close();
    }
    expect(synced).toEqual([ino, true]);
  });

  it('asks before each write where little is free above the reserve: others write there too', async () => {
    let free = limits.diskReserve + 2 ** 29;
    const store = await open({ freeBytes: () => free });
    await apply(store, 1, [1]);
    free = limits.diskReserve - 1;
    await expect(apply(store, 2, [2])).rejects.toMatchObject({ code: 'DISK_FULL' });
  });

  it.each([
    ['refused', true, 'DISK_FULL'],
    ['of unknown fate', false, 'OUTCOME_UNKNOWN'],
  ])('tells a write that its log cannot take as %s, as a start will find it', async (_, isTold, code) => {
    const store = await open();
    await apply(store, 1, [1]);
    const failing = () => Promise.reject(Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', errno: -5 }));
    const { write } = RedoLog.prototype;
    // what has failed to be written may be whole
    const writing = vi.spyOn(RedoLog.prototype, 'write').mockImplementationOnce(async function (
      this: RedoLog,
      ...given
    ) {
      await write.apply(this, given);
      return false;
    });
    const checking = vi.spyOn(RedoLog.prototype, 'check').mockImplementationOnce(failing);
    if (!isTold) checking.mockImplementation(failing);
    await expect(apply(store, 2, [2])).rejects.toMatchObject({ code, message: expect.stringContaining('opened anew') });
    await expect(apply(store, 3, [3])).rejects.toMatchObject({ code: 'DISK_FULL' });
    for (const spied of [writing, checking]) spied.mockRestore();
    await store.close().catch(() => undefined);
    const again = await open();
    const snapshot = again.snapshot();
    expect((await snapshot.getMany([key(1), key(2)])).map((value) => value !== undefined)).toEqual([true, !isTold]);
    snapshot.release();
  });

  it('shares one reader a version, and refuses more of them than the limit', async () => {
    const store = await open({ limits: makeLimits({ ...limits, readers: 6 }) });
    const snapshots = [];
    for (let version = 1; version <= 4; version++) {
      await apply(store, version, [version]);
      for (let i = 0; i < 50; i++) snapshots.push(store.snapshot());
    }
    expect(store.stats()['readers']).toBe(4);
    await apply(store, 5, [5]);
    expect(() => store.snapshot()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    await expect(apply(store, 6, [6])).rejects.toMatchObject({ code: 'OVERLOADED' });
    for (const snapshot of snapshots) snapshot.release();
    expect(store.stats()['readers']).toBe(0);
    for (let version = 6; version <= 30; version++) {
      await apply(store, version, [version]);
      store.snapshot().release();
    }
  });

  it('gives back the reader with which it looks for what a batch deletes', async () => {
    const store = await open();
    await apply(store, 1, [1, 2, 3]);
    const deleteRanges = [{ start: key(1), end: key(3) }];
    await store.apply({ version: 2, puts: [], deleteRanges }, { expectEpoch: store.epoch });
    expect([count(store), store.stats()['readers']]).toEqual([1, 1]);
    await apply(store, 3, [4]);
    expect(store.stats()['readers']).toBe(0);
  });

  it('reads what another has written once it is fenced', async () => {
    const store = await open();
    await apply(store, 1, [1]);
    const other = await open({ takeOver: true });
    await expect(apply(store, 2, [2])).rejects.toMatchObject({ code: 'STORE_FENCED' });
    await apply(other, 2, [3, 4]);
    expect(count(store)).toBe(3);
    await apply(other, 3, [5]);
    expect(count(store)).toBe(4);
  });

  it('refuses to write below the disk reserve, gives up its ballast for deletes, and reads on', async () => {
    let free = ENOUGH;
    const store = await open({ freeBytes: () => free });
    expect(existsSync(join(directory, 'ballast'))).toBe(true);
    await apply(store, 1, [1, 2]);
    free = 900_000;
    const message = 'no room on disk (900000 bytes are free, limits.diskReserve is 1000000)';
    await expect(apply(store, 2, [3])).rejects.toMatchObject({ code: 'DISK_FULL', message });
    free = 1_000_100;
    const most =
      /^no room on disk \(1000100 bytes are free, limits\.diskReserve keeps 1000000, and this write may take \d{3,}\)$/;
    await expect(apply(store, 2, [3])).rejects.toMatchObject({ code: 'DISK_FULL', message: most });
    free = 900_000;
    expect(existsSync(join(directory, 'ballast'))).toBe(true);
    const remove = { version: 2, puts: [{ key: key(1), value: undefined }] };
    await store.apply(remove, { expectEpoch: store.epoch, reclaim: true });
    expect([count(store), existsSync(join(directory, 'ballast'))]).toEqual([1, false]);
    free = ENOUGH;
    await apply(store, 3, [3]);
    expect(count(store)).toBe(2);
  });

  it('refuses to write where its directory was moved or replaced, and goes on where it is put back', async () => {
    const store = await open();
    await apply(store, 1, [1]);
    const aside = `${directory}-aside`;
    const message = /data directory .* was moved, removed or replaced/;
    await rename(directory, aside);
    try {
      await expect(apply(store, 2, [2])).rejects.toMatchObject({ code: 'STORE_FENCED', message });
      const other = await open();
      await apply(other, 1, [7, 8]);
      await expect(apply(store, 2, [2])).rejects.toMatchObject({ code: 'STORE_FENCED', message });
      expect([count(store), count(other)]).toEqual([1, 2]);
      await other.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
      await rename(aside, directory);
    }
    await apply(store, 2, [2]);
    expect(count(store)).toBe(2);
  });

  it('copies itself while it serves; the copy opens under an incarnation of its own', async () => {
    const store = await open();
    await apply(store, 7, [1, 2, 3]);
    const target = join(directory, 'backup');
    const copying = store.backup(target);
    await apply(store, 8, [4]);
    await copying;
    const copy = await open({}, target);
    expect([3, 4]).toContain(count(copy));
    expect(copy.incarnation).not.toBe(store.incarnation);
    await expect(store.backup(target)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await copy.close();
    const restored = join(directory, 'restored');
    await restoreLmdbStore(target, restored);
    const again = await open({}, restored);
    expect(again.incarnation).not.toBe(copy.incarnation);
    expect(count(again)).toBe(count(await open({ readOnly: true }, target)));
    await expect(restoreLmdbStore(target, restored)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(restoreLmdbStore(join(directory, 'none'), join(directory, 'x'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('closes behind the copy and the batch that are under way', async () => {
    const store = await open();
    await apply(store, 7, [1, 2, 3]);
    const target = join(directory, 'backup');
    const [copying, writing] = [store.backup(target), apply(store, 8, [4])];
    await store.close();
    await Promise.all([copying, writing]);
    expect(count(await open({ readOnly: true }, target))).toBeGreaterThanOrEqual(3);
    expect(count(await open())).toBe(4);
  });

  it('is no store while a copy was not finished, and the next copy takes its half away', async () => {
    const store = await open();
    await apply(store, 7, [1, 2, 3]);
    const target = join(directory, 'backup');
    const half = join(target, 'unfinished-copy-killed');
    await mkdir(half, { recursive: true });
    await writeFile(join(half, DATA_FILE), 'half of a copy');
    await expect(open({}, target)).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(half) });
    await store.backup(target);
    expect((await readdir(target)).filter((name) => name.startsWith('unfinished'))).toEqual([]);
    expect(count(await open({ readOnly: true }, target))).toBe(3);
  });

  it('opens to read only beside a writer, follows it, and does not write', async () => {
    const writer = await open();
    await apply(writer, 1, [1]);
    const reader = await open({ readOnly: true });
    expect([reader.readOnly, reader.epoch, count(reader)]).toEqual([true, writer.epoch, 1]);
    await apply(writer, 2, [2]);
    expect(count(reader)).toBe(2);
    await expect(apply(reader, 3, [3])).rejects.toMatchObject({ code: 'READ_ONLY_STORE' });
    await expect(open({ readOnly: true }, join(directory, 'none'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('knows that what it reads is old where another directory took its place', async () => {
    const writer = await open();
    await apply(writer, 1, [1]);
    const reader = await open({ readOnly: true });
    await reader.refresh?.();
    expect(reader.stale).toBeUndefined();
    await rename(join(directory, DATA_FILE), join(directory, 'moved'));
    await expect(reader.refresh?.()).rejects.toMatchObject({ code: 'STORE_FENCED' });
    expect(reader.stale).toMatchObject({ code: 'STORE_FENCED' });
  });

  const stampFormat = async (major: number, minor: number): Promise<Buffer> => {
    await (await open()).close();
    const env = await openEnv(directory, { readOnly: false, maxReaders: 8 });
    env?.meta.putSync(META.format, Buffer.from(JSON.stringify([major, minor, 4_096])), 1);
    await env?.root.close();
    return readFile(join(directory, DATA_FILE));
  };

  it('refuses a newer major format without touching the file', async () => {
    const before = await stampFormat(FORMAT_MAJOR + 1, 0);
    await expect(open()).rejects.toMatchObject({ code: 'STORE_FORMAT' });
    await expect(restoreLmdbStore(directory, join(directory, 'restored'))).rejects.toMatchObject({
      code: 'STORE_FORMAT',
    });
    expect((await readFile(join(directory, DATA_FILE))).equals(before)).toBe(true);
  });

  it('opens a newer minor format to read only', async () => {
    const before = await stampFormat(FORMAT_MAJOR, FORMAT_MINOR + 1);
    const store = await open();
    expect(store.readOnly).toBe(true);
    expect((await readFile(join(directory, DATA_FILE))).equals(before)).toBe(true);
  });

  it('says what to do about a path that is no folder, or in none', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    for (const path of [file, join(file, 'data')]) {
      await expect(open({}, path)).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining(path),
        fix: expect.stringContaining('--data'),
      });
    }
  });

  it('names the process that holds the directory, and forgets one that is gone', async () => {
    const store = await open();
    await expect(open()).rejects.toMatchObject({ code: 'STORE_LOCKED', message: /process \d+/ });
    await store.close();
    const gone = { pid: process.pid, host: hostname(), started: 'another life' };
    await writeFile(join(directory, 'writer.json'), JSON.stringify(gone));
    await (await open()).close();
    await writeFile(join(directory, 'writer.json'), '{"pid":');
    await (await open()).close();
    expect(existsSync(join(directory, 'writer.json'))).toBe(false);
  });

  it('leaves the name of another process in the directory when it closes', async () => {
    const store = await open();
    const name = join(directory, 'writer.json');
    const other = JSON.stringify({ ...JSON.parse(await readFile(name, 'utf8')), pid: process.ppid });
    await writeFile(name, other);
    await store.close();
    expect(await readFile(name, 'utf8')).toBe(other);
  });

  it('tells a directory that was copied under its writer, and who only reads the copy, too', async () => {
    await open();
    const copy = join(directory, 'copy');
    await mkdir(copy);
    for (const name of ['writer.json', 'writing']) await cp(join(directory, name), join(copy, name));
    const refusal = {
      code: 'STORE_LOCKED',
      message: expect.stringContaining(`${copy} was copied while process ${process.pid} wrote`),
      fix: expect.stringContaining('graphstead backup'),
    };
    await expect(open({}, copy)).rejects.toMatchObject(refusal);
    await writeFile(join(copy, 'writing'), (await readFile(join(copy, 'writing'), 'utf8')).replace('0', '1'));
    await expect(open({ readOnly: true }, copy)).rejects.toMatchObject(refusal);
  });

  it.runIf(existsSync('/proc/self/stat'))('forgets one that was killed and that nobody has buried', async () => {
    // a parent that never asks how its child ended, as the first process of a container may be: a shell might, so that
    // the child is killed only once the shell has become `sleep`
    const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [said] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(said);
      const stat = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
      await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
      process.kill(pid, 'SIGKILL');
      await expect.poll(async () => (await stat())[0]).toBe('Z');
      const killed = { pid, host: hostname(), started: (await stat())[19] };
      await writeFile(join(directory, 'writer.json'), JSON.stringify(killed));
      await (await open()).close();
    } finally {
      parent.kill();
    }
  });
});
