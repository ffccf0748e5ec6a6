import { expect, it } from 'vitest';
import { BATCH, filterBatches } from './batch.js';
import type { Execution } from './execution.js';

/** More than goes at once, and a rest. */
const MANY = 3 * BATCH + 5;
const uids = Float64Array.from({ length: MANY }, (_, i) => i + 1);

/** An execution of which only the looks at the time are used. */
function counted(): { readonly execution: Execution; readonly looks: () => number } {
  let looks = 0;
  const checkpoint = () => void looks++;
  return { execution: { checkpoint } as unknown as Execution, looks: () => looks };
}

it('filters many uids a batch at a time, and looks at the time between', async () => {
  const { execution, looks } = counted();
  const sizes: number[] = [];
  const kept = await filterBatches(uids, execution, (batch) => {
    sizes.push(batch.length);
    return batch.filter((uid) => uid % 2 === 0);
  });
  expect(kept).toEqual(uids.filter((uid) => uid % 2 === 0));
  expect(sizes).toEqual([BATCH, BATCH, BATCH, 5]);
  expect(looks()).toBe(4);
});
