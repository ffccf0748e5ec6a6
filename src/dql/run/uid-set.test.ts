import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../base/index.js';
import { contains, fromUids, placeOf, intersect, lowerBound, subtract, union, unionOfRows } from './uid-set.js';

/** Close together, far apart, or one of them huge: every way of the algorithms. */
const uids = fc.oneof(
  fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 200 }),
  fc.array(fc.integer({ min: 1, max: 2 ** 52 }), { maxLength: 40 }),
  fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 4 }),
);

const sorted = (values: Iterable<number>): number[] => [...new Set(values)].sort((a, b) => a - b);

describe('sets of uids', () => {
  it('agree with Set', () => {
    fc.assert(
      fc.property(uids, uids, (a, b) => {
        const left = fromUids(a);
        const right = fromUids(b);
        expect([...left]).toEqual(sorted(a));
        expect([...intersect(left, right)]).toEqual(sorted(a.filter((uid) => b.includes(uid))));
        expect([...subtract(left, right)]).toEqual(sorted(a.filter((uid) => !b.includes(uid))));
        expect([...union([left, right])]).toEqual(sorted([...a, ...b]));
      }),
    );
  });

  it('unite many lists, sorted or not', () => {
    fc.assert(
      fc.property(fc.array(uids, { maxLength: 6 }), (lists) => {
        const all = sorted(lists.flat());
        expect([...union(lists.map(fromUids))]).toEqual(all);
        expect([...atOnce(unionOfRows(lists.map((list) => Float64Array.from(list))))]).toEqual(all);
      }),
    );
  });

  it('unite rows of many nodes with pauses', () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => Float64Array.of(i % 1_000, 5_000));
    const steps = unionOfRows(rows);
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses++;
    expect(pauses).toBeGreaterThanOrEqual(8);
    expect([...step.value]).toEqual([...Array.from({ length: 1_000 }, (_, i) => i), 5_000]);
  });

  it('find places', () => {
    fc.assert(
      fc.property(uids, fc.integer({ min: 0, max: 400 }), (a, uid) => {
        const list = fromUids(a);
        expect(lowerBound(list, uid)).toBe(sorted(a).filter((one) => one < uid).length);
        expect(placeOf(list, uid)).toBe(sorted(a).indexOf(uid));
        expect(contains(list, uid)).toBe(a.includes(uid));
      }),
    );
  });
});
