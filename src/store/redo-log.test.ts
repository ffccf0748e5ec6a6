import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLimits } from '../base/index.js';
import type { Batch, Put, Store } from './contract.js';
import { KeyWriter } from './key.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { restoreLmdbStore } from './lmdb-copy.js';
import { openLmdbStore } from './lmdb-open.js';
import { missingBatches, RedoLog, SLOT_BYTES } from './redo-log.js';
import { decodeSlot, encodeSlot } from './redo-slot.js';

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const keys = new KeyWriter('graph');
const key = (id: number): Uint8Array => keys.uint(id).key();
const value = (id: number, version: number, bytes = 60): Uint8Array => Buffer.alloc(bytes, `${version}.${id} `);
const META_PAGES = 2 * PAGE_SIZE;

/** A directory as a power cut might have left it, and what must be in it. */
interface Image {
  readonly data: Buffer;
  readonly redo: Buffer;
  readonly model: ReadonlyMap<number, string>;
}

describe('after a power cut', () => {
  let directory: string;
  let store: Store;
  const model = new Map<number, string>();

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'graphstead-redo-'));
    store = await openLmdbStore(join(directory, 'live'), { limits });
    model.clear();
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  const redoName = (at: string): string => readdirSync(at).find((name) => name.startsWith('redo-')) ?? '';

  async function write(batch: Batch): Promise<void> {
    await store.apply(batch, { expectEpoch: store.epoch });
    for (const id of model.keys()) {
      const inside = batch.deleteRanges?.some(
        ({ start, end }) => Buffer.compare(key(id), start) >= 0 && Buffer.compare(key(id), end) < 0,
      );
      if (inside) model.delete(id);
    }
    for (const put of batch.puts) {
      const id = idOf(put.key);
      if (put.value === undefined) model.delete(id);
      else model.set(id, Buffer.from(put.value).toString());
    }
  }

  const idOf = (bytes: Uint8Array): number => {
    for (let id = 0; id < 2_000; id++) if (Buffer.compare(bytes, key(id)) === 0) return id;
    throw new Error('no key of this test');
  };

  function image(): Image {
    const live = join(directory, 'live');
    return {
      data: readFileSync(join(live, DATA_FILE)),
      redo: readFileSync(join(live, redoName(live))),
      model: new Map(model),
    };
  }

  /** Lays what the disk held into a directory, under the names of the live one. */
  async function laid({ data, redo }: Omit<Image, 'model'>): Promise<string> {
    const at = join(directory, `cut-${Math.random()}`);
    await mkdir(at);
    writeFileSync(join(at, DATA_FILE), data);
    writeFileSync(join(at, redoName(join(directory, 'live'))), redo);
    return at;
  }

  async function found(held: Omit<Image, 'model'>, readOnly = false): Promise<Map<number, string>> {
    return await entriesOf(await laid(held), readOnly);
  }

  async function entriesOf(at: string, readOnly = false): Promise<Map<number, string>> {
    const cut = await openLmdbStore(at, { limits, readOnly });
    const snapshot = cut.snapshot();
    const page = await snapshot.range({ ...new KeyWriter('graph').range(), limit: 10_000 });
    const entries = page.keys.map((k, i) => [idOf(k), Buffer.from(page.values[i]).toString()] as const);
    snapshot.release();
    await cut.close();
    return new Map(entries);
  }

  /** Pages of `after` where `keep` says so, else of `before`; the meta pages of `metas`. */
  function mixed(before: Buffer, after: Buffer, metas: Buffer, keep: (page: number) => boolean): Buffer {
    const bytes = Buffer.from(after);
    for (let page = 2; page * PAGE_SIZE < before.length; page++) {
      const [from, to] = [page * PAGE_SIZE, (page + 1) * PAGE_SIZE];
      if (!keep(page)) before.copy(bytes, from, from, to);
    }
    metas.copy(bytes, 0, 0, META_PAGES);
    return bytes;
  }

  /** The log with a part of what changed in it. */
  function half(before: Buffer, after: Buffer, part: number): Buffer {
    const changed = [...after.keys()].filter((i) => before[i] !== after[i]);
    const end = Math.ceil(changed.length * part);
    const bytes = Buffer.from(before);
    for (const i of changed.slice(0, end)) bytes[i] = after[i];
    return bytes;
  }

  it('a batch is there whose meta page was lost', async () => {
    await write({ version: 5, puts: [{ key: key(1), value: value(1, 5) }] });
    const before = image();
    await write({
      version: 9,
      puts: [{ key: key(2), value: value(2, 9) }],
      deleteRanges: [{ start: key(1), end: key(2) }],
    });
    const after = image();
    const lost = { data: mixed(before.data, after.data, before.data, () => true), redo: after.redo };
    expect([...(await found(lost)).keys()]).toEqual([2]);
    expect([...(await found(lost, true)).keys()]).toEqual([2]);
    expect([...(await found(after)).keys()]).toEqual([2]);
  });

  it('a batch is there, too, in what is restored from the directory, which stays as it is', async () => {
    await write({ version: 5, puts: [{ key: key(1), value: value(1, 5) }] });
    const before = image();
    await write({ version: 9, puts: [{ key: key(2), value: value(2, 9) }] });
    const after = image();
    const held = { data: mixed(before.data, after.data, before.data, () => true), redo: after.redo };
    const at = await laid(held);
    const restored = join(directory, 'restored');
    await restoreLmdbStore(at, restored);
    expect(await entriesOf(restored)).toEqual(model);
    expect(readFileSync(join(at, DATA_FILE)).equals(held.data)).toBe(true);
    expect(readFileSync(join(at, redoName(at))).equals(held.redo)).toBe(true);
  });

  it('everything acknowledged is there, whatever of the batch in flight reached the disk', async () => {
    const id = fc.integer({ min: 0, max: 300 });
    const step = fc.record({
      ids: fc.array(id, { minLength: 1, maxLength: 120 }),
      removed: fc.option(fc.tuple(id, fc.nat(40)), { nil: undefined }),
      bytes: fc.constantFrom(10, 200, 3_000, 3_900),
      lucky: fc.integer({ min: 0, max: 3 }),
      torn: fc.oneof(fc.constant(100), fc.integer({ min: 0, max: 99 })), // one that is whole must be among so many
    });
    let version = 0;
    const outcomes = new Set<boolean>();
    const images: Image[] = [image(), image(), image()];
    await fc.assert(
      fc.asyncProperty(step, async ({ ids, removed, bytes, lucky, torn }) => {
        version += 1 + lucky;
        await write({
          version,
          puts: ids.map((i): Put => ({ key: key(i), value: i % 7 === lucky ? undefined : value(i, version, bytes) })),
          ...(removed ? { deleteRanges: [{ start: key(removed[0]), end: key(removed[0] + removed[1]) }] } : {}),
        });
        images.push(image());
        const [older, last, now] = images.slice(-3);
        // acknowledged, its meta page in the cache at most
        expect(await found({ data: mixed(last.data, now.data, last.data, () => true), redo: now.redo })).toEqual(
          now.model,
        );
        // in flight: the batch before is acknowledged, and its meta page may not be on disk either
        const torned = half(last.redo, now.redo, torn / 100);
        const behind = lucky % 2 === 0 && !last.redo.equals(older.redo);
        const data = mixed(last.data, now.data, behind ? older.data : last.data, (page) => (page + lucky) % 3 === 0);
        const kept = await found({ data, redo: torned });
        const landed = isDeepStrictEqual(kept, now.model);
        expect(kept).toEqual(landed ? now.model : last.model);
        outcomes.add(landed);
      }),
      { numRuns: 60 },
    );
    expect(outcomes).toEqual(new Set([true, false]));
  });

  it('a batch that the store refused is not there', async () => {
    await write({ version: 1, puts: [{ key: key(1), value: value(1, 1) }] });
    const before = image();
    const other = await openLmdbStore(join(directory, 'live'), { limits, takeOver: true });
    await expect(write({ version: 2, puts: [{ key: key(1), value: value(1, 2) }] })).rejects.toMatchObject({
      code: 'STORE_FENCED',
    });
    await other.apply({ version: 3, puts: [{ key: key(3), value: value(3, 3) }] }, { expectEpoch: other.epoch });
    expect([...(await found(image())).entries()]).toEqual([...before.model, [3, Buffer.from(value(3, 3)).toString()]]);
    await other.close();
  });

  it('a closed directory is whole without its log', async () => {
    await write({ version: 1, puts: [{ key: key(1), value: value(1, 1) }] });
    await store.close();
    const live = join(directory, 'live');
    const moved = join(directory, 'moved');
    await mkdir(moved);
    copyFileSync(join(live, DATA_FILE), join(moved, DATA_FILE));
    store = await openLmdbStore(moved, { limits });
    const snapshot = store.snapshot();
    expect(snapshot.version).toBe(1);
    snapshot.release();
    expect(readdirSync(moved).filter((name) => name.startsWith('redo-'))).toHaveLength(1);
    expect(existsSync(join(moved, redoName(moved)))).toBe(true);
  });
});

