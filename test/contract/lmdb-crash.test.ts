import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeLimits } from '../../src/base/index.js';
import { type CommitRecord, createCommitter, readRecords } from '../../src/commit/index.js';
import { CounterApplier, counterKey, counterValue } from '../../src/commit/testing/counter-applier.js';
import { startTsOf } from '../../src/commit/testing/start.js';
import { KeyWriter, openLmdbStore, type Store } from '../../src/store/index.js';
import { tellsCaches } from '../../src/store/page-cache.js';
import { logOfLost } from '../../src/store/roll-back.js';
import { diskFolder } from '../memory-folder.js';

const program = fileURLToPath(new URL('./writer-child.mjs', import.meta.url));
const limits = makeLimits({ ballastBytes: 1, diskReserve: 1 });
/** each was seen to lose a batch, or to end the writer, about one time in five hundred */
const OPENINGS = 1_000;
const keys = new KeyWriter('graph');

/** Lines of a child until it ends; killed without warning once there are `killAfter` of them. */
async function run(mode: string, directory: string, killAfter = Number.POSITIVE_INFINITY): Promise<string[]> {
  return collect(spawn(process.execPath, [program, mode, directory], { stdio: ['ignore', 'pipe', 'pipe'] }), killAfter);
}

async function collect(child: ChildProcess, killAfter = Number.POSITIVE_INFINITY): Promise<string[]> {
  const lines: string[] = [];
  const closed = once(child, 'close');
  if (child.stdout === null) throw new Error('a child with a stdout');
  child.stderr?.resume();
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    if (lines.push(line) === killAfter) child.kill('SIGKILL');
  });
  const ended = once(reader, 'close');
  await Promise.all([closed, ended]);
  return lines;
}

async function replaceByCopy(directory: string): Promise<void> {
  const copy = `${directory}-copy`;
  await cp(directory, copy, { recursive: true });
  await rm(directory, { recursive: true });
  await rename(copy, directory);
  expect(logOfLost(directory) !== undefined).toBe(tellsCaches);
}

/** Entries of a batch that is handed over in slices. */
const LARGE = 10_000;

/** What `large` of the child has written: the versions in the keys of its large batches, and that in the key of the small ones. */
async function versionsIn(store: Store): Promise<{ version: number; large: ReadonlySet<number>; small?: number }> {
  const snapshot = store.snapshot();
  try {
    const { values } = await snapshot.range({ ...new KeyWriter('graph').range(), limit: 2 * LARGE });
    const versions = values.map(([version]) => version);
    expect([0, LARGE, LARGE + 1]).toContain(versions.length);
    return { version: snapshot.version, large: new Set(versions.slice(0, LARGE)), small: versions[LARGE] };
  } finally {
    snapshot.release();
  }
}

