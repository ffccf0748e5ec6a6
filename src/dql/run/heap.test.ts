import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap } from './heap.js';

describe('heap', () => {
  it('gives everything back in order, the last of equals first', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (costs) => {
        const heap = new Heap<{ cost: number; at: number }>((a, b) => a.cost - b.cost);
        for (const [at, cost] of costs.entries()) heap.push({ cost, at });
        const out = costs.map(() => heap.pop());
        expect(heap.pop()).toBeUndefined();
        expect(out).toEqual(costs.map((cost, at) => ({ cost, at })).sort((a, b) => a.cost - b.cost || b.at - a.at));
      }),
    );
  });

  it('forgets all but the best', () => {
    const heap = new Heap<number>((a, b) => a - b);
    for (const n of [5, 1, 4, 2, 3]) heap.push(n);
    heap.keepBest(2);
    expect([heap.pop(), heap.pop(), heap.pop()]).toEqual([1, 2, undefined]);
  });
});
