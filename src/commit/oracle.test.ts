import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConflictKey } from './contract.js';
import { fingerprintsOf } from './fingerprint.js';
import { ConflictOracle, GroupConflicts } from './oracle.js';

const x = (exclusive: boolean): ConflictKey[] => [{ key: 'x', exclusive }];

describe('the conflict oracle', () => {
  it.each([
    { first: true, second: true, conflict: true },
    { first: true, second: false, conflict: true },
    { first: false, second: true, conflict: true },
    { first: false, second: false, conflict: false },
  ])('exclusive $first, then exclusive $second: conflict $conflict', ({ first, second, conflict }) => {
    const oracle = new ConflictOracle(10, 0);
    oracle.commit(5, fingerprintsOf(x(first)));
    expect(oracle.conflicts(4, fingerprintsOf(x(second)))).toBe(conflict);
    expect(oracle.conflicts(6, fingerprintsOf(x(second)))).toBe(false);
    expect(oracle.conflicts(0, fingerprintsOf(x(second)))).toBe(false);
  });

  it('forgets the oldest keys beyond its bound, and aborts who started before them', () => {
    const oracle = new ConflictOracle(2, 1);
    for (const [ts, key] of [
      [2, 'a'],
      [4, 'b'],
      [6, 'a'],
      [8, 'c'],
    ] as const) {
      oracle.commit(ts, fingerprintsOf([{ key, exclusive: true }]));
    }
    expect([oracle.size, oracle.floor]).toEqual([2, 4]);
    expect(oracle.conflicts(3, fingerprintsOf([]))).toBe(true);
    expect(oracle.conflicts(5, fingerprintsOf([{ key: 'b', exclusive: true }]))).toBe(false);
    expect(oracle.conflicts(5, fingerprintsOf([{ key: 'a', exclusive: true }]))).toBe(true);
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
          const verdict = oracle.conflicts(startTs, fingerprintsOf(mine));
          expect(verdict).toBe(loses || startTs < oracle.floor);
          if (verdict) continue;
          now += 1;
          oracle.commit(now, fingerprintsOf(mine));
          committed.push({ ts: now, keys: mine });
          expect(oracle.size).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });

  it('keeps timestamps that lie further apart than a word counts', () => {
    const oracle = new ConflictOracle(6_400, 1); // both have room in one stretch of time
    const far = 2 ** 40;
    oracle.commit(5, fingerprintsOf(x(true)));
    oracle.commit(far, fingerprintsOf([{ key: 'y', exclusive: false }]));
    expect(oracle.conflicts(4, fingerprintsOf(x(false)))).toBe(true);
    expect(oracle.conflicts(far - 1, fingerprintsOf(x(true)))).toBe(false);
    expect(oracle.conflicts(far - 1, fingerprintsOf([{ key: 'y', exclusive: true }]))).toBe(true);
    expect(oracle.conflicts(far, fingerprintsOf([{ key: 'y', exclusive: true }]))).toBe(false);
  });

  it('tells thousands of keys apart, and forgets those of one large commit as it forgets others', () => {
    const oracle = new ConflictOracle(4_000, 1);
    const keys = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ key: `u name\n${(from + i).toString(16)}`, exclusive: true }));
    oracle.commit(5, fingerprintsOf(keys(0, 3_000)));
    expect(oracle.conflicts(4, fingerprintsOf(keys(3_000, 3_000)))).toBe(false);
    for (const key of keys(0, 3_000)) expect(oracle.conflicts(4, fingerprintsOf([key]))).toBe(true);
    oracle.commit(6, fingerprintsOf(keys(10_000, 9_000)));
    expect([oracle.floor, oracle.conflicts(5, fingerprintsOf([])), oracle.conflicts(6, fingerprintsOf([]))]).toEqual([
      6,
      true,
      false,
    ]);
    expect(oracle.size).toBeLessThanOrEqual(4_000);
  });
});

describe('the conflicts inside a group', () => {
  it('are those of the oracle, for transactions that started before all of it', () => {
    for (const [first, second] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ]) {
      const group = new GroupConflicts();
      const oracle = new ConflictOracle(10, 0);
      group.admit(fingerprintsOf(x(first)));
      oracle.commit(5, fingerprintsOf(x(first)));
      for (const startTs of [0, 4])
        expect(group.conflicts(startTs, fingerprintsOf(x(second)))).toBe(
          oracle.conflicts(startTs, fingerprintsOf(x(second))),
        );
    }
  });

  it('stay exclusive when the key is shared later', () => {
    const group = new GroupConflicts();
    group.admit(fingerprintsOf(x(true)));
    group.admit(fingerprintsOf(x(false)));
    expect(group.conflicts(4, fingerprintsOf(x(false)))).toBe(true);
  });
});

describe('a fingerprint', () => {
  it('is the same for the same text, and differs for 100,000 that are alike', () => {
    const print = (text: string): string => {
      const [low, high] = fingerprintsOf([{ key: text, exclusive: true }]);
      return `${low} ${high}`;
    };
    expect(print('u name\n1')).toBe(print('u name\n1'));
    const lows = new Set<number>();
    const prints = new Set<string>();
    for (let i = 0; i < 100_000; i++) {
      const text = `u name\n${i.toString(16)}`;
      lows.add(fingerprintsOf([{ key: text, exclusive: true }])[0]);
      prints.add(print(text));
    }
    expect(prints.size).toBe(100_000);
    expect(lows.size).toBeGreaterThan(99_900);
  });
});
