import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { GraphsteadError, makeLimits } from '../base/index.js';
import { createMemoryStore, openLmdbStore, type Store } from '../store/index.js';
import { createCommitter } from './committer.js';
import type { Committer } from './contract.js';
import { CounterApplier, counterKey, counterValue } from './testing/counter-applier.js';

interface Client {
  readonly counters: readonly string[];
  /** turns of the event loop before it begins again */
  readonly rest: number;
  /** turns of the event loop between reading and committing */
  readonly pauses: readonly number[];
}

const client = fc.record({
  counters: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 2 }),
  rest: fc.nat(3),
  pauses: fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }),
});

/** Reads counters, waits, adds one to each: when that commits, nobody may have changed them in between. */
async function work(committer: Committer, { counters, rest, pauses }: Client, wins: string[]): Promise<void> {
  for (const pause of pauses) {
    for (let i = 0; i < rest; i++) await nextTurn();
    const { startTs, snapshot } = await committer.begin();
    expect(snapshot.version).toBeLessThan(startTs);
    const seen = (await snapshot.getMany(counters.map((name) => counterKey('counters', name)))).map(counterValue);
    snapshot.release();
    for (let i = 0; i < pause; i++) await nextTurn();
    try {
      const committed = await committer.commit({
        startTs,
        conflicts: counters.map((key) => ({ key, exclusive: true })),
        parts: { counters: { add: counters.map((name) => [name, 1]) } },
      });
      expect(committed.results['counters']).toEqual(seen.map((value) => value + 1));
      wins.push(...counters);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: expect.stringMatching(/^(TXN_ABORTED|DISK_FULL)$/) });
    }
  }
}

/** A store that takes some turns of the event loop to land a batch, as a disk does. */
function slow(store: Store, turns: number): Store {
  return {
    epoch: store.epoch,
    incarnation: store.incarnation,
    readOnly: false,
    snapshot: () => store.snapshot(),
    apply: async (batch, options) => {
      for (let i = 0; i < turns; i++) await nextTurn();
      await store.apply(batch, options);
    },
    backup: (directory) => store.backup(directory),
    stats: () => store.stats(),
    close: () => store.close(),
  };
}

async function contest(store: Store, clients: readonly Client[]): Promise<number> {
  const committer = await createCommitter({ store, appliers: [new CounterApplier()] });
  const wins: string[] = [];
  await Promise.all(clients.map((one) => work(committer, one, wins)));
  const snapshot = committer.snapshot();
  for (const name of ['a', 'b', 'c']) {
    const value = counterValue(await snapshot.get(counterKey('counters', name)));
    expect(value).toBe(wins.filter((won) => won === name).length);
  }
  snapshot.release();
  await committer.close();
  return wins.length;
}

describe('transactions that read and write the same counters', () => {
  it('lose no update and see no half of one, whatever the order and whatever fails', async () => {
    const clientsOf = fc.array(client, { minLength: 2, maxLength: 6 });
    const failures = fc.array(fc.boolean(), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(clientsOf, failures, fc.nat(4), async (clients, fails, turns) => {
        let batch = 0;
        const beforeApply = (): void => {
          if (++batch > 1 && fails[batch % fails.length] && batch % 3 === 0)
            throw new GraphsteadError('DISK_FULL', 'full', { fix: 'make room' });
        };
        await contest(slow(createMemoryStore({ beforeApply }), turns), clients);
      }),
      { numRuns: 100 },
    );
  });

  it('lose no update on disk', async () => {
    const directory = testFolder();
    const store = await openLmdbStore(directory, { limits: makeLimits({ ballastBytes: 1, diskReserve: 1 }) });
    const clients = Array.from({ length: 12 }, (_, i) => ({
      counters: [['a'], ['b'], ['a', 'c']][i % 3],
      rest: i % 5,
      pauses: Array.from({ length: 20 }, (_, j) => (i + j) % 4),
    }));
    expect(await contest(store, clients)).toBeGreaterThan(20);
    await store.close();
  });
});
