import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { OneATurn } from './one-a-turn.js';

it('begins one in a turn, in the order in which they came, and goes on when they come back at once', async () => {
  const line = new OneATurn();
  const begun: string[] = [];
  const come = async (name: string, times: number) => {
    for (let i = 0; i < times; i++) {
      await line.wait();
      begun.push(name);
    }
  };
  const all = [come('a', 3), come('b', 2), come('c', 1)];
  const seen: number[] = [];
  for (let turn = 0; turn < 6; turn++) {
    await nextTurn();
    seen.push(begun.length);
  }
  await Promise.all(all);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect(begun.join('')).toBe('abcaba');
  await line.wait();
});
