import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../../test/folder.js';
import { makeLimits } from '../base/index.js';
import { KeyWriter } from './key.js';
import { restoreLmdbStore } from './lmdb-copy.js';
import { checkPages } from './lmdb-head.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { openLmdbStore } from './lmdb-open.js';
import { tellsCaches } from './page-cache.js';

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const keys = new KeyWriter('graph');
const ENTRIES = 300;
const LAST_PAGE = 144;
const TRANSACTION = 152;
const PAGE_NUMBER_BYTES = 8;

const folder = sharedFolder();
let copies = 0;

beforeAll(async () => {
  const grown = join(folder, 'grown');
  let store = await openLmdbStore(grown, { limits });
  for (let version = 1; version <= ENTRIES; version++) {
    const value = Buffer.alloc((version * 37) % 3_900, version);
    await store.apply({ version, puts: [{ key: keys.uint(version).key(), value }] }, { expectEpoch: store.epoch });
    if (version !== ENTRIES / 2) continue;
    await store.close();
    store = await openLmdbStore(grown, { limits });
  }
  await store.close();
  // a copy has no free pages, so that each one missing is one that counts
  await restoreLmdbStore(grown, join(folder, 'sound'));
  await (await openLmdbStore(join(folder, 'sound'), { limits })).close();
});

/** A copy of the sound directory whose data file was changed, without its log, which could mend it. */
async function changed(change: (file: Buffer) => Buffer, { logged = false } = {}): Promise<string> {
  const directory = join(folder, `copy-${copies++}`);
  await cp(join(folder, 'sound'), directory, {
    recursive: true,
    filter: (path) => logged || !basename(path).startsWith('redo-'),
  });
  const path = join(directory, DATA_FILE);
  await writeFile(path, change(await readFile(path)));
  return directory;
}

async function entriesOf(directory: string, readOnly = false): Promise<number> {
  const store = await openLmdbStore(directory, { limits, readOnly });
  const snapshot = store.snapshot();
  const page = await snapshot.range({ start: keys.key(), end: Uint8Array.of(255), limit: 2 * ENTRIES });
  snapshot.release();
  await store.close();
  return page.keys.length;
}

const zeros = (file: Buffer, from: number, to: number): Buffer => file.fill(0, from, to);
const cut = (file: Buffer, bytes: number): Buffer => file.subarray(0, bytes);
const flipped = (file: Buffer, at: number, bit: number): Buffer => {
  file[at] ^= 1 << bit;
  return file;
};
/** where the page begins that holds an entry */
function leafOf(file: Buffer, id: number): number {
  for (let at = 2 * PAGE_SIZE; at < file.length; at += PAGE_SIZE) {
    const isLeaf = (file.readUInt16LE(at + 18) & 2) !== 0;
    if (isLeaf && file.subarray(at, at + PAGE_SIZE).includes(Buffer.from(keys.uint(id).key()))) return at;
  }
  throw new Error(`no page holds ${id}`);
}
/** where the head begins that counts */
const newest = (file: Buffer): number =>
  file.readBigUInt64LE(TRANSACTION) > file.readBigUInt64LE(PAGE_SIZE + TRANSACTION) ? 0 : PAGE_SIZE;