describe('a log', () => {
  const EPOCH = 3;
  const small = (version: number): Batch => ({
    version,
    puts: [{ key: key(version), value: value(version, version) }],
  });
  const large: Batch = { version: 9, puts: [{ key: key(9), value: Buffer.alloc(SLOT_BYTES) }] };
  let directory: string;
  let log: RedoLog;
  const versions = (): number[] => missingBatches(directory, EPOCH, 0).map(({ version }) => version);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'graphstead-log-'));
    log = await RedoLog.create(directory, EPOCH);
  });
  afterEach(async () => {
    log.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('forgets the batch that was given last, and no other', async () => {
    expect([await log.write(small(1), 0), await log.write(small(2), 1)]).toEqual([true, true]);
    expect(versions()).toEqual([1, 2]);
    expect(await log.forget()).toBe(true);
    expect(versions()).toEqual([1]);
  });

  it('keeps the batch before when one too large for a slot is forgotten', async () => {
    expect([await log.write(small(1), 0), await log.write(large, 1)]).toEqual([true, false]);
    expect(await log.forget()).toBe(true);
    expect(versions()).toEqual([1]);
  });
});

describe('a slot', () => {
  const slot = Buffer.alloc(SLOT_BYTES);

  it('gives back the batch that was put in', () => {
    const bytes = (max: number) => fc.uint8Array({ maxLength: max });
    const named = fc.uint8Array({ minLength: 1, maxLength: 1_024 });
    const batch = fc.record({
      version: fc.integer({ min: 1, max: 2 ** 50 }),
      puts: fc.array(fc.record({ key: named, value: fc.option(bytes(3_900), { nil: undefined }) }), { maxLength: 9 }),
      deleteRanges: fc.array(fc.record({ start: named, end: named }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(batch, (one) => {
        expect(encodeSlot(slot, one, one.version - 1)).toBeGreaterThan(0);
        const { puts, deleteRanges, ...rest } = decodeSlot(slot) ?? { puts: [], deleteRanges: [] };
        expect(rest).toEqual({ version: one.version, previous: one.version - 1 });
        expect(puts.map((put) => [[...put.key], put.value && [...put.value]])).toEqual(
          one.puts.map((put) => [[...put.key], put.value && [...put.value]]),
        );
        expect(deleteRanges.map(({ start, end }) => [[...start], [...end]])).toEqual(
          one.deleteRanges.map(({ start, end }) => [[...start], [...end]]),
        );
      }),
    );
  });

  it('refuses a batch that is too large for it, and half of one is nothing', () => {
    const large = Array.from({ length: 70 }, (_, i) => ({ key: key(i), value: Buffer.alloc(3_900) }));
    expect(encodeSlot(slot, { version: 2, puts: large }, 1)).toBeUndefined();
    const length = encodeSlot(slot, { version: 2, puts: large.slice(0, 9) }, 1) ?? 0;
    slot[length - 1] ^= 1;
    expect(decodeSlot(slot)).toBeUndefined();
    expect(decodeSlot(Buffer.alloc(SLOT_BYTES))).toBeUndefined();
    expect(decodeSlot(Buffer.alloc(0))).toBeUndefined();
  });
});
