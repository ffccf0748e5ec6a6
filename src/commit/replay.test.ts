import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordsOf } from '../../test/stored.js';
import { makeLimits } from '../base/index.js';
import { createMemoryStore, KeyWriter, type Store } from '../store/index.js';
import { createCommitter } from './committer.js';
import type { Intent } from './contract.js';
import { KIND } from './kind.js';
import { replay } from './replay.js';
import { CounterApplier } from './testing/counter-applier.js';

const name = fc.constantFrom('a', 'b', 'c');
const part = fc.record({
  add: fc.array(fc.tuple(name, fc.integer({ min: 1, max: 9 })), { maxLength: 4 }),
  note: fc.constantFrom('', 'long'.repeat(2_000)),
  atMost: fc.constantFrom(undefined, 20),
});
const parts = fc.record({ counters: part, others: part }, { requiredKeys: ['counters'] });
const key = fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined });
const step = fc.record({ parts, key, pause: fc.constantFrom(0, 1, 3_600_000), wait: fc.boolean() });

const intent = (what: { parts: object; key: string | undefined }): Intent => ({
  startTs: 0,
  conflicts: [],
  parts: what.parts as Intent['parts'],
  ...(what.key && {
    idempotency: { scope: 's', key: what.key, bodyHash: 'h', reply: Buffer.from(JSON.stringify(what)).subarray(0) },
  }),
});

/** All keys but the records themselves and the committer's own figures. */
async function dump(store: Store): Promise<string[]> {
  const snapshot = store.snapshot();
  const page = await snapshot.range({ start: Uint8Array.of(0), end: Uint8Array.of(255), limit: 1_000_000 });
  snapshot.release();
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  const own = [KIND.state, KIND.record].map((kind) => hex(new KeyWriter('commit').byte(kind).key()));
  return page.keys
    .map((key, i) => `${hex(key)} ${hex(page.values[i])}`)
    .filter((line) => !own.some((prefix) => line.startsWith(prefix)));
}

describe('replay', () => {
  it('of all records into an empty store gives identical keys', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const limits = makeLimits({ idempotencyHours: 2 });
        const appliers = [new CounterApplier(), new CounterApplier('others')];
        const store = createMemoryStore();
        let now = 1_000_000;
        const clock = { wall: () => now, monotonic: () => now };
        const committer = await createCommitter({ store, appliers, clock, limits });
        const open: Promise<unknown>[] = [];
        for (const { pause, wait, ...what } of steps) {
          now += pause;
          open.push(committer.commit(intent(what)).catch(() => undefined));
          if (wait) await Promise.all(open);
        }
        await Promise.all(open);
        await committer.close();
        const snapshot = store.snapshot();
        const copy = createMemoryStore();
        const last = await replay(await recordsOf(snapshot), { store: copy, appliers, limits });
        expect(last).toBe(committer.stats()['commits'] === 0 ? 0 : committer.lastCommitTs);
        expect(await dump(copy)).toEqual(await dump(store));
        snapshot.release();
      }),
      { numRuns: 150 },
    );
  });

  it('leaves a store that goes on where it stopped', async () => {
    const appliers = [new CounterApplier()];
    const store = createMemoryStore();
    const committer = await createCommitter({ store, appliers });
    const one = intent({ parts: { counters: { add: [['a', 1]] } }, key: undefined });
    const { commitTs } = await committer.commit(one);
    const snapshot = store.snapshot();
    const copy = createMemoryStore();
    await replay(await recordsOf(snapshot), { store: copy, appliers });
    snapshot.release();
    const next = await createCommitter({ store: copy, appliers });
    const committed = await next.commit(one);
    expect(committed.results).toEqual({ counters: [2] });
    expect(committed.commitTs).toBeGreaterThan(commitTs);
    await next.close();
    await committer.close();
  });
});
