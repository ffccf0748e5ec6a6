import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnderWay } from './under-way.js';

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('begins' as const), number: fc.constant(0) }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('ends' as const), number: fc.nat(300) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('comes late' as const), number: fc.nat(300) }) },
);

describe('things under way', () => {
  it('are what a sorted map would hold', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const things = new UnderWay<string>();
        const model = new Map<number, string>();
        let next = 0;
        for (const [at, { does, number }] of steps.entries()) {
          const target = does === 'begins' ? next++ : number;
          if (does === 'ends') {
            expect(things.take(target)).toBe(model.get(target));
            model.delete(target);
          } else {
            things.set(target, `thing ${at}`);
            model.set(target, `thing ${at}`);
          }
          expect(things.get(target)).toBe(model.get(target));
          expect(things.size).toBe(model.size);
        }
        expect(things.entries()).toEqual([...model].sort(([a], [b]) => a - b));
        things.clear();
        expect([things.size, things.entries()]).toEqual([0, []]);
      }),
    );
  });

  it('close the gaps that one that stays leaves open', () => {
    const things = new UnderWay<number>();
    things.set(1, 1);
    for (let number = 2; number < 100_000; number++) {
      things.set(number, number);
      things.take(number);
    }
    expect(things.entries()).toEqual([[1, 1]]);
    expect(things.places).toBeLessThan(100);
  });
});
