import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, GraphsteadError, type Limits, makeLimits } from '../base/index.js';
import { createMemoryStore, MemoryDisk, type MemoryStoreOptions, type Store } from '../store/index.js';
import { readState } from './commit-state.js';
import { createCommitter } from './committer.js';
import type { Committer, ConflictKey, IdempotencyClaim, Intent } from './contract.js';
import { FINGERPRINTED_AT_ONCE, KEY_WORDS } from './fingerprint.js';
import { ConflictOracle } from './oracle.js';
import { encodeBody, recordPuts } from './record.js';
import { CounterApplier, type CounterPart, counterKey, counterValue } from './testing/counter-applier.js';
import { startTsOf } from './testing/start.js';

const exclusive = (key: string): ConflictKey => ({ key, exclusive: true });
const shared = (key: string): ConflictKey => ({ key, exclusive: false });
const add = (name: string, amount = 1): CounterPart => ({ add: [[name, amount]] });
const intent = (counters: CounterPart, rest: Partial<Intent> = {}): Intent => ({
  startTs: 0,
  conflicts: [],
  parts: { counters },
  ...rest,
});

class ManualClock implements Clock {
  now = 1_000_000;
  /** how far it was set ahead */
  ahead = 0;
  wall = (): number => this.now + this.ahead;
  monotonic = (): number => this.now;
}

