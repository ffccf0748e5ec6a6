import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap, NOWHERE, type Standing } from './heap.js';

const costs = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 });
const standing = (cost: number): Standing => ({ cost, sequence: 0, at: NOWHERE });
const inOrder = (items: readonly Standing[]): Standing[] =>
  [...items].sort((a, b) => a.cost - b.cost || b.sequence - a.sequence);

function filled(items: readonly Standing[]): Heap<Standing> {
  const heap = new Heap<Standing>();
  for (const item of items) heap.push(item);
  return heap;
}

function drained(heap: Heap<Standing>): Standing[] {
  const out: Standing[] = [];
  for (let item = heap.pop(); item; item = heap.pop()) out.push(item);
  return out;
}

describe('heap', () => {
  it('gives everything back in order, the last of equals first', () => {
    fc.assert(
      fc.property(costs, (given) => {
        const items = given.map(standing);
        const out = drained(filled(items));
        expect(out).toEqual(inOrder(items));
        expect(out.every(({ at }) => at === NOWHERE)).toBe(true);
      }),
    );
  });

  it('takes one that came again as the last, for less or the same', () => {
    fc.assert(
      fc.property(costs, fc.array(fc.tuple(fc.nat(), fc.nat(3))), (given, again) => {
        const items = given.map(standing);
        const heap = filled(items);
        for (const [which, less] of again) {
          const item = items[which % items.length];
          item.cost -= less;
          heap.raise(item);
        }
        expect(drained(heap)).toEqual(inOrder(items));
      }),
    );
  });

  it('forgets all but the best', () => {
    fc.assert(
      fc.property(costs, fc.integer({ min: 1, max: 20 }), (given, count) => {
        const items = given.map(standing);
        const heap = filled(items);
        heap.keepBest(count);
        const best = inOrder(items).slice(0, count);
        expect(items.filter(({ at }) => at === NOWHERE)).toHaveLength(items.length - best.length);
        expect(drained(heap)).toEqual(best);
      }),
    );
  });
});
