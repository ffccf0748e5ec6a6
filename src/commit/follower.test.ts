import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeLimits } from '../base/index.js';
import { lateStore, Refusals } from '../../test/late-store.js';
import { bound } from '../../test/stored.js';
import { createMemoryStore, MemoryDisk, type Snapshot, type Store } from '../store/index.js';
import { createCommitter } from './committer.js';
import type { CommitRecord, Committer } from './contract.js';
import { createFollower } from './follower.js';
import { CounterApplier, type CounterPart } from './testing/counter-applier.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0).reverse()) await close();
});

/** Something that happens now and then, and whoever waits for it. */
class Happening<T> {
  readonly all: T[] = [];
  #waiting: (() => void)[] = [];

  readonly tell = (one: T): void => {
    this.all.push(one);
    for (const resolve of this.#waiting.splice(0)) resolve();
  };

  async until(met: (all: readonly T[]) => boolean): Promise<readonly T[]> {
    while (!met(this.all)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.all;
  }
}

interface Following {
  readonly writer: Committer;
  readonly reader: Committer;
  /** timestamps that followers saw, and what everybody could read at that moment */
  readonly seen: Happening<{ readonly commitTs: number; readonly readable: number; readonly shown: number }>;
  readonly told: Happening<CommitRecord>;
  readonly failing: Happening<unknown>;
  readonly lost: Happening<{ readonly code: string }>;
  commit(name: string): Promise<number>;
}

interface Disturbed {
  /** throws in place of a look */
  readonly refresh?: () => Promise<void>;
  readonly recordBytes?: number;
  /** a minute is longer than any test: nothing is seen but for whoever asks */
  readonly followMs?: number;
  readonly onlyAsked?: boolean;
  /** awaited before a follower has seen what a look found */
  readonly seeing?: () => Promise<void>;
  /** what the reader reads, in place of the store itself */
  readonly seenAs?: (store: Store) => Store;
}

async function follow(disturbed: Disturbed = {}): Promise<Following> {
  const { refresh, recordBytes = 1e9, followMs = 1, seenAs = (store) => store, seeing, onlyAsked = false } = disturbed;
  const disk = new MemoryDisk();
  const limits = makeLimits({ followMs, recordBytes });
  let wall = 1;
  const clock = { wall: () => ++wall, monotonic: () => wall };
  const appliers = [new CounterApplier()];
  const writer = await createCommitter({ store: createMemoryStore({ disk }), appliers, clock, limits });
  closers.push(() => writer.close());
  const commit = async (name: string) => {
    const counters: CounterPart = { add: [[name, 1]], note: 'x'.repeat(100) };
    return (await writer.commit({ startTs: 0, conflicts: [], parts: { counters } })).commitTs;
  };
  await commit('before');
  const memory = seenAs(createMemoryStore({ disk, readOnly: true }));
  const store: Store = { ...bound(memory), ...(refresh ? { refresh } : {}) };
  const [seen, told, failing, lost] = [
    new Happening<{ commitTs: number; readable: number; shown: number }>(),
    new Happening<CommitRecord>(),
    new Happening<unknown>(),
    new Happening<{ code: string }>(),
  ];
  const saw = async (snapshot: Snapshot, records: readonly CommitRecord[]) => {
    await seeing?.();
    for (const { commitTs } of records) seen.tell({ commitTs, readable: reader.lastCommitTs, shown: snapshot.version });
  };
  const reader = await createFollower({
    store,
    followers: [{ saw }],
    limits,
    onlyAsked,
    failing: failing.tell,
    lost: lost.tell,
  });
  closers.push(() => reader.close());
  reader.onCommit((records) => records.forEach(told.tell));
  return { writer, reader, seen, told, failing, lost, commit };
}

/** The store with a count of its snapshots that nobody has released. */
function counted(store: Store): { readonly store: Store; open(): number } {
  let open = 0;
  const count = (snapshot: Snapshot): Snapshot => {
    open++;
    return {
      version: snapshot.version,
      getMany: (keys) => snapshot.getMany(keys),
      visit: (keys, visit) => snapshot.visit(keys, visit),
      get: (key) => snapshot.get(key),
      range: (range) => snapshot.range(range),
      again: () => count(snapshot.again()),
      release() {
        open--;
        snapshot.release();
      },
    };
  };
  return { store: { ...bound(store), snapshot: () => count(store.snapshot()) }, open: () => open };
}

describe('a follower', () => {
  it('tells of every commit of the one that writes, once and in order', async () => {
    const { reader, told, commit } = await follow();
    const wanted: number[] = [];
    for (let i = 0; i < 50; i++) wanted.push(await commit(`n${i}`));
    const records = await told.until((all) => all.length >= 50);
    expect(records.map(({ commitTs }) => commitTs)).toEqual(wanted);
    expect(reader.lastCommitTs).toBe(wanted[49]);
  });

  it('shows caches a commit before anybody reads it, and tells listeners when everybody can', async () => {
    const { reader, seen, told, commit } = await follow();
    let readable = 0;
    reader.onCommit(() => {
      const snapshot = reader.snapshot();
      readable = snapshot.version;
      snapshot.release();
    });
    const commitTs = await commit('a');
    await told.until((all) => all.length > 0);
    expect(seen.all[0].readable).toBeLessThan(commitTs);
    expect(seen.all[0].shown).toBeGreaterThanOrEqual(commitTs);
    expect(readable).toBeGreaterThanOrEqual(commitTs);
  });

  it('keeps a snapshot still while it goes on', async () => {
    const { reader, told, commit } = await follow();
    const snapshot = reader.snapshot();
    const { version } = snapshot;
    await commit('a');
    await told.until((all) => all.length > 0);
    expect(snapshot.version).toBe(version);
    expect((await snapshot.range({ start: Uint8Array.of(0), end: Uint8Array.of(255) })).keys.length).toBeGreaterThan(0);
    snapshot.release();
  });

  it('lets tails begin anywhere, also at a commit that it has not seen yet', async () => {
    const { reader, commit } = await follow();
    const first = await commit('a');
    const ahead: number[] = [];
    const stop = new AbortController();
    const tail = reader.tail(first, stop.signal);
    const second = await commit('b');
    for await (const { commitTs } of tail) {
      ahead.push(commitTs);
      break;
    }
    expect(ahead).toEqual([second]);
  });

  it('shows what was committed before to whoever has to see it, without waiting for the next look', async () => {
    const { reader, told, commit } = await follow({ followMs: 60_000 });
    for (let i = 0; i < 20; i++) {
      const commitTs = await commit(`n${i}`);
      await Promise.all([reader.caughtUp(), reader.caughtUp()]);
      expect([reader.lastCommitTs, told.all.at(-1)?.commitTs]).toEqual([commitTs, commitTs]);
    }
  });

  it('looks again for whoever asks while a look is under way, which may have missed what he has to see', async () => {
    const seeings = new Happening<() => void>();
    const seeing = () => new Promise<void>((resolve) => seeings.tell(resolve));
    const { reader, commit } = await follow({ followMs: 60_000, seeing });
    await commit('a');
    const first = reader.caughtUp();
    const [see] = await seeings.until((all) => all.length === 1);
    const commitTs = await commit('b');
    const second = reader.caughtUp();
    see();
    await first;
    expect(reader.lastCommitTs).toBeLessThan(commitTs);
    (await seeings.until((all) => all.length === 2))[1]();
    await second;
    expect(reader.lastCommitTs).toBe(commitTs);
  });

  it('looks for nothing by itself where it is only to look when asked', async () => {
    let looks = 0;
    const refresh = async () => {
      looks++;
    };
    const { reader, commit } = await follow({ onlyAsked: true, refresh });
    const commitTs = await commit('a');
    // twenty looks of one that does look
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([looks, reader.lastCommitTs < commitTs]).toEqual([0, true]);
    await reader.caughtUp();
    expect([looks, reader.lastCommitTs]).toEqual([1, commitTs]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(looks).toBe(1);
  });

  it('tells whoever has to see everything what keeps it from looking, and nothing once it can', async () => {
    let away = true;
    const refresh = async () => {
      if (away) throw new Error('away');
    };
    const { reader, commit } = await follow({ followMs: 60_000, refresh });
    await expect(reader.caughtUp()).rejects.toThrow('away');
    away = false;
    const commitTs = await commit('a');
    await reader.caughtUp();
    expect(reader.lastCommitTs).toBe(commitTs);
  });

  it('refuses whatever would write', async () => {
    const { reader } = await follow();
    const refused = { code: 'READ_ONLY_STORE' };
    await expect(reader.commit({ startTs: 0, parts: {}, conflicts: [] })).rejects.toMatchObject(refused);
    expect(reader.readOnly).toBe(true);
  });

  it('goes on when the store was away, and says so once', async () => {
    let looks = 0;
    const refresh = async () => {
      if (++looks <= 3) throw new Error('away');
    };
    const { told, failing, commit } = await follow({ refresh });
    const commitTs = await commit('a');
    const records = await told.until((all) => all.length > 0);
    expect(records[0].commitTs).toBe(commitTs);
    expect(failing.all.map((one) => (one === undefined ? 'over' : 'away'))).toEqual(['away', 'over']);
  });

  it('tells of all that came while it stood still, though the store fails it in between', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const refusals = new Refusals({ read: 13, write: 2 });
    const { told, seen, failing, commit } = await follow({
      refresh: () => gate,
      seenAs: (store) => lateStore(store, refusals.refuses),
    });
    const wanted: number[] = [];
    for (let i = 0; i < 5_000; i++) wanted.push(await commit(`n${i % 10}`));
    refusals.on = true;
    open();
    const records = await told.until((all) => all.length >= wanted.length);
    expect(records.map(({ commitTs }) => commitTs)).toEqual(wanted);
    expect(failing.all.length).toBeGreaterThan(0);
    expect(seen.all.every(({ commitTs, readable }) => readable < commitTs)).toBe(true);
  });

  it('ends when commits are gone that it has not seen', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { writer, reader, told, lost, commit } = await follow({ refresh: () => gate, recordBytes: 500 });
    for (let i = 0; i < 50; i++) await commit(`n${i}`);
    expect(writer.trimmedTs).toBeGreaterThan(reader.lastCommitTs);
    open();
    const [error] = await lost.until((all) => all.length > 0);
    expect(error).toMatchObject({ code: 'EVENT_GAP', details: { trimmed: writer.trimmedTs } });
    expect(told.all).toEqual([]);
    await expect(reader.caughtUp()).rejects.toBe(error);
  });

  it('holds one snapshot of the store, whatever its looks find, and none once it is closed', async () => {
    const refusals = new Refusals({ read: 2, write: 2 });
    let open = () => 0;
    const { reader, commit } = await follow({
      followMs: 60_000,
      seenAs: (store) => {
        const snapshots = counted(store);
        open = snapshots.open;
        return lateStore(snapshots.store, refusals.refuses);
      },
    });
    const lookAt = async (commits: number) => {
      for (let i = 0; i < commits; i++) await commit(`n${i}`);
      await Promise.resolve(reader.caughtUp()).catch(() => undefined);
      return open();
    };
    // nothing, a little, more than is kept in memory, and what the store fails it at
    expect([await lookAt(0), await lookAt(2), await lookAt(4_100)]).toEqual([1, 1, 1]);
    refusals.on = true;
    const failing = [];
    for (let i = 0; i < 8; i++) failing.push(await lookAt(1));
    expect(failing).toEqual(Array(8).fill(1));
    await reader.close();
    expect(open()).toBe(0);
  });

  it('looks by itself no more often for being asked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { reader } = await follow({ followMs: 60_000 });
    for (let i = 0; i < 5; i++) await reader.caughtUp();
    expect(vi.getTimerCount()).toBe(1);
  });

  it('counts what it was told, and knows which records stand', async () => {
    const { writer, reader, commit } = await follow({ followMs: 60_000, recordBytes: 2_000 });
    for (let i = 0; i < 5; i++) await commit('a');
    await reader.caughtUp();
    expect(reader.stats()).toMatchObject({ commits: 5, recordBytes: writer.stats()['recordBytes'] });
    for (let i = 0; i < 20; i++) {
      await commit('a');
      await reader.caughtUp();
    }
    expect(writer.trimmedTs).toBeGreaterThan(0);
    expect(reader.trimmedTs).toBe(writer.trimmedTs);
  });

  it('ends no sooner than the look that is under way, and looks no more', async () => {
    const seeings = new Happening<() => void>();
    const seeing = () => new Promise<void>((resolve) => seeings.tell(resolve));
    let looks = 0;
    const refresh = async () => void looks++;
    const { reader, commit } = await follow({ followMs: 60_000, seeing, refresh });
    const commitTs = await commit('a');
    const under = reader.caughtUp();
    const [see] = await seeings.until((all) => all.length === 1);
    const behind = reader.caughtUp();
    const closed = reader.close().then(() => reader.lastCommitTs);
    see();
    await Promise.all([under, behind]);
    expect(await closed).toBe(commitTs);
    expect(looks).toBe(1);
  });

  it.each([0, 1])('knows whether it has seen all that is gone, where %d commits are missing', async (missing) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { writer, reader, told, lost, commit } = await follow({ followMs: 60_000, recordBytes: 1_000 });
    const [seen, wanted]: [number, number[]] = [reader.lastCommitTs, []];
    const gone = () => (missing === 0 ? seen : (wanted[0] ?? Number.POSITIVE_INFINITY));
    while (writer.trimmedTs < gone()) wanted.push(await commit('a'));
    expect(writer.trimmedTs).toBe(gone());
    if (missing === 0) {
      await reader.caughtUp();
      expect(told.all.map(({ commitTs }) => commitTs)).toEqual(wanted);
      return;
    }
    await expect(reader.caughtUp()).rejects.toMatchObject({ code: 'EVENT_GAP' });
    // nor is it looked for anything any more
    expect(vi.getTimerCount()).toBe(0);
    expect(lost.all).toHaveLength(1);
  });
});
