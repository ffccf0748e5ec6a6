import { expect, it } from 'vitest';
import type { Snapshot } from '../commit/index.js';
import { createMemoryStore } from '../store/index.js';
import { AlarmClock } from './alarm-clock.js';

it('tells once that alarms cannot be read, and once that they can again', async () => {
  const store = createMemoryStore();
  let isAway = true;
  const snapshot = (): Snapshot => {
    if (isAway) throw new Error('away');
    return store.snapshot();
  };
  const told: unknown[] = [];
  let wall = 1_000;
  const clock = new AlarmClock(
    { snapshot },
    { wall: () => (wall += 2_000), monotonic: () => wall },
    () => undefined,
    (failure) => told.push(failure),
  );
  clock.start();
  for (let i = 0; i < 3; i++) await clock.look();
  expect(told).toEqual([new Error('away')]);
  isAway = false;
  for (let i = 0; i < 3; i++) await clock.look();
  expect(told).toEqual([new Error('away'), undefined]);
  clock.stop();
});
