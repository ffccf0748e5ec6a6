import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { assert, makeLimits } from '../base/index.js';
import type { Batch, Store } from './contract.js';
import { KeyWriter } from './key.js';
import type * as environments from './lmdb-env.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { type LmdbStoreOptions, openLmdbStore } from './lmdb-open.js';

// the file that was opened to be written last
const lmdb = vi.hoisted(() => ({
  env: undefined as environments.LmdbEnv | undefined,
  /** by which the lock is held */
  second: undefined as ReturnType<typeof environments.openAgain> | undefined,
}));

vi.mock('./lmdb-env.js', async (original) => {
  const real = await original<typeof environments>();
  const openEnv: typeof real.openEnv = async (...args) => (lmdb.env = await real.openEnv(...args));
  const openAgain: typeof real.openAgain = (...args) => (lmdb.second = real.openAgain(...args));
  return { ...real, openEnv, openAgain };
});

// More than are handed over without a pause, and in many slices.
const LARGE = 10_000;
/** A turn in three is looked at, so long: all the slices, and some of what LMDB's thread does then. */
const IMAGES = 12;
/** above the reserve, but not so much that it is not looked at before each write */
const ENOUGH = 200_000_000;
const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000, yieldMs: 1e-9 });
const keys = new KeyWriter('graph');
const key = (id: number): Uint8Array => keys.uint(id).key();

