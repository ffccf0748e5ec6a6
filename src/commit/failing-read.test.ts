import { expect, it } from 'vitest';
import { lateStore } from '../../test/late-store.js';
import { createMemoryStore } from '../store/index.js';
import { createCommitter } from './committer.js';
import { CounterApplier, counterKey, counterValue } from './testing/counter-applier.js';

it.each([0, 1, 2, 3, 4, 5, 6, 7])(
  'nothing of an intent lands with its group where its caller was told that a read failed (read %i)',
  async (failing) => {
    const counters = new CounterApplier();
    let reads = Number.POSITIVE_INFINITY;
    const store = lateStore(createMemoryStore(), (what) => what === 'read' && reads-- === 0);
    const committer = await createCommitter({ store, appliers: [counters] });
    const add = (amount: number, key: string) =>
      committer.commit({
        startTs: 0,
        conflicts: [],
        parts: { counters: { add: [['a', amount]] } },
        idempotency: { scope: 's', key, bodyHash: 'h', reply: new Uint8Array(0) },
      });
    reads = failing;
    const outcomes = await Promise.allSettled([add(1, 'one'), add(10, 'two'), add(100, 'three')]);
    reads = Number.POSITIVE_INFINITY;
    const snapshot = committer.snapshot();
    const landed = counterValue(await snapshot.get(counterKey('counters', 'a')));
    snapshot.release();
    const told = outcomes.map(({ status }, i) => (status === 'fulfilled' ? 10 ** i : 0));
    expect(landed).toBe(told.reduce((sum, amount) => sum + amount, 0));
    await committer.close();
  },
);
