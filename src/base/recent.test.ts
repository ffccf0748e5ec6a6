import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recent } from './recent.js';

const use = fc.record({ text: fc.integer({ min: 0, max: 20 }).map(String), set: fc.boolean(), weight: fc.nat(9) });

describe('what was used recently', () => {
  it('keeps the half that was used last, and no more than it may', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), fc.array(use, { maxLength: 200 }), (most, uses) => {
        const recent = new Recent<string>(most);
        let order: string[] = [];
        for (const { text, set } of uses) {
          if (set) recent.set(text, `value of ${text}`);
          const found = recent.get(text);
          if (order.slice(0, most >> 1).includes(text)) expect(found).toBe(`value of ${text}`);
          if (found === undefined) continue;
          expect(found).toBe(`value of ${text}`);
          order = [text, ...order.filter((other) => other !== text)];
        }
        expect(recent.size).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('knows nothing that it was given before it was cleared', () => {
    const recent = new Recent<number>(4, 10);
    for (const text of ['a', 'b', 'c', 'd']) recent.set(text, 1, 2);
    recent.clear();
    expect(['a', 'b', 'c', 'd'].map((text) => recent.get(text))).toEqual(Array(4).fill(undefined));
    expect([recent.size, recent.weight]).toEqual([0, 0]);
  });

  it('keeps the half of the weight that was used last, and no more of it than it may', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.array(use, { maxLength: 200 }), (weight, uses) => {
        const recent = new Recent<number>(1_000, weight);
        const weights = new Map<string, number>();
        let order: string[] = [];
        for (const { text, set, weight: own } of uses) {
          const fits = own <= weight / 2;
          if (set && fits) weights.set(text, own);
          if (set) recent.set(text, own, own);
          const found = recent.get(text);
          let used = 0;
          const kept = order.filter(
            (other) => (used += weights.get(other) ?? 0) <= weight / 2 && (!set || other !== text),
          );
          if (kept.includes(text)) expect(found).toBe(weights.get(text));
          if (set && fits) expect(found).toBe(own);
          if (found !== undefined) order = [text, ...order.filter((other) => other !== text)];
          expect(recent.weight).toBeLessThanOrEqual(weight);
        }
      }),
    );
  });
});
