import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, open as openFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { makeLimits } from '../base/index.js';
import { KeyWriter } from './key.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { checkPages } from './lmdb-head.js';
import { openLmdbStore } from './lmdb-open.js';
import { tellsCaches } from './page-cache.js';

// A start that finds no log of its data file: there is no file yet, or a copy was put there. The power goes before each of its syncs.

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const puts = Array.from({ length: 90 }, (_, id) => ({
  key: new KeyWriter('graph').uint(id).key(),
  value: Buffer.alloc(700, `${id} `),
}));
let parent: string;
let live: string;

beforeEach(async () => {
  parent = testFolder();
  live = join(parent, 'live');
});
afterEach(async () => {
  vi.restoreAllMocks();
});

/** of a process that is gone with the power: nobody asks for it */
const NAMES_WRITER: ReadonlySet<string> = new Set(['writer.json', 'opening.json', 'writing']);

type Files = ReadonlyMap<string, Buffer>;

/** A file of which some pages reached the disk, as it was before or full of zeros where it was not there. */
function torn(before: Buffer, now: Buffer, roll: (below: number) => number): Buffer {
  const bytes = Buffer.from(now);
  for (let at = 0; at < now.length; at += PAGE_SIZE) {
    if (roll(2) === 0) continue;
    const end = Math.min(at + PAGE_SIZE, now.length);
    bytes.fill(0, at, end).set(before.subarray(at, end), at);
  }
  return bytes;
}

/** What a directory holds on disk for sure: names since its last sync, bytes of each file since that one's. */
class Disk {
  readonly #directory: string;
  #names: ReadonlyMap<string, number>;
  readonly #bytes = new Map<number, Buffer>();
  /** before each sync */
  readonly images: Files[] = [];
  #state = 7;

  constructor(directory: string) {
    this.#directory = directory;
    this.#names = this.#listed();
    for (const [name, ino] of this.#names) this.#bytes.set(ino, readFileSync(join(directory, name)));
  }

  #listed(): ReadonlyMap<string, number> {
    const all = readdirSync(this.#directory, { withFileTypes: true });
    const files = all.filter((one) => one.isFile() && !NAMES_WRITER.has(one.name));
    return new Map(files.map(({ name }) => [name, statSync(join(this.#directory, name)).ino]));
  }

  synced(ino: number, bytes: Buffer | undefined): void {
    if (bytes !== undefined) this.#bytes.set(ino, bytes);
    else if (ino === statSync(this.#directory).ino) this.#names = this.#listed();
  }

  look(): void {
    for (let i = 0; i < 12; i++) this.images.push(this.#cut(i));
  }

  /** Nothing of what is not for sure; all of it but zeros for new files; then any part. */
  #cut(luck: number): Files {
    const roll = (below: number) => (this.#state = (Math.imul(this.#state, 48_271) >>> 0) % 2_147_483_647) % below;
    const now = this.#listed();
    const image = new Map<string, Buffer>();
    for (const name of new Set([...this.#names.keys(), ...now.keys()])) {
      const ino = luck === 1 || (luck > 1 && roll(2) === 0) ? now.get(name) : this.#names.get(name);
      if (ino === undefined) continue;
      const durable = this.#bytes.get(ino);
      const written = now.get(name) === ino ? readFileSync(join(this.#directory, name)) : durable;
      if (durable !== undefined && (luck < 2 || written?.equals(durable))) image.set(name, durable);
      else if (written !== undefined && luck < 2) image.set(name, Buffer.alloc(luck * written.length));
      else if (written !== undefined) image.set(name, torn(durable ?? Buffer.alloc(0), written, roll));
    }
    return image;
  }
}

/** What the power may leave of the directory while it is opened. */
async function imagesOfStart(): Promise<readonly Files[]> {
  const disk = new Disk(live);
  const probe = await openFile(parent);
  const proto = Object.getPrototypeOf(probe) as typeof probe;
  await probe.close();
  const { sync, datasync } = proto;
  const watched = (how: () => Promise<void>) =>
    async function (this: typeof probe) {
      disk.look();
      await how.call(this);
      const found = await this.stat();
      disk.synced(found.ino, found.isFile() ? readFileSync(`/proc/self/fd/${this.fd}`) : undefined);
    };
  vi.spyOn(proto, 'sync').mockImplementation(watched(sync));
  vi.spyOn(proto, 'datasync').mockImplementation(watched(datasync));
  const store = await openLmdbStore(live, { limits });
  disk.look();
  vi.restoreAllMocks();
  await store.close();
  return disk.images;
}

async function versionIn(image: Files, at: string): Promise<number> {
  await mkdir(at);
  for (const [name, bytes] of image) writeFileSync(join(at, name), bytes);
  const store = await openLmdbStore(at, { limits });
  const snapshot = store.snapshot();
  const page = await snapshot.range({ ...new KeyWriter('graph').range(), limit: 1_000 });
  expect(page.keys.length).toBe(snapshot.version === 0 ? 0 : puts.length);
  snapshot.release();
  await store.close();
  checkPages(join(at, DATA_FILE));
  await rm(at, { recursive: true });
  return snapshot.version;
}

describe.runIf(tellsCaches)('the power goes while a directory is opened that has no log', () => {
  it('and no data file: the next start begins afresh', async () => {
    await mkdir(live);
    for (const image of await imagesOfStart()) expect(await versionIn(image, join(parent, 'cut'))).toBe(0);
  });

  it.each([
    ['of its data file, which is a backup', undefined],
    ['but that of another file, of a later epoch', 'redo-9.log'],
  ])('%s: nothing of it is lost', async (_, log) => {
    const original = await openLmdbStore(join(parent, 'original'), { limits });
    await original.apply({ version: 5, puts }, { expectEpoch: original.epoch });
    await original.backup(live);
    await original.close();
    if (log !== undefined) {
      await (await openLmdbStore(join(parent, 'other'), { limits })).close();
      await copyFile(join(parent, 'other', 'redo-1.log'), join(live, log));
    }
    for (const image of await imagesOfStart()) expect(await versionIn(image, join(parent, 'cut'))).toBe(5);
  });
});

it('a data file that is a link to one that is not there yet is made where it leads to', async () => {
  await mkdir(live);
  const place = join(parent, 'elsewhere.mdb');
  await symlink(place, join(live, DATA_FILE));
  const store = await openLmdbStore(live, { limits });
  await store.apply({ version: 1, puts }, { expectEpoch: store.epoch });
  await store.close();
  expect(statSync(place).size).toBeGreaterThan(puts.length * 700);
});

it('what a start that was killed has left of a new file goes with the next one', async () => {
  await (await openLmdbStore(live, { limits })).close();
  await mkdir(join(live, 'unfinished-store-1'));
  await (await openLmdbStore(live, { limits })).close();
  expect(readdirSync(live).filter((name) => name.startsWith('unfinished'))).toEqual([]);
});