describe('a damaged data file', () => {
  it.each<[string, (file: Buffer) => Buffer]>([
    ['of one byte', (file) => cut(file, 1)],
    ['of one page', (file) => cut(file, PAGE_SIZE)],
    ['of its head alone', (file) => cut(file, 2 * PAGE_SIZE)],
    ['that was cut in the middle', (file) => cut(file, file.length / 2 + 100)],
    ['that lacks its last byte', (file) => cut(file, file.length - 1)],
    ['with zeros for its first page', (file) => zeros(file, 0, PAGE_SIZE)],
    ['with zeros for its second page', (file) => zeros(file, PAGE_SIZE, 2 * PAGE_SIZE)],
    ['of zeros', (file) => zeros(file, 0, file.length)],
    ['with garbage for its first page', (file) => Buffer.concat([randomBytes(PAGE_SIZE), file.subarray(PAGE_SIZE)])],
    ['of garbage', (file) => randomBytes(file.length)],
    ['of text', () => Buffer.from('name,age\n'.repeat(5_000))],
    ['with another size of pages', (file) => flipped(file, newest(file) + 49, 2)],
    ['with a root behind its last page', (file) => flipped(file, newest(file) + 138, 3)],
    ['whose tree is too deep', (file) => flipped(file, newest(file) + 103, 3)],
    ['whose keys are in another order', (file) => flipped(file, newest(file) + 100, 2)],
  ])('%s is an error that says what to do', async (_, damage) => {
    const directory = await changed(damage);
    const refusal = {
      code: 'STORE_CORRUPT',
      message: expect.stringContaining(join(directory, DATA_FILE)),
      fix: expect.stringContaining('graphstead restore'),
    };
    await expect(openLmdbStore(directory, { limits })).rejects.toMatchObject(refusal);
    await expect(openLmdbStore(directory, { limits, readOnly: true })).rejects.toMatchObject(refusal);
  });

  it('that was cut to nothing, though its log stands there, is no reason to begin anew', async () => {
    const directory = await changed((file) => cut(file, 0), { logged: true });
    const refusal = { code: 'STORE_CORRUPT', message: expect.stringContaining('it holds no store') };
    await expect(openLmdbStore(directory, { limits })).rejects.toMatchObject(refusal);
    await expect(openLmdbStore(directory, { limits, readOnly: true })).rejects.toMatchObject(refusal);
  });

  it('that is gone, though its log stands there, is no reason to begin anew', async () => {
    const directory = await changed((file) => file, { logged: true });
    await rm(join(directory, DATA_FILE));
    const refusal = { code: 'STORE_CORRUPT', message: expect.stringContaining('it is not there') };
    await expect(openLmdbStore(directory, { limits })).rejects.toMatchObject(refusal);
    await expect(openLmdbStore(directory, { limits, readOnly: true })).rejects.toMatchObject(refusal);
  });

  it('with pages of a later moment, or with a key out of its place, is found by a look at all pages', async () => {
    const mixed = await changed((file) => {
      // the page of some keys, as if it stood where that of others does
      const [from, to] = [leafOf(file, 150), leafOf(file, 20)];
      file.copy(file, to + PAGE_NUMBER_BYTES, from + PAGE_NUMBER_BYTES, from + PAGE_SIZE);
      return file;
    });
    const moved = await changed((file) => {
      const key = keys.uint(150).key();
      for (let at = file.indexOf(key); at !== -1; at = file.indexOf(key, at + 1)) file.set(keys.uint(140).key(), at);
      return file;
    });
    for (const directory of [mixed, moved])
      expect(() => checkPages(join(directory, DATA_FILE))).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT' }));
    for (const whole of ['grown', 'sound']) expect(() => checkPages(join(folder, whole, DATA_FILE))).not.toThrow();
  });

  it('is not restored', async () => {
    const backup = await changed((file) => cut(file, file.length - PAGE_SIZE));
    const target = join(folder, 'restored');
    await expect(restoreLmdbStore(backup, target)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(open(join(target, DATA_FILE))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a sound data file', () => {
  it.runIf(tellsCaches).each<[string, (file: Buffer) => Buffer]>([
    ['zeros', (file) => zeros(file, 0, 2 * PAGE_SIZE)],
    ['garbage', (file) => Buffer.concat([randomBytes(2 * PAGE_SIZE), file.subarray(2 * PAGE_SIZE)])],
  ])('has its head put back by its log where it is %s', async (_, damage) => {
    const damaged = await changed(damage, { logged: true });
    expect(await entriesOf(damaged, true)).toBe(ENTRIES);
    expect(await entriesOf(await changed(damage, { logged: true }))).toBe(ENTRIES);
    const restored = join(folder, `restored-${copies++}`);
    await restoreLmdbStore(await changed(damage, { logged: true }), restored);
    expect(await entriesOf(restored)).toBe(ENTRIES);
  });

  it('opens although pages are missing behind its end that nothing leads to', async () => {
    const directory = await changed((file) => {
      const at = newest(file) + LAST_PAGE;
      file.writeBigUInt64LE(file.readBigUInt64LE(at) + 5n, at);
      return file;
    });
    expect([await entriesOf(directory, true), await entriesOf(directory)]).toEqual([ENTRIES, ENTRIES]);
  });

  it('opens anew where a process died before it wrote anything to it', async () => {
    const directory = await mkdtemp(join(folder, 'new-'));
    await writeFile(join(directory, DATA_FILE), '');
    await expect(entriesOf(directory, true)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await entriesOf(directory)).toBe(0);
  });
});