describe('the committer', () => {
  let disk: MemoryDisk;
  let committer: Committer;
  let clock: ManualClock;
  let counters: CounterApplier;
  let others: CounterApplier;

  const open = async (limits?: Limits, store?: Partial<MemoryStoreOptions>): Promise<Committer> => {
    counters = new CounterApplier();
    others = new CounterApplier('others');
    committer = await createCommitter({
      store: createMemoryStore({ disk, ...store }),
      appliers: [counters, others],
      clock,
      limits,
    });
    return committer;
  };
  const value = async (name: string, applier = 'counters'): Promise<number> => {
    const snapshot = committer.snapshot();
    const bytes = await snapshot.get(counterKey(applier, name));
    snapshot.release();
    return counterValue(bytes);
  };

  beforeEach(async () => {
    disk = new MemoryDisk();
    clock = new ManualClock();
    await open();
  });
  afterEach(() => committer.close());

  it('judges and notes the keys of a large commit in parts, and cuts its record in steps', async () => {
    const [judged, noted] = [
      vi.spyOn(ConflictOracle.prototype, 'conflicts'),
      vi.spyOn(ConflictOracle.prototype, 'commit'),
    ];
    const numbers = Array.from({ length: 100_000 }, (_, i) => i + 1);
    const edges = { prefix: 'o knows\n', numbers, width: 2, exclusive: true } as const;
    const large = { ...add('a'), bytes: new Uint8Array(3_000_000) };
    await committer.commit(
      intent(large, { startTs: await startTsOf(committer), conflicts: [shared('p')], numbered: [edges] }),
    );
    for (const calls of [judged.mock.calls, noted.mock.calls]) {
      expect(calls.reduce((sum, [, keys]) => sum + keys.length, 0)).toBe(50_001 * KEY_WORDS);
      expect(Math.max(...calls.map(([, keys]) => keys.length))).toBe(FINGERPRINTED_AT_ONCE * KEY_WORDS);
    }
    const startTs = await startTsOf(committer);
    vi.restoreAllMocks();
    expect(await value('a')).toBe(1);
    await committer.commit(intent(add('b'), { conflicts: [exclusive('o knows\n9\na')] }));
    const late = committer.commit(
      intent(add('b'), { startTs, numbered: [{ ...edges, numbers: numbers.slice(8, 10) }] }),
    );
    await expect(late).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    const body = encodeBody({ parts: { counters: large } });
    const steps = recordPuts(7, 1, body);
    let stops = 0;
    while (!steps.next().done) stops++;
    expect(stops).toBeGreaterThan(4);
  });

  it('tells what to do where the store may only be read, since a newer version wrote it', async () => {
    await expect(open(undefined, { readOnly: true })).rejects.toMatchObject({
      code: 'READ_ONLY_STORE',
      message: expect.stringContaining('newer version'),
      fix: expect.stringContaining('--read-only'),
    });
    await open();
  });

  it('commits an intent and answers with its timestamp, wall time and results', async () => {
    const committed = await committer.commit(intent(add('a', 5)));
    expect(committed).toMatchObject({ wall: 1_000_000, results: { counters: [5] } });
    expect(committed.commitTs).toBe(committer.lastCommitTs);
    expect(await value('a')).toBe(5);
    const snapshot = committer.snapshot();
    expect(snapshot.version).toBe(committed.commitTs);
    snapshot.release();
  });

  it('gives back every snapshot it takes, also of a batch that only leases timestamps', async () => {
    const { store, held } = countingSnapshots(createMemoryStore({ disk }));
    for (const reopened of [false, true]) {
      const counting = await createCommitter({ store, appliers: [new CounterApplier()], clock });
      await startTsOf(counting);
      const beginning = await counting.begin();
      beginning.snapshot.release();
      await counting.commit(intent(add('a'), { startTs: beginning.startTs, conflicts: [exclusive('a')] }));
      await counting
        .commit(intent(add('a'), { startTs: beginning.startTs, conflicts: [exclusive('a')] }))
        .catch(() => 0);
      await counting.idempotentReply('s', 'k', 'h');
      for await (const _ of counting.tail(0, new AbortController().signal)) break;
      await counting.close();
      expect({ reopened, held: held() }).toEqual({ reopened, held: 0 });
    }
  });

  it('merges the intents of one moment into one group, in their order', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => committer.commit(intent(add('a')))));
    expect(all.map(({ results }) => results['counters'])).toEqual(Array.from({ length: 50 }, (_, i) => [i + 1]));
    expect(new Set(all.map(({ commitTs }) => commitTs)).size).toBe(50);
    expect(committer.stats()).toMatchObject({ commits: 50, groups: 1 });
    expect(counters.landed).toBe(1);
  });

  it('gathers what one turn of the event loop brings, however many steps each request takes', async () => {
    const request = async (steps: number) => {
      for (let step = 0; step < steps; step++) await new Promise<void>((resolve) => process.nextTick(resolve));
      return committer.commit(intent(add('a')));
    };
    await Promise.all(Array.from({ length: 20 }, (_, steps) => request(steps)));
    expect(committer.stats()).toMatchObject({ commits: 20, groups: 1 });
  });

  it('refuses one intent alone, without a trace', async () => {
    const results = await Promise.allSettled([
      committer.commit(intent(add('a'))),
      committer.commit(intent({ add: [['a', 10]], atMost: 5 })),
      committer.commit(intent(add('a'))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'INVALID_MUTATION' } });
    expect(await value('a')).toBe(2);
  });

  it('takes back what other appliers did when a later one refuses', async () => {
    const refused = intent(add('a', 100), {
      parts: { counters: add('a', 100), others: { add: [['b', 9]], atMost: 1 } },
    });
    const results = await Promise.allSettled([
      committer.commit(intent(add('a'))),
      committer.commit(refused),
      committer.commit(intent(add('a'))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([await value('a'), await value('b', 'others')]).toEqual([2, 0]);
  });

  it.each(['prepare', 'apply', 'flush'] as const)(
    'lets a mistake in %s fail only the intent that meets it',
    async (breaks) => {
      const results = await Promise.allSettled([
        committer.commit(intent(add('a'))),
        committer.commit(intent({ ...add('a', 10), breaks })),
        committer.commit(intent(add('a'))),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(results[1]).toMatchObject({ reason: { code: 'INTERNAL' } });
      expect(await value('a')).toBe(2);
    },
  );

  it('leaves no trace of an intent that the store failed while it was merged', async () => {
    const results = await Promise.allSettled([
      committer.commit(intent(add('a'))),
      committer.commit(intent({ ...add('a', 10), breaks: 'read' })),
      committer.commit(intent(add('a'))),
    ]);
    expect(results).toMatchObject([
      { status: 'fulfilled' },
      { reason: { code: 'OVERLOADED' } },
      { status: 'fulfilled' },
    ]);
    expect(await value('a')).toBe(2);
  });

  it.each([1, 2, 5])(
    'lets a key that no store takes fail only the intent that writes it, beside %i others',
    async (others) => {
      const committing = Array.from({ length: others }, () => committer.commit(intent(add('a'))));
      const refused = committer.commit(intent(add('b'.repeat(1_100))));
      await expect(refused).rejects.toMatchObject({ code: 'KEY_TOO_LARGE' });
      await Promise.all(committing);
      expect(await value('a')).toBe(others);
    },
  );

  it('brings no more to disk at once than some megabytes', async () => {
    const note = 'x'.repeat(5_000_000);
    const { groups } = committer.stats();
    await Promise.all(Array.from({ length: 3 }, () => committer.commit(intent({ ...add('a'), note }))));
    expect(committer.stats()['groups'] - groups).toBe(3);
  });

  it('tells every applier and listener of what landed, whatever one of them throws', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const heard: number[] = [];
    committer.onCommit(() => {
      throw new Error('deaf');
    });
    committer.onCommit((records) => heard.push(records.length));
    const parts = { counters: { ...add('a'), breaks: 'landed' }, others: add('b') };
    await committer.commit({ startTs: 0, conflicts: [], parts });
    // what broke forgets what it has kept
    expect([counters, others]).toMatchObject([
      { landed: 0, failed: 1 },
      { landed: 1, failed: 0 },
    ]);
    expect(heard).toEqual([1]);
    expect(warned.mock.calls.map(([error]) => (error as Error).message)).toEqual([
      expect.stringContaining('broken in landed'),
      'deaf',
    ]);
    warned.mockRestore();
  });

  it('aborts the second of two transactions that hold a key exclusively, in one group and across groups', async () => {
    const [first, second, third] = [await startTsOf(committer), await startTsOf(committer), await startTsOf(committer)];
    const conflicts = [exclusive('x')];
    const results = await Promise.allSettled([
      committer.commit(intent(add('a'), { startTs: second, conflicts })),
      committer.commit(intent(add('a'), { startTs: first, conflicts })),
    ]);
    expect(results[0].status).toBe('fulfilled');
    expect(results[1]).toMatchObject({
      reason: { code: 'TXN_ABORTED', message: 'Transaction has been aborted. Please retry.' },
    });
    await expect(committer.commit(intent(add('a'), { startTs: third, conflicts }))).rejects.toMatchObject({
      code: 'TXN_ABORTED',
    });
    await committer.commit(intent(add('a'), { startTs: await startTsOf(committer), conflicts }));
    expect(await value('a')).toBe(2);
  });

  it('lets holders of shared keys pass each other, but not a later exclusive one', async () => {
    const [a, b, c] = [await startTsOf(committer), await startTsOf(committer), await startTsOf(committer)];
    await committer.commit(intent(add('a'), { startTs: a, conflicts: [shared('p')] }));
    await committer.commit(intent(add('a'), { startTs: b, conflicts: [shared('p')] }));
    await expect(committer.commit(intent(add('a'), { startTs: c, conflicts: [exclusive('p')] }))).rejects.toMatchObject(
      { code: 'TXN_ABORTED' },
    );
  });

  it('counts a transaction that starts while a group is in flight as older than the group', async () => {
    const landing = committer.commit(intent(add('a'), { conflicts: [exclusive('x')] }));
    await Promise.resolve();
    const { startTs, snapshot } = await committer.begin();
    const seen = counterValue(await snapshot.get(counterKey('counters', 'a')));
    snapshot.release();
    const { commitTs } = await landing;
    expect(startTs < commitTs).toBe(seen === 0);
    const later = committer.commit(intent(add('a'), { startTs, conflicts: [exclusive('x')] }));
    if (seen === 0) await expect(later).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    else await later;
  });

  it('never issues a timestamp twice, also after the process ended without closing', async () => {
    const issued = new Set<number>();
    for (let run = 0; run < 4; run++) {
      const work = Array.from({ length: 300 }, (_, i) =>
        i % 3 === 0 ? startTsOf(committer) : committer.commit(intent(add('a'))).then(({ commitTs }) => commitTs),
      );
      const got = await Promise.all(work);
      for (const timestamp of got) {
        expect(issued.has(timestamp)).toBe(false);
        issued.add(timestamp);
      }
      const most = Math.max(...issued);
      await open();
      expect(await startTsOf(committer)).toBeGreaterThan(most);
    }
  });

  it('aborts a transaction that started before a restart, and knows none from the future', async () => {
    const startTs = await startTsOf(committer);
    await open();
    await expect(committer.commit(intent(add('a'), { startTs }))).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    const future = committer.lastCommitTs + 10_000_000;
    await expect(committer.commit(intent(add('a'), { startTs: future }))).rejects.toMatchObject({
      code: 'TXN_UNKNOWN',
    });
  });

  it('aborts also the last transaction that may have started before a restart', async () => {
    await startTsOf(committer);
    const snapshot = committer.snapshot();
    const { lease } = await readState(snapshot);
    snapshot.release();
    await open();
    await startTsOf(committer);
    const commit = (startTs: number) => committer.commit(intent(add('a'), { startTs }));
    await expect(commit(lease)).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    expect((await commit(lease + 1)).commitTs).toBeGreaterThan(lease);
  });

  it('keeps wall times rising when the clock steps back, also across a restart', async () => {
    const walls = [(await committer.commit(intent(add('a')))).wall];
    clock.now -= 5_000;
    walls.push((await committer.commit(intent(add('a')))).wall);
    await open();
    walls.push((await committer.commit(intent(add('a')))).wall);
    clock.now += 6_000;
    walls.push((await committer.commit(intent(add('a')))).wall);
    expect(walls).toEqual([1_000_000, 1_000_000, 1_000_000, 1_001_000]);
  });

  it('fails a group whole when the store does, and goes on with the next', async () => {
    let full = true;
    const beforeApply = (): void => {
      if (full) throw new GraphsteadError('DISK_FULL', 'no room', { fix: 'make room' });
    };
    await open(undefined, { beforeApply });
    const before = committer.stats();
    const conflicts = [exclusive('x')];
    const results = await Promise.allSettled([
      committer.commit(intent(add('a'), { conflicts })),
      committer.commit(intent(add('b'))),
    ]);
    expect(results).toMatchObject([{ reason: { code: 'DISK_FULL' } }, { reason: { code: 'DISK_FULL' } }]);
    expect([counters.landed, counters.failed]).toEqual([0, 1]);
    await expect(startTsOf(committer)).rejects.toMatchObject({ code: 'DISK_FULL' });
    const { lastCommitTs, recordBytes } = before;
    expect(committer.stats()).toMatchObject({ lastCommitTs, recordBytes });
    full = false;
    const startTs = await startTsOf(committer);
    await committer.commit(intent(add('a'), { startTs, conflicts }));
    expect(await value('a')).toBe(1);
    full = true;
    await expect(committer.commit(intent(add('a')))).rejects.toMatchObject({ code: 'DISK_FULL' });
    for (let i = 0; i < 1_000; i++) await startTsOf(committer); // none of them waits for a group that is over
  });

  it('frees room on a full disk, whatever would be written beside it', async () => {
    const store = createMemoryStore({ disk });
    const apply = store.apply.bind(store);
    let full = false;
    store.apply = async (batch, options) => {
      if (full && options.reclaim !== true) throw new GraphsteadError('DISK_FULL', 'no room', { fix: 'make room' });
      await apply(batch, options);
    };
    const writing = await createCommitter({ store, appliers: [new CounterApplier()], clock });
    await writing.commit(intent(add('a')));
    full = true;
    const results = await Promise.allSettled([
      writing.commit(intent(add('a', 10))),
      writing.commit(intent(add('a', 100), { reclaim: true })),
      writing.commit(intent(add('a', 1_000))),
    ]);
    expect(results).toMatchObject([
      { reason: { code: 'DISK_FULL' } },
      { value: { results: { counters: [101] } } },
      { reason: { code: 'DISK_FULL' } },
    ]);
    await writing.close();
  });

  it('aborts one whose reads no longer hold, in one group and across groups, and nobody for what another read', async () => {
    const [a, b, c] = [await startTsOf(committer), await startTsOf(committer), await startTsOf(committer)];
    const reads = [exclusive('x')];
    const write = (startTs: number, rest: Partial<Intent>) => committer.commit(intent(add('a'), { startTs, ...rest }));
    await write(a, { reads, conflicts: [exclusive('y')] });
    const results = await Promise.allSettled([write(b, { conflicts: [exclusive('x')] }), write(c, { reads })]);
    expect(results).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'TXN_ABORTED' } }]);
    await expect(write(c, { reads })).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    await write(await startTsOf(committer), { reads });
  });

  it('refuses commits after close, once those that wait are on disk', async () => {
    const waiting = committer.commit(intent(add('a')));
    await committer.close();
    expect(await value('a')).toBe(1);
    await expect(committer.commit(intent(add('a')))).rejects.toMatchObject({ code: 'NOT_READY' });
    expect((await waiting).results).toEqual({ counters: [1] });
  });

  it('tells a store that it ends, which may wait for a database that is away', async () => {
    const store = createMemoryStore({ disk });
    const writing = await createCommitter({ store, appliers: [new CounterApplier()], clock });
    await writing.commit(intent(add('a')));
    const unknown = new GraphsteadError('OUTCOME_UNKNOWN', 'away', { fix: 'look whether it was done' });
    const ended = new Promise<void>((_, reject) => {
      store.ending = () => reject(unknown);
    });
    store.apply = () => ended;
    const waiting = writing.commit(intent(add('a'))).catch((error: unknown) => error);
    await writing.close();
    expect(await waiting).toBe(unknown);
  });

  it('refuses what is not plain data, too large, or too much at once', async () => {
    const parts = { counters: { add: [], extra: () => 1 } };
    await expect(committer.commit(intent(add('a'), { parts }))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await open(makeLimits({ commitBytes: 200, commitQueue: 3 }));
    await expect(committer.commit(intent(add('a'.repeat(300))))).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    const many = await Promise.allSettled(Array.from({ length: 5 }, () => committer.commit(intent(add('a')))));
    expect(many.filter(({ status }) => status === 'rejected').length).toBe(2);
    expect(many[4]).toMatchObject({ reason: { code: 'OVERLOADED' } });
    await open(makeLimits({ commitBytes: 300, commitQueue: 100 }));
    const large = await Promise.allSettled(
      Array.from({ length: 5 }, () => committer.commit(intent(add('a'.repeat(150))))),
    );
    expect(large[0].status).toBe('fulfilled');
    expect(large[4]).toMatchObject({ reason: { code: 'OVERLOADED' } });
    // what has landed waits no longer
    for (let i = 0; i < 10; i++) await committer.commit(intent(add('a'.repeat(50))));
  });

  describe('with idempotency keys', () => {
    const claim = (rest: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
      scope: 's',
      key: 'k',
      bodyHash: 'h',
      reply: new Uint8Array(9_000).fill(7),
      ...rest,
    });

    it('stores the reply in the same commit, across a restart', async () => {
      expect(await committer.idempotentReply('s', 'k', 'h')).toBeUndefined();
      await committer.commit(intent(add('a'), { idempotency: claim() }));
      await open();
      expect(await committer.idempotentReply('s', 'k', 'h')).toEqual(claim().reply);
      expect(await committer.idempotentReply('other', 'k', 'h')).toBeUndefined();
      await expect(committer.idempotentReply('s', 'k', 'other')).rejects.toMatchObject({
        code: 'IDEMPOTENCY_MISMATCH',
      });
    });

    it('applies a repeated commit once, in one group, later, and with its old start timestamp', async () => {
      const startTs = await startTsOf(committer);
      const conflicts = [exclusive('x')];
      const again = (): Promise<unknown> =>
        committer.commit(intent(add('a'), { idempotency: claim(), startTs, conflicts }));
      const [first, second] = await Promise.all([again(), again()]);
      expect(second).toMatchObject({ replayed: claim().reply, results: {} });
      expect(await again()).toMatchObject({ commitTs: (first as { commitTs: number }).commitTs });
      const other = intent(add('a'), { idempotency: claim({ bodyHash: 'x' }) });
      await expect(committer.commit(other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
      expect(await value('a')).toBe(1);
    });

    it('forgets no reply because the clock was set ahead', async () => {
      const day = 24 * 3_600_000;
      await committer.commit(intent(add('a'), { idempotency: claim() }));
      clock.ahead = 100 * day;
      expect(await committer.idempotentReply('s', 'k', 'h')).toEqual(claim().reply);
      const { replayed } = await committer.commit(intent(add('a'), { idempotency: claim() }));
      expect([replayed, await value('a')]).toEqual([claim().reply, 1]);
      clock.now += day;
      expect(await committer.idempotentReply('s', 'k', 'h')).toBeUndefined();
    });

    it('keeps a reply that takes the place of an expired one, whatever its group prunes behind it', async () => {
      const write = (key: string) => committer.commit(intent(add('a'), { idempotency: claim({ key }) }));
      for (let i = 0; i < 6; i++) await write(`k${i}`);
      clock.now += 25 * 3_600_000;
      await Promise.all(['k5', 'new', 'newer', 'newest'].map(write));
      expect(await committer.idempotentReply('s', 'k5', 'h')).toEqual(claim().reply);
      expect(await value('a')).toBe(10);
    });

    it('forgets no reply because the clock was ahead for a while', async () => {
      await committer.commit(intent(add('a'), { idempotency: claim() }));
      clock.ahead = 100 * 24 * 3_600_000;
      await committer.commit(intent(add('b')));
      clock.ahead = 0;
      const { replayed } = await committer.commit(intent(add('a'), { idempotency: claim() }));
      expect([replayed, await value('a')]).toEqual([claim().reply, 1]);
    });

    it('forgets replies after their hours, and prunes them', async () => {
      const hour = 3_600_000;
      for (let i = 0; i < 6; i++) {
        await committer.commit(intent(add('a'), { idempotency: claim({ key: `k${i}` }) }));
      }
      clock.now += 24 * hour + 1;
      expect(await committer.idempotentReply('s', 'k0', 'h')).toBeUndefined();
      const entries = disk.list.size;
      await committer.commit(intent(add('a'), { idempotency: claim({ key: 'k0', bodyHash: 'new' }) }));
      await committer.commit(intent(add('a'), { idempotency: claim({ key: 'new' }) }));
      await committer.commit(intent(add('a'), { idempotency: claim({ key: 'newer' }) }));
      // six replies of three chunks and an expiry went, three came; three records of four chunks came too
      expect(disk.list.size).toBe(entries - 6 * 4 + 3 * 4 + 3 * 3);
      expect(await committer.idempotentReply('s', 'k0', 'new')).toEqual(claim().reply);
    });
  });
});

/** A store that tells how many of its snapshots were not given back. */
function countingSnapshots(store: Store): { readonly store: Store; held(): number } {
  let held = 0;
  const take = store.snapshot.bind(store);
  store.snapshot = () => {
    const snapshot = take();
    const release = snapshot.release.bind(snapshot);
    held++;
    snapshot.release = () => {
      held--;
      release();
    };
    return snapshot;
  };
  return { store, held: () => held };
}
