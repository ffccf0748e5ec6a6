import { expect, it } from 'vitest';
import { StepSize } from './step-size.js';

function after(...times: readonly number[]): number {
  const size = new StepSize();
  for (const ms of times) size.took(ms);
  return size.bytes;
}

it('grows while steps are quick, shrinks once they are slow, and keeps within bounds', () => {
  const least = after();
  const most = after(...Array<number>(20).fill(0));
  expect([after(1), after(1, 1)]).toEqual([2 * least, 4 * least]);
  expect(after(1, 1, 1_000)).toBe(2 * least);
  expect(after(1_000)).toBe(least);
  expect([most, after(...Array<number>(20).fill(0), 0)]).toEqual([256 * 1024, most]);
});