describe('a large batch', () => {
  let directory: string;
  let store: Store;
  const opened: Store[] = [];
  const open = async (options: LmdbStoreOptions = {}, at = join(directory, 'live')): Promise<Store> => {
    const one = await openLmdbStore(at, { limits, ...options });
    opened.push(one);
    return one;
  };

  beforeEach(async () => {
    directory = testFolder();
    store = await open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  /** Every value is the version of its batch. */
  const batch = (version: number, entries = LARGE, bytes = 40): Batch => ({
    version,
    puts: Array.from({ length: entries }, (_, id) => ({ key: key(id), value: Buffer.alloc(bytes, version) })),
  });
  const apply = (given: Batch, to = store): Promise<void> => to.apply(given, { expectEpoch: to.epoch });

  /** How many entries have which version. */
  async function held(by: Store): Promise<Record<number, number>> {
    const snapshot = by.snapshot();
    const { values } = await snapshot.range({ start: keys.key(), end: Uint8Array.of(255), limit: 10 * LARGE });
    snapshot.release();
    const counts: Record<number, number> = {};
    for (const [version] of values) counts[version] = (counts[version] ?? 0) + 1;
    return counts;
  }

  /** Does `look` once a turn of the event loop until `work` is over. */
  async function beside(work: Promise<unknown>, look: () => unknown): Promise<void> {
    let over = false;
    const settle = () => {
      over = true;
    };
    work.then(settle, settle);
    while (!over) {
      await look();
      await nextTurn();
    }
    await work;
  }

  it('is handed to LMDB in slices between which others are served, and is one transaction', async () => {
    const { env } = lmdb;
    assert(env !== undefined, 'a store is open');
    const transactions = (): number => Number((env.root.getStats() as Record<string, unknown>)['lastTxnId']);
    await apply(batch(1, LARGE / 2));
    const before = transactions();
    let [handed, most] = [0, 0];
    for (const name of ['put', 'remove'] as const) {
      const real = env.data[name] as (...given: unknown[]) => Promise<boolean>;
      vi.spyOn(env.data, name).mockImplementation((...given: unknown[]) => {
        most = Math.max(most, ++handed);
        return real.apply(env.data, given);
      });
    }
    const next = { ...batch(2, LARGE / 2), deleteRanges: [{ start: key(0), end: key(LARGE) }] };
    await beside(apply(next), () => {
      handed = 0;
    });
    vi.restoreAllMocks();
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(LARGE / 10);
    expect(transactions()).toBe(before + 1);
    expect(await held(store)).toEqual({ 2: LARGE / 2 });
  });

  it('is seen whole or not at all: by snapshots, by one that only reads, and by one that reads a copy made meanwhile', async () => {
    await apply(batch(1));
    const reader = await open({ readOnly: true });
    const old = store.snapshot();
    const seen = new Set<string>();
    const copies = [store.backup(join(directory, 'copy'))];
    await beside(apply(batch(2)), async () => {
      for (const one of [store, reader]) seen.add(JSON.stringify(await held(one)));
    });
    await Promise.all(copies);
    seen.add(JSON.stringify(await held(await open({ readOnly: true }, join(directory, 'copy')))));
    for (const one of [store, reader]) expect(await held(one)).toEqual({ 2: LARGE });
    expect([...seen].every((counts) => [`{"1":${LARGE}}`, `{"2":${LARGE}}`].includes(counts))).toBe(true);
    expect((await old.get(key(0)))?.[0]).toBe(1);
    old.release();
  });

  it.each([19 * 512, 20 * 512 - 1, 20 * 512 + 1])(
    'is the newest version with %i entries, however the slices fall',
    async (entries) => {
      await apply(batch(7, entries));
      const snapshot = store.snapshot();
      expect(snapshot.version).toBe(7);
      snapshot.release();
      expect(await held(store)).toEqual({ 7: entries });
    },
  );

  it('lands after the one before and before the one behind, large or small', async () => {
    await apply(batch(1));
    await apply(batch(2));
    await apply(batch(3, 10));
    await apply(batch(4, LARGE - 5));
    await apply(batch(5, 3));
    expect(await held(store)).toEqual({ 2: 5, 4: LARGE - 8, 5: 3 });
  });

  it('is on disk when the store is closed meanwhile', async () => {
    const landing = apply(batch(1));
    await nextTurn();
    await store.close();
    await landing;
    expect(await held(await open())).toEqual({ 1: LARGE });
  });

  it('is refused where the lock cannot be had, and the next one lands', async () => {
    await apply(batch(1, 1));
    assert(lmdb.second !== undefined, 'the store was opened');
    vi.spyOn(lmdb.second, 'transaction').mockRejectedValueOnce(new Error('MDB_TXN_FULL'));
    await expect(apply(batch(2))).rejects.toMatchObject({ code: 'INTERNAL', message: /MDB_TXN_FULL/ });
    expect(await held(store)).toEqual({ 1: 1 });
    await apply(batch(3));
    expect(await held(store)).toEqual({ 3: LARGE });
  });

  it('lands before another takes the directory over, and not at all after it', async () => {
    await apply(batch(1));
    const landing = apply(batch(2));
    await nextTurn();
    const other = await open({ takeOver: true });
    await landing;
    expect(await held(other)).toEqual({ 2: LARGE });
    await apply(batch(3, 1), other);
    await expect(apply(batch(4))).rejects.toMatchObject({ code: 'STORE_FENCED' });
    for (const one of [store, other]) expect(await held(one)).toEqual({ 2: LARGE - 1, 3: 1 });
  });

  it('leaves nothing behind where there is no room for it, and small ones go on', async () => {
    let free = ENOUGH;
    await store.close();
    store = await open({ freeBytes: () => free });
    await apply(batch(1));
    free = 2_000_000;
    await expect(apply(batch(2))).rejects.toMatchObject({ code: 'DISK_FULL' });
    await apply(batch(3, 1));
    expect(await held(store)).toEqual({ 1: LARGE - 1, 3: 1 });
  });

  describe('when everything ends in the middle of it', () => {
    const live = (): string => join(directory, 'live');
    const redoName = (): string => readdirSync(live()).find((name) => name.startsWith('redo-')) ?? '';
    const image = () => ({ data: readFileSync(join(live(), DATA_FILE)), redo: readFileSync(join(live(), redoName())) });

    async function found({ data, redo }: ReturnType<typeof image>, name: string): Promise<Record<number, number>> {
      const at = join(directory, name);
      await mkdir(at);
      writeFileSync(join(at, DATA_FILE), data);
      writeFileSync(join(at, redoName()), redo);
      const cut = await openLmdbStore(at, { limits });
      const counts = await held(cut);
      await cut.close();
      await rm(at, { recursive: true });
      return counts;
    }

    // One that fits into a slot of the log, and one that does not.
    it.each([
      ['small', 1],
      ['long', 400],
    ])(
      'is there whole or not at all, with %s values',
      async (_, bytes) => {
        await apply(batch(1, LARGE, bytes));
        const images = [image()];
        let turns = 0;
        await beside(apply(batch(2, LARGE, bytes)), () => {
          if (turns++ % 3 === 0 && images.length < IMAGES) images.push(image());
        });
        const [first, last] = [images[0], image()];
        const whole = [{ 1: LARGE }, { 2: LARGE }];
        for (const [turn, one] of [...images, last].entries()) {
          expect(whole).toContainEqual(await found(one, `killed-${turn}`));
          // the power went: any page may be from before, and none of the two that say which state counts
          const data = Buffer.from(one.data);
          first.data.copy(data, 0, 0, 2 * PAGE_SIZE);
          for (let page = 2 + (turn % 3); page * PAGE_SIZE < first.data.length; page += 3) {
            first.data.copy(data, page * PAGE_SIZE, page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
          }
          expect(whole).toContainEqual(await found({ data, redo: one.redo }, `cut-${turn}`));
        }
        expect(await found(last, 'acknowledged')).toEqual({ 2: LARGE });
      },
      60_000,
    );
  });
});