describe('the lmdb store, when its process is killed', () => {
  let directory: string;
  let store: Store | undefined;
  const open = async (): Promise<Store> => (store = await openLmdbStore(directory, { limits }));

  beforeEach(async () => {
    directory = await mkdtemp(join(diskFolder(), 'graphstead-crash-'));
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
    await rm(directory, { recursive: true, force: true });
  });

  it('uses pages again that a killed reader held', async () => {
    const writer = await open();
    let version = 0;
    const write = async (batches: number) => {
      for (let i = 0; i < batches; i++) {
        const puts = Array.from({ length: 20 }, (_, id) => ({
          key: keys.uint(id).key(),
          value: Buffer.alloc(3_000),
        }));
        await writer.apply({ version: ++version, puts }, { expectEpoch: writer.epoch });
      }
      return writer.stats()['fileBytes'];
    };
    const before = await write(50);
    const child = spawn(process.execPath, [program, 'hold', directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    expect(await collect(child, 1)).toEqual([`held ${version}`]);
    const held = await write(50);
    expect(held - before).toBeGreaterThan(1_000_000);
    const { now } = performance;
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 61_000);
    await write(1);
    later.mockRestore();
    expect((await write(50)) - held).toBeLessThan(500_000);
  });

  it('loses nothing while another process opens the file again and again', async () => {
    const child = spawn(process.execPath, [program, 'store', directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = collect(child);
    await expect.poll(() => existsSync(join(directory, 'writing'))).toBe(true);
    for (let i = 0; i < OPENINGS; i++) await (await openLmdbStore(directory, { limits, readOnly: true })).close();
    child.kill('SIGKILL');
    const last = Number((await lines).at(-1));
    expect(child.signalCode).toBe('SIGKILL');
    const snapshot = (await open()).snapshot();
    const { keys: found } = await snapshot.range({
      ...new KeyWriter('graph').range(),
      keysOnly: true,
      limit: 10 * last,
    });
    snapshot.release();
    expect(found.length).toBeGreaterThanOrEqual(3 * last);
  }, 240_000); // each opening may wait for a sync of the disk

  it('is not fenced by one that only reads and cannot see it, as from another container', async () => {
    const child = spawn(process.execPath, [program, 'store', directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = collect(child);
    await expect.poll(() => existsSync(join(directory, 'writing'))).toBe(true);
    await rm(join(directory, 'writer.json'));
    for (let i = 0; i < 100; i++) await (await openLmdbStore(directory, { limits, readOnly: true })).close();
    child.kill('SIGKILL');
    expect((await lines).at(-1)).toMatch(/^\d+$/);
    const { epoch } = await open();
    expect(epoch).toBe(2);
  }, 60_000);

  it.each([
    ['killed', false],
    // A copy is another file: what is not behind the last checkpoint counts as lost, and comes from the log.
    ['without power', true],
  ])('loses nothing that was acknowledged, and nothing lands in part: %s', async (_, copied) => {
    let acknowledged = 0;
    for (const killAfter of [1, 40, 150, 600]) {
      const lines = await run('store', directory, killAfter);
      const last = Number(lines.at(-1));
      expect(last).toBeGreaterThan(acknowledged);
      acknowledged = last;
      if (copied) await replaceByCopy(directory);
      const reopened = await open();
      const snapshot = reopened.snapshot();
      expect(snapshot.version).toBeGreaterThanOrEqual(acknowledged);
      for (let version = 1; version <= snapshot.version; version++) {
        const values = await snapshot.getMany([1, 2, 3].map((part) => keys.uint(version).uint(part).key()));
        expect(values.every((value) => value?.length === 1_000 && value[999] === version % 251)).toBe(true);
      }
      expect(
        await snapshot.get(
          keys
            .uint(snapshot.version + 1)
            .uint(1)
            .key(),
        ),
      ).toBeUndefined();
      snapshot.release();
      await reopened.close();
    }
  });

  it('holds a large batch whole or not at all, wherever its process ends, and so it is read beside it', async () => {
    for (const ms of [0, 15, 40, 80, 150, 300]) {
      const before = (await versionsIn(await open())).version;
      await store?.close();
      const child = spawn(process.execPath, [program, 'large', directory, String(LARGE)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines = collect(child);
      const reader = await vi.waitFor(() => openLmdbStore(directory, { limits, readOnly: true }), { timeout: 20_000 });
      for (let version = 0; version < before + 4; ) {
        const seen = await versionsIn(reader);
        version = seen.version;
        expect(seen.large.size).toBeLessThanOrEqual(1);
      }
      await reader.close();
      await pause(ms);
      child.kill('SIGKILL');
      const acknowledged = Number((await lines).at(-1));
      const { version, large, small } = await versionsIn(await open());
      await store?.close();
      expect(version).toBeGreaterThanOrEqual(acknowledged);
      const [odd, even] = version % 2 === 0 ? [version - 1, version] : [version, version - 1];
      expect([...large]).toEqual([odd % 251]);
      expect(small).toBe(even % 251);
    }
  }, 120_000);

  it('keeps acknowledged commits once each, and never issues their timestamps again', async () => {
    const issued = new Set<number>();
    const acknowledged = new Map<string, number>();
    for (const killAfter of [60, 500]) {
      for (const line of await run('commit', directory, killAfter)) {
        const [kind, timestamp, client] = line.split(' ');
        expect(issued.has(Number(timestamp))).toBe(false);
        issued.add(Number(timestamp));
        if (kind === 'commit') acknowledged.set(client, (acknowledged.get(client) ?? 0) + 1);
      }
      const reopened = await open();
      const committer = await createCommitter({ store: reopened, appliers: [new CounterApplier()], limits });
      const snapshot = committer.snapshot();
      const records: CommitRecord[] = [];
      for await (const page of readRecords(snapshot, 0)) records.push(...page);
      const all = counterValue(await snapshot.get(counterKey('counters', 'all')));
      expect(all).toBe(records.length);
      const known = new Set(records.map(({ commitTs }) => commitTs));
      for (const [client, count] of acknowledged) {
        const value = counterValue(await snapshot.get(counterKey('counters', `client${client}`)));
        expect(value).toBeGreaterThanOrEqual(count);
      }
      for (const timestamp of known) issued.add(timestamp);
      const next = await startTsOf(committer);
      expect(next).toBeGreaterThan(Math.max(...issued));
      issued.add(next);
      snapshot.release();
      await committer.close();
      await reopened.close();
    }
  });

  it('is not opened for writing by two, and fences the first when the second insists', async () => {
    const first = await open();
    const [error] = await run('store', directory, 1);
    expect(error).toMatch(new RegExp(`^error STORE_LOCKED .* process ${process.pid}$`));
    const [line] = await run('steal', directory);
    expect(line).toBe(`epoch ${first.epoch + 1}`);
    const lost = { version: 5, puts: [{ key: keys.uint(0).key(), value: Buffer.from('lost') }] };
    await expect(first.apply(lost, { expectEpoch: first.epoch })).rejects.toMatchObject({ code: 'STORE_FENCED' });
    await first.close();
    const snapshot = (await open()).snapshot();
    expect(Buffer.from((await snapshot.get(keys.uint(0).key())) ?? []).toString()).toBe('stolen');
    snapshot.release();
  });

  it.each([50, LARGE])(
    'answers DISK_FULL when the file cannot grow for %i entries, and reads and opens on',
    async (entries) => {
      const command = `ulimit -f 6000; exec "${process.execPath}" "${program}" full "${directory}" ${entries}`;
      const lines = await collect(spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] }));
      expect(lines[0]).toBe('refused DISK_FULL');
      const [, version, written, count] = (lines[1] ?? '').split(' ').map(Number);
      expect(version).toBe(written);
      expect(count).toBe(written * entries);
      expect(lines[2]).toMatch(/^again/);
      const snapshot = (await open()).snapshot();
      // what was refused does not come back from the redo log
      const again = lines[2] === 'again ok';
      expect(snapshot.version).toBe(again ? written + 1 : written);
      const { keys: left } = await snapshot.range({
        ...new KeyWriter('graph').range(),
        keysOnly: true,
        limit: 1_000_000,
      });
      expect(left.length).toBe(again ? count - 1 : count);
      snapshot.release();
    },
  );
});
