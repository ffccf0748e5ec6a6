import { expect, it } from 'vitest';
import { ClockSteps } from './clock-steps.js';

const HOUR = 3_600_000;

function watched() {
  const time = { wall: 1e12, monotonic: 0 };
  const told: number[] = [];
  const steps = new ClockSteps({ wall: () => time.wall, monotonic: () => time.monotonic }, (ms) => told.push(ms));
  const pass = (ms: number) => {
    time.wall += ms;
    time.monotonic += ms;
  };
  return { time, told, steps, pass };
}

it('nothing has grown older by a clock that was set ahead, as long as it could have stood then', () => {
  const { time, told, steps, pass } = watched();
  pass(10 * HOUR);
  expect(steps.held(HOUR)).toBe(0);
  time.wall += 1_000 * HOUR;
  expect([steps.held(HOUR), steps.held(24 * HOUR)]).toEqual([1_000 * HOUR, 1_000 * HOUR]);
  pass(HOUR);
  expect([steps.held(HOUR), steps.held(24 * HOUR)]).toEqual([0, 1_000 * HOUR]);
  time.wall -= 1_000 * HOUR;
  expect(steps.held(24 * HOUR)).toBe(0);
  expect(told).toEqual([1_000 * HOUR, -1_000 * HOUR]);
});

it('takes small corrections for time that passes', () => {
  const { time, told, steps, pass } = watched();
  for (let i = 0; i < 1_000; i++) {
    pass(HOUR);
    time.wall += 4_000;
    steps.look();
  }
  expect([steps.held(HOUR), told]).toEqual([0, []]);
});

it('remembers no more than a hundred steps', () => {
  const { time, steps } = watched();
  for (let i = 0; i < 200; i++) {
    time.wall += 10_000;
    steps.look();
  }
  expect(steps.held(HOUR)).toBe(100 * 10_000);
});
