import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CostHeap } from './cost-heap.js';

function drained(heap: CostHeap): number[] {
  const out: number[] = [];
  for (let least = heap.least; least !== undefined; least = heap.least) {
    out.push(least);
    heap.pop();
  }
  return out;
}

it('gives costs in their order, also those it was told to keep', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: -100, max: 100 }), { minLength: 1 });
  fc.assert(
    fc.property(numbers, numbers, fc.nat(), (before, behind, keep) => {
      const heap = new CostHeap();
      for (const cost of before) heap.push(cost);
      const ascending = Float64Array.from(before).sort();
      const count = keep % (before.length + 1);
      heap.reset(ascending, count);
      for (const cost of behind) heap.push(cost);
      expect(drained(heap)).toEqual([...ascending.subarray(0, count), ...behind].sort((a, b) => a - b));
      for (const cost of before) heap.push(cost);
      expect(drained(heap)).toEqual([...ascending]);
    }),
  );
});
