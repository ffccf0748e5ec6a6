import { expect, it } from 'vitest';
import { StepSize } from './step-size.js';

function after(times: readonly number[], quiet = false): number {
  const size = new StepSize();
  for (const ms of times) size.took(ms, quiet);
  return size.bytes(quiet);
}

it('grows while steps are quick, shrinks once they are slow, and keeps within bounds', () => {
  const quick = Array<number>(20).fill(0);
  const least = after([]);
  const most = after(quick);
  expect([after([1]), after([1, 1])]).toEqual([2 * least, 4 * least]);
  expect(after([1, 1, 1_000])).toBe(2 * least);
  expect(after([1_000])).toBe(least);
  expect([most, after([...quick, 0])]).toEqual([256 * 1024, most]);
});

it('does four times as much in four times as long while nobody else writes', () => {
  expect([after([], true), after([1], true)]).toEqual([4 * after([]), 4 * after([1])]);
  expect([after([80]), after([80], true), after([160], true)]).toEqual([after([]), 8 * after([]), 4 * after([])]);
});
