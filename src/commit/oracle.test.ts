import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConflictKey } from './contract.js';
import { ConflictOracle } from './oracle.js';

const x = (exclusive: boolean): ConflictKey[] => [{ key: 'x', exclusive }];

describe('the conflict oracle', () => {
  it.each([
    { first: true, second: true, conflict: true },
    { first: true, second: false, conflict: true },
    { first: false, second: true, conflict: true },
    { first: false, second: false, conflict: false },
  ])('exclusive $first, then exclusive $second: conflict $conflict', ({ first, second, conflict }) => {
    const oracle = new ConflictOracle(10, 0);
    oracle.commit(5, x(first));
    expect(oracle.conflicts(4, x(second))).toBe(conflict);
    expect(oracle.conflicts(6, x(second))).toBe(false);
    expect(oracle.conflicts(0, x(second))).toBe(false);
  });

  it('forgets the oldest keys beyond its bound, and aborts who started before them', () => {
    const oracle = new ConflictOracle(2, 1);
    for (const [ts, key] of [
      [2, 'a'],
      [4, 'b'],
      [6, 'a'],
      [8, 'c'],
    ] as const) {
      oracle.commit(ts, [{ key, exclusive: true }]);
    }
    expect([oracle.size, oracle.floor]).toEqual([2, 4]);
    expect(oracle.conflicts(3, [])).toBe(true);
    expect(oracle.conflicts(5, [{ key: 'b', exclusive: true }])).toBe(false);
    expect(oracle.conflicts(5, [{ key: 'a', exclusive: true }])).toBe(true);
  });

  it('judges as one does who remembers all commits, or aborts', () => {
    const keys = fc.uniqueArray(
      fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), exclusive: fc.boolean() }),
      { selector: ({ key }) => key, maxLength: 4 },
    );
    const transaction = fc.record({ age: fc.nat(12), keys });
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 40 }), fc.integer({ min: 1, max: 8 }), (all, capacity) => {
        const oracle = new ConflictOracle(capacity, 1);
        const committed: { ts: number; keys: readonly ConflictKey[] }[] = [];
        let now = 20;
        for (const { age, keys: mine } of all) {
          const startTs = now - age;
          const loses = committed.some(
            ({ ts, keys: theirs }) =>
              ts > startTs && theirs.some((t) => mine.some((m) => m.key === t.key && (m.exclusive || t.exclusive))),
          );
          const verdict = oracle.conflicts(startTs, mine);
          expect(verdict).toBe(loses || startTs < oracle.floor);
          if (verdict) continue;
          now += 1;
          oracle.commit(now, mine);
          committed.push({ ts: now, keys: mine });
          expect(oracle.size).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });
});
