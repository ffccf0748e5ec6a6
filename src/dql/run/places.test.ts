import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Places } from './places.js';
import { placeOf } from './uid-set.js';

const close = fc
  .tuple(fc.integer({ min: 1, max: 2 ** 40 }), fc.uniqueArray(fc.nat(5_000), { minLength: 80, maxLength: 400 }))
  .map(([first, steps]) => Float64Array.from(steps, (step) => first + step).sort());

describe('places of uids', () => {
  it('are those in the list, and -1 for all others', () => {
    fc.assert(
      fc.property(close, (uids) => {
        const places = Places.of(uids) as Places;
        uids.forEach((uid, i) => {
          expect(places.place(uid)).toBe(i);
          expect(placeOf(uids, uid)).toBe(i);
        });
        const held = new Set(uids);
        for (let uid = uids[0] - 3; uid < uids[uids.length - 1] + 100; uid += 7) {
          if (!held.has(uid)) expect([places.place(uid), placeOf(uids, uid)]).toEqual([-1, -1]);
        }
        expect(places.place(Number.MAX_SAFE_INTEGER)).toBe(-1);
      }),
      { numRuns: 30 },
    );
  });

  it('are searched for where uids are few or far apart', () => {
    expect(Places.of(new Float64Array(0))).toBeUndefined();
    expect(Places.of(Float64Array.from({ length: 7 }, (_, i) => i + 1))).toBeUndefined();
    expect(Places.of(Float64Array.from({ length: 500 }, (_, i) => i * 1_000 + 1))).toBeUndefined();
  });
});
