import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLimits } from '../base/index.js';
import { createMemoryStore, MemoryDisk } from '../store/index.js';
import { createCommitter } from './committer.js';
import type { CommitRecord, Committer } from './contract.js';
import { readRecords, recordRange } from './record.js';
import { CounterApplier, type CounterPart } from './testing/counter-applier.js';

const conflicts = [] as const;

describe('the commit stream', () => {
  let disk: MemoryDisk;
  let committer: Committer;
  let now = 0;
  let stop: AbortController;

  const open = async (limits = makeLimits()): Promise<void> => {
    committer = await createCommitter({
      store: createMemoryStore({ disk }),
      appliers: [new CounterApplier()],
      clock: { wall: () => now, monotonic: () => now },
      limits,
    });
  };
  const commit = async (name: string, note = ''): Promise<number> => {
    const counters: CounterPart = { add: [[name, 1]], note };
    const { commitTs } = await committer.commit({ startTs: 0, conflicts, parts: { counters } });
    return commitTs;
  };
  const commits = async (count: number, size = 1): Promise<number[]> => {
    const all: number[] = [];
    for (let i = 0; i < count; i++) all.push(await commit(`n${i}`, 'x'.repeat(size)));
    return all;
  };
  const take = async (count: number, after = 0): Promise<CommitRecord[]> => {
    const records: CommitRecord[] = [];
    for await (const record of committer.tail(after, stop.signal)) {
      records.push(record);
      if (records.length === count) break;
    }
    return records;
  };
  const timestamps = (records: readonly CommitRecord[]): number[] => records.map(({ commitTs }) => commitTs);

  beforeEach(async () => {
    now = 1_000_000;
    disk = new MemoryDisk();
    stop = new AbortController();
    await open();
  });
  afterEach(() => committer.close());

  it('tells each record whole, in order, to listeners and tails', async () => {
    const told: CommitRecord[] = [];
    const off = committer.onCommit((records) => told.push(...records));
    const all = await commits(5, 5_000);
    off();
    await commit('unheard');
    expect(timestamps(told)).toEqual(all);
    expect(told[0].parts).toEqual({ counters: { add: [['n0', 1]], note: 'x'.repeat(5_000) } });
    expect(await take(5)).toEqual(told);
  });

  it('reads from the store what came before a restart, then goes on live', async () => {
    const before = await commits(20, 3_000);
    await open();
    const reading = take(25, before[3]);
    const after = await commits(9);
    expect(timestamps(await reading)).toEqual([...before, ...after].slice(4));
  });

  it('goes on live for a reader that keeps up, and from the store for one that fell behind', async () => {
    const slow = committer.tail(0, stop.signal)[Symbol.asyncIterator]();
    const first = slow.next();
    const all = await commits(3_000);
    const seen = [(await first).value.commitTs];
    while (seen.length < all.length) seen.push((await slow.next()).value.commitTs);
    expect(seen).toEqual(all);
  });

  it('ends when aborted, also while it waits, and when the committer closes', async () => {
    const iterator = committer.tail(committer.lastCommitTs, stop.signal)[Symbol.asyncIterator]();
    const waiting = iterator.next();
    stop.abort();
    expect((await waiting).done).toBe(true);
    const another = committer.tail(committer.lastCommitTs, new AbortController().signal)[Symbol.asyncIterator]();
    const open = another.next();
    await committer.close();
    expect((await open).done).toBe(true);
  });

  it('says when records are gone: by bytes', async () => {
    await open(makeLimits({ recordBytes: 100_000 }));
    const all = await commits(100, 3_000);
    expect(committer.stats()['recordBytes']).toBeLessThan(110_000);
    await open();
    await expect(take(1)).rejects.toMatchObject({ code: 'EVENT_GAP' });
    expect(timestamps(await take(2, all[97]))).toEqual(all.slice(98));
    expect(committer.stats()['recordBytes']).toBeLessThan(110_000);
  });

  /** What is stored of records, gone or not, and how many can be read. */
  const stored = async (): Promise<{ bytes: number; readable: number }> => {
    const snapshot = committer.snapshot();
    const { values } = await snapshot.range({ ...recordRange(0), limit: 100_000 });
    let readable = 0;
    for await (const page of readRecords(snapshot, committer.trimmedTs)) readable += page.length;
    snapshot.release();
    return { bytes: values.reduce((sum, { length }) => sum + length, 0), readable };
  };

  it.each([
    ['one is very large', 1_000_000, 1, 100],
    ['many come at a time', 10, 100, 20],
  ])('keeps no more than their bytes where %s', async (_, first, together, groups) => {
    await open(makeLimits({ recordBytes: 8_000 }));
    await commit('first', 'x'.repeat(first));
    for (let i = 0; i < groups; i++) {
      await Promise.all(Array.from({ length: together }, (_each, n) => commit(`n${n}`)));
      const { bytes, readable } = await stored();
      expect(committer.stats()['recordBytes']).toBe(bytes);
      expect(readable).toBeGreaterThanOrEqual(together);
    }
    const one = 100 * together;
    expect((await stored()).bytes).toBeLessThan(8_000 + one);
  });

  it('says when records are gone: by age', async () => {
    const old = await commits(10);
    now += makeLimits().recordAgeMs + 1;
    await open();
    const [fresh] = await commits(1);
    await expect(take(1, old[8])).rejects.toMatchObject({ code: 'EVENT_GAP' });
    await open();
    await expect(take(1, old[8])).rejects.toMatchObject({ code: 'EVENT_GAP' });
    expect(timestamps(await take(1, old[9]))).toEqual([fresh]);
  });

  it('deletes a bounded number of old records with one commit', async () => {
    await committer.close();
    await open(makeLimits({ recordAgeMs: 1_000 }));
    await commits(300);
    now += 10_000;
    const before = disk.list.size;
    await commit('late');
    expect(before - disk.list.size).toBeGreaterThan(32);
    expect(before - disk.list.size).toBeLessThan(100);
  });

  it('deletes all of a large record past its age, and what comes behind it', async () => {
    const [old] = await commits(1, 1_000_000);
    await commits(10);
    now += makeLimits().recordAgeMs + 1;
    await commits(20);
    expect(committer.trimmedTs).toBeGreaterThan(old);
    expect(committer.stats()['recordBytes']).toBe((await stored()).bytes);
    expect((await stored()).readable).toBe(20);
  });

  it('keeps a commit that landed when a listener throws', async () => {
    const warnings: Error[] = [];
    const warned = new Promise<void>((resolve) => {
      process.once('warning', (warning) => {
        warnings.push(warning);
        resolve();
      });
    });
    committer.onCommit(() => {
      throw new Error('listener');
    });
    await commit('a');
    await warned;
    expect(warnings[0].message).toBe('listener');
  });

  it('tells a record whose bytes are not those that were written, whichever they are, or of which a piece is gone', async () => {
    await commit('a', 'x'.repeat(5_000));
    await committer.close(); // what it remembers is not read again
    const sound = disk.list;
    const { keys, values } = sound.range(recordRange(0));
    expect(keys).toHaveLength(2);
    const spoiled = async (key: Uint8Array, value: Uint8Array | undefined): Promise<void> => {
      disk.list = sound.edit((editor) => (value ? editor.put(key, value) : editor.delete(key)));
      await open();
      await expect(take(1)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    };
    for (const [chunk, value] of values.entries()) {
      // of the first piece: behind its format, and not the time, which the checksum does not cover
      for (const at of [...(chunk === 0 ? [1, 4, 5, 8, 17] : [0]), value.length >> 1, value.length - 1]) {
        const flipped = value.slice();
        flipped[at] ^= 1;
        await spoiled(keys[chunk], flipped);
      }
    }
    await spoiled(keys[1], undefined);
  });
});
