import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { makeLimits } from '../base/index.js';
import { type CheckpointRecord, decodeCheckpoint, encodeCheckpoint } from './checkpoint-record.js';
import { Checkpoints } from './checkpoints.js';
import { FORMAT_MAJOR } from './lmdb-meta.js';
import type { Batch, Put, Store } from './contract.js';
import { KeyWriter } from './key.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { checkPages } from './lmdb-head.js';
import { restoreLmdbStore } from './lmdb-copy.js';
import { openLmdbStore } from './lmdb-open.js';
import { tellsCaches } from './page-cache.js';
import { HALF_BYTES, RedoLog } from './redo-log.js';
import { rollBack } from './roll-back.js';

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const keys = new KeyWriter('graph');
const key = (id: number): Uint8Array => keys.uint(id).key();
const value = (id: number, version: number, bytes = 60): Uint8Array => Buffer.alloc(bytes, `${version}.${id} `);

/** Files of a directory as a power cut may leave them. */
interface Held {
  readonly data: Buffer;
  readonly redo: Buffer;
}

const datasync = await (async () => {
  const file = await openFile(tmpdir());
  await file.close();
  return Object.getPrototypeOf(file) as { datasync(): Promise<void> };
})();

/** What the disk holds of the data file for sure, and whatever of it was written since. */
class Disk {
  readonly #path: string;
  /** images of the file: the first is on disk, any page may be that of a later one */
  #images: Buffer[];
  /** how many images there were when a checkpoint began */
  #begun = 0;
  /** while it is set, a sync of the data file waits for it */
  gate: Promise<void> | undefined;
  readonly checked = { begun: 0, done: 0 };

  constructor(path: string, log: RedoLog) {
    this.#path = path;
    this.#images = [readFileSync(path)];
    vi.spyOn(datasync, 'datasync').mockImplementation(async () => {
      await this.gate;
      this.#images = this.#images.slice(this.#begun);
      this.#begun = 0;
    });
    const [turn, check] = [log.turn.bind(log), log.check.bind(log)];
    vi.spyOn(log, 'turn').mockImplementation(() => {
      this.#begun = this.#images.push(readFileSync(this.#path)) - 1;
      this.checked.begun++;
      turn();
    });
    vi.spyOn(log, 'check').mockImplementation(async (checkpoint) => {
      await check(checkpoint);
      this.checked.done++;
    });
  }

  /** After a batch. */
  look(): void {
    this.#images.push(readFileSync(this.#path));
  }

