import { expect, it } from 'vitest';
import { Slices } from './slices.js';

/** A clock that is moved by hand, and the slices by it. */
function watched() {
  const clock = { now: 0, wall: () => 0, monotonic: () => clock.now };
  const slices = new Slices(clock);
  const told: string[] = [];
  /** `parts` times 10 ms of work in slices of 10 ms */
  const work = async (name: string, parts: number): Promise<void> => {
    for (let part = 1; part <= parts; part++) {
      told.push(`${name}${part}`);
      clock.now += 10;
      if (slices.used() >= 10) await slices.next();
    }
  };
  return { clock, slices, told, work };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('what begins together has one slice together, and then each turn of the loop is one slice', async () => {
  const { slices, told, work } = watched();
  slices.begin();
  const all = Promise.all(['a', 'b', 'c'].map((name) => work(name, 3)));
  expect(told).toEqual(['a1', 'b1', 'c1']);
  const turns: number[] = [];
  for (let before = told.length; told.length < 9; before = told.length) {
    await turn();
    turns.push(told.length - before);
  }
  expect(Math.max(...turns)).toBe(1);
  expect(told.slice(3)).toEqual(['a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
  await all;
});

it('what is short passes by the line', async () => {
  const { clock, slices, told, work } = watched();
  slices.begin();
  const all = Promise.all(Array.from({ length: 50 }, () => work('long', 4)));
  await turn();
  await turn();
  expect(slices.used()).toBe(0);
  clock.now += 5;
  expect(slices.used()).toBeLessThan(10);
  expect(told.length).toBeLessThan(60);
  await all;
});

it('nobody waits for a slice that nobody uses', async () => {
  const { clock, slices } = watched();
  clock.now = 1_000;
  expect(slices.used()).toBe(0);
  await turn();
  await turn();
  clock.now = 2_000;
  expect(slices.used()).toBe(0);
});
