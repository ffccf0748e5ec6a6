import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberOrder, pairOrder } from './number-order.js';

const still = () => undefined;

it('orders numbers of any sign and size, and leaves equal ones as they stand', async () => {
  const number = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.maxSafeInteger(), fc.double({ noNaN: true }));
  await fc.assert(
    fc.asyncProperty(fc.array(number.map((one) => one + 0)), async (list) => {
      const wanted = list.map((_, i) => i).sort((a, b) => (list[a] < list[b] ? -1 : list[a] > list[b] ? 1 : a - b));
      expect([...(await numberOrder(Float64Array.from(list), still))]).toEqual(wanted);
    }),
  );
});

it('orders pairs by the second where the first are equal', async () => {
  const pair = fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 }));
  await fc.assert(
    fc.asyncProperty(fc.array(pair), async (list) => {
      const wanted = list.map((_, i) => i).sort((a, b) => list[a][0] - list[b][0] || list[a][1] - list[b][1] || a - b);
      const [first, second] = [0, 1].map((side) => Float64Array.from(list, (one) => one[side]));
      expect([...(await pairOrder(first, second, still))]).toEqual(wanted);
    }),
  );
});

it('pauses while it orders many', async () => {
  const many = Float64Array.from({ length: 300_000 }, (_, i) => (i * 7_919) % 300_007);
  let pauses = 0;
  const order = await numberOrder(many, () => void pauses++);
  expect(order.every((at, i) => i === 0 || many[order[i - 1]] < many[at])).toBe(true);
  // a look at the numbers, and twice for each digit that tells them apart
  expect(pauses).toBeGreaterThan(4 * 5);
});