  /** The file after a power cut: `pick(page, n)` says which of n images a page is of. */
  cut(pick: (page: number, images: number) => number): Buffer {
    return mixed(this.#images, (page) => pick(page, this.#images.length));
  }
}

function mixed(images: readonly Buffer[], pick: (page: number) => number): Buffer {
  const length = Math.max(...images.map((image) => image.length));
  const data = Buffer.alloc(length);
  for (let page = 0; page * PAGE_SIZE < length; page++) {
    data.set(images[pick(page)].subarray(page * PAGE_SIZE, (page + 1) * PAGE_SIZE), page * PAGE_SIZE);
  }
  return data;
}

describe.runIf(tellsCaches)('after a power cut', () => {
  let directory: string;
  let store: Store;
  let disk: Disk;
  const model = new Map<number, string>();
  const live = (): string => join(directory, 'live');
  const redoName = (at: string): string => readdirSync(at).find((name) => /^redo-\d/.test(name)) ?? '';
  const redo = (): Buffer => readFileSync(join(live(), redoName(live())));

  beforeEach(async () => {
    directory = testFolder();
    const created = vi.spyOn(RedoLog, 'create');
    store = await openLmdbStore(live(), { limits });
    const [log] = await Promise.all(created.mock.results.map(({ value: one }) => one as Promise<RedoLog>));
    created.mockRestore();
    disk = new Disk(join(live(), DATA_FILE), log);
    model.clear();
  });
  afterEach(async () => {
    disk.gate = undefined;
    await store.close();
    vi.restoreAllMocks();
  });

  async function write(batch: Batch): Promise<void> {
    await store.apply(batch, { expectEpoch: store.epoch });
    disk.look();
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

  const ids = new Map(Array.from({ length: 2_000 }, (_, id) => [Buffer.from(key(id)).toString('hex'), id]));
  const idOf = (bytes: Uint8Array): number => ids.get(Buffer.from(bytes).toString('hex')) ?? -1;

  async function laid({ data, redo: log }: Held): Promise<string> {
    const at = join(directory, `cut-${Math.random()}`);
    await mkdir(at);
    writeFileSync(join(at, DATA_FILE), data);
    writeFileSync(join(at, redoName(live())), log);
    return at;
  }

  async function entriesOf(at: string, readOnly = false): Promise<Map<number, string>> {
    const cut = await openLmdbStore(at, { limits, readOnly });
    const snapshot = cut.snapshot();
    const page = await snapshot.range({ ...new KeyWriter('graph').range(), limit: 10_000 });
    const entries = page.keys.map((k, i) => [idOf(k), Buffer.from(page.values[i]).toString()] as const);
    snapshot.release();
    await cut.close();
    checkPages(join(at, DATA_FILE));
    return new Map(entries);
  }

  const found = async (held: Held, readOnly = false) => entriesOf(await laid(held), readOnly);

  /** The log with a part of the batch that was written to it last. */
  function half(before: Buffer, after: Buffer, part: number): Buffer {
    const changed: number[] = [];
    for (let at = 0; at < after.length; at += PAGE_SIZE) {
      const isSame = before.compare(after, at, at + PAGE_SIZE, at, at + PAGE_SIZE) === 0;
      if (at % HALF_BYTES === 0 || isSame) continue;
      for (let i = at; i < at + PAGE_SIZE; i++) if (before[i] !== after[i]) changed.push(i);
    }
    const bytes = Buffer.from(after);
    for (const i of changed.slice(Math.ceil(changed.length * part))) bytes[i] = before[i];
    return bytes;
  }

  it('a batch is there of which nothing reached the data file, for who only reads, too', async () => {
    await write({ version: 5, puts: [{ key: key(1), value: value(1, 5) }] });
    const deleteRanges = [{ start: key(1), end: key(2) }];
    await write({ version: 9, puts: [{ key: key(2), value: value(2, 9) }], deleteRanges });
    const lost = { data: disk.cut(() => 0), redo: redo() };
    expect([...(await found(lost)).keys()]).toEqual([2]);
    expect([...(await found(lost, true)).keys()]).toEqual([2]);
    const whole = { data: disk.cut((_, images) => images - 1), redo: redo() };
    expect([...(await found(whole)).keys()]).toEqual([2]);
  });

  it('a batch is there, too, in what is restored from the directory, which stays as it is', async () => {
    await write({ version: 5, puts: [{ key: key(1), value: value(1, 5) }] });
    await write({ version: 9, puts: [{ key: key(2), value: value(2, 9) }] });
    for (const data of [disk.cut(() => 0), disk.cut((page, images) => (page < 2 ? images - 1 : 0))]) {
      const held = { data, redo: redo() };
      const at = await laid(held);
      const restored = join(directory, `restored-${Math.random()}`);
      await restoreLmdbStore(at, restored);
      expect(await entriesOf(restored)).toEqual(model);
      expect(readFileSync(join(at, DATA_FILE)).equals(held.data)).toBe(true);
      expect(readFileSync(join(at, redoName(at))).equals(held.redo)).toBe(true);
    }
  });

  it('everything acknowledged is there, whatever else reached the disk, and however often the power goes', async () => {
    const id = fc.integer({ min: 0, max: 300 });
    const step = fc.record({
      ids: fc.array(id, { minLength: 40, maxLength: 120, size: 'max' }),
      removed: fc.option(fc.tuple(id, fc.nat(40)), { nil: undefined }),
      bytes: fc.constantFrom(10, 200, 1_000, 2_000, 2_000, 3_900),
      lucky: fc.integer({ min: 0, max: 3 }),
      torn: fc.oneof(fc.constant(100), fc.integer({ min: 0, max: 99 })), // one that is whole must be among so many
      seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      syncs: fc.constantFrom(true, false, false),
    });
    let version = 0;
    let open: ((value?: unknown) => void) | undefined;
    const outcomes = new Set<boolean>();
    const running = new Set<boolean>();
    await fc
      .assert(
        fc.asyncProperty(step, async ({ ids: written, removed, bytes, lucky, torn, seed, syncs }) => {
          version += 1 + lucky;
          const [before, log] = [new Map(model), redo()];
          // A disk that takes its time with a checkpoint, while batches go on.
          if (syncs) open?.();
          else disk.gate ??= new Promise((resolve) => (open = resolve)).then(() => void (disk.gate = undefined));
          const writing = write({
            version,
            puts: written.map(
              (i): Put => ({ key: key(i), value: i % 7 === lucky ? undefined : value(i, version, bytes) }),
            ),
            ...(removed ? { deleteRanges: [{ start: key(removed[0]), end: key(removed[0] + removed[1]) }] } : {}),
          });
          // one that must wait for the checkpoint
          const late = setTimeout(() => open?.(), 50);
          await writing;
          clearTimeout(late);
          running.add(disk.checked.begun > disk.checked.done);
          let state = seed;
          const roll = (below: number) => (state = (Math.imul(state, 48_271) >>> 0) % 2_147_483_647) % below;
          const some = () => disk.cut((_, images) => roll(images));
          const now = redo();
          const at = await laid({ data: some(), redo: now });
          // the power goes again while the head is put back
          const was = readFileSync(join(at, DATA_FILE));
          await rollBack(at);
          const rolled = readFileSync(join(at, DATA_FILE));
          writeFileSync(
            join(at, DATA_FILE),
            mixed([was, rolled], (page) => (page < 2 ? roll(2) : 1)),
          );
          // and once more while the batches are put in again
          await rollBack(at);
          const back = readFileSync(join(at, DATA_FILE));
          const creating = vi.spyOn(RedoLog, 'create').mockRejectedValueOnce(new Error('the power goes here'));
          await expect(openLmdbStore(at, { limits })).rejects.toThrow('the power goes here');
          creating.mockRestore();
          const put = readFileSync(join(at, DATA_FILE));
          const cutAgain = { data: mixed([back, put], () => roll(2)), redo: readFileSync(join(at, redoName(at))) };
          expect(await found(cutAgain)).toEqual(model);
          // in flight: the batch before is acknowledged
          const kept = await found({ data: some(), redo: half(log, now, torn / 100) });
          const landed = isDeepStrictEqual(kept, model);
          expect(kept).toEqual(landed ? model : before);
          outcomes.add(landed);
        }),
        { numRuns: 80, endOnFailure: true }, // each run goes on from where the one before ended
      )
      .finally(() => open?.()); // else a failure waits for ever for the checkpoint under way
    expect(outcomes).toEqual(new Set([true, false]));
    expect(running).toEqual(new Set([true, false]));
    expect(disk.checked.done).toBeGreaterThan(3);
  }, 60_000);

  it('a start behind a writer that was killed loses nothing, wherever the power ends it', async () => {
    let version = 0;
    for (const [round, batches] of [30, 1, 2, 3].entries()) {
      // the first of them leave pages to be used again that only the checkpoint leads to
      let before = readFileSync(join(live(), DATA_FILE));
      for (let i = 0; i < batches; i++) {
        before = readFileSync(join(live(), DATA_FILE));
        version++;
        const puts = Array.from({ length: 90 }, (_, id) => ({ key: key(id), value: value(id, version, 700) }));
        await write({ version, puts });
      }
      // one that is killed lets go of its readers, and does nothing more; the last batch stands in the log alone
      vi.spyOn(Checkpoints.prototype, 'end').mockResolvedValueOnce();
      await store.close();
      writeFileSync(join(live(), DATA_FILE), before);
      const creating = vi.spyOn(RedoLog, 'create').mockRejectedValueOnce(new Error('the power goes here'));
      await expect(openLmdbStore(live(), { limits })).rejects.toThrow('the power goes here');
      creating.mockRestore();
      const after = readFileSync(join(live(), DATA_FILE));
      const files = [after, before];
      for (const [pages, heads] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ]) {
        const data = Buffer.from(files[pages]);
        data.set(files[heads].subarray(0, 2 * PAGE_SIZE));
        expect(await found({ data, redo: redo() })).toEqual(model);
      }
      store = await openLmdbStore(live(), { limits });
      expect(store.epoch).toBe(2 * round + 3);
    }
  });

  it('a batch that the store refused is not there', async () => {
    await write({ version: 1, puts: [{ key: key(1), value: value(1, 1) }] });
    const before = new Map(model);
    const other = await openLmdbStore(live(), { limits, takeOver: true });
    await expect(write({ version: 2, puts: [{ key: key(1), value: value(1, 2) }] })).rejects.toMatchObject({
      code: 'STORE_FENCED',
    });
    await other.apply({ version: 3, puts: [{ key: key(3), value: value(3, 3) }] }, { expectEpoch: other.epoch });
    const held = { data: readFileSync(join(live(), DATA_FILE)), redo: redo() };
    expect([...(await found(held)).entries()]).toEqual([...before, [3, Buffer.from(value(3, 3)).toString()]]);
    await other.close();
  });

  it('nor is one that was fenced before the log of the new writer was there', async () => {
    await write({ version: 1, puts: [{ key: key(1), value: value(1, 1) }] });
    const creating = vi.spyOn(RedoLog, 'create').mockRejectedValueOnce(new Error('it is killed here'));
    await expect(openLmdbStore(live(), { limits, takeOver: true })).rejects.toThrow('it is killed here');
    creating.mockRestore();
    const before = new Map(model);
    const put = { key: key(1), value: value(1, 2) };
    await expect(write({ version: 2, puts: [put] })).rejects.toMatchObject({ code: 'STORE_FENCED' });
    expect(await found({ data: readFileSync(join(live(), DATA_FILE)), redo: redo() })).toEqual(before);
  });

  it('a closed directory is whole without its log', async () => {
    await write({ version: 1, puts: [{ key: key(1), value: value(1, 1) }] });
    await store.close();
    const moved = join(directory, 'moved');
    await mkdir(moved);
    copyFileSync(join(live(), DATA_FILE), join(moved, DATA_FILE));
    store = await openLmdbStore(moved, { limits });
    const snapshot = store.snapshot();
    expect(snapshot.version).toBe(1);
    snapshot.release();
    expect(readdirSync(moved).filter((name) => name.startsWith('redo-'))).toHaveLength(1);
    expect(existsSync(join(moved, redoName(moved)))).toBe(true);
  });

  it('a log without a checkpoint is damaged, so is one that was cut short, and one of a newer version is left as it is', async () => {
    await write({ version: 1, puts: [{ key: key(1), value: value(1, 1) }] });
    await write({ version: 2, puts: [{ key: key(2), value: value(2, 2) }] });
    const data = disk.cut((page, images) => (page < 2 ? images - 1 : 0));
    const damaged = redo();
    for (const at of [0, HALF_BYTES]) damaged.fill(0, at, at + PAGE_SIZE);
    const newer = redo();
    const record = decodeCheckpoint(newer);
    if (record === undefined) throw new Error('the first half has a checkpoint');
    encodeCheckpoint(newer, { ...record, format: FORMAT_MAJOR + 1 } as CheckpointRecord);
    for (const [log, code] of [
      [damaged, 'STORE_CORRUPT'],
      [redo().subarray(0, HALF_BYTES), 'STORE_CORRUPT'],
      [redo().subarray(0, -PAGE_SIZE), 'STORE_CORRUPT'],
      [newer, 'STORE_FORMAT'],
    ] as const) {
      const at = await laid({ data, redo: log });
      for (const readOnly of [false, true])
        await expect(openLmdbStore(at, { limits, readOnly })).rejects.toMatchObject({ code });
      await expect(restoreLmdbStore(at, join(at, 'restored'))).rejects.toMatchObject({ code });
      expect(readFileSync(join(at, DATA_FILE)).equals(data)).toBe(true);
    }
  });

  it('another data file that was put in the place of the log’s stays as it is', async () => {
    await write({ version: 1, puts: [{ key: key(1), value: value(1, 1) }] });
    const other = join(directory, 'other');
    await store.backup(other);
    await write({ version: 2, puts: [{ key: key(2), value: value(2, 2) }] });
    const data = readFileSync(join(other, DATA_FILE));
    expect([...(await found({ data, redo: redo() })).keys()]).toEqual([1]);
  });

  it('so does an older copy of the same file, wherever that has the pages that the log’s head leads to', async () => {
    for (let version = 1; version < 20; version++) {
      const puts = Array.from({ length: 30 }, (_, id) => ({
        key: key(30 * version + id),
        value: value(id, version, 3_000),
      }));
      await write({ version, puts });
    }
    await store.close();
    const data = readFileSync(join(live(), DATA_FILE));
    for (let batches = 0; batches < 8; batches++) {
      const at = await laid({ data, redo: redo() });
      const later = await openLmdbStore(at, { limits });
      for (let version = 20; version < 20 + batches; version++) {
        await later.apply({ version, puts: [{ key: key(1), value: value(1, version) }] }, { expectEpoch: later.epoch });
      }
      await later.close();
      writeFileSync(join(at, 'older'), data);
      renameSync(join(at, 'older'), join(at, DATA_FILE));
      expect(await entriesOf(at)).toEqual(model);
    }
    store = await openLmdbStore(live(), { limits });
  });
});
