import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { DiskGuard } from './disk.js';

const RESERVE = 1_000;
/** above the reserve, from which on the system is not asked before each write */
const PLENTY = 1024 ** 3;
/** milliseconds between two looks at the volume */
const LOOK_MS = 100;

let directory: string;
beforeEach(() => {
  directory = testFolder();
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(2 * LOOK_MS);
});
afterEach(() => {
  vi.useRealTimers();
});

/** A guard of a volume of so many free bytes, which others may fill, and how often it was looked at. */
function guarded(free: number) {
  const volume = { free, looks: 0 };
  const look = () => {
    volume.looks++;
    return volume.free;
  };
  return { volume, guard: new DiskGuard(directory, RESERVE, look) };
}

it('refuses what would eat into the reserve, and takes what just fits', () => {
  const { guard } = guarded(RESERVE + 10);
  guard.admit(10, false);
  expect(() => guard.admit(11, false)).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
});

it('does not ask the system for each write while there is plenty, and asks once that was written', () => {
  const { guard, volume } = guarded(RESERVE + PLENTY + 100);
  for (let i = 0; i < 10; i++) guard.admit(10, false);
  expect(volume.looks).toBe(1);
  volume.free = RESERVE;
  expect(() => guard.admit(1, false)).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
});

it('asks before a write that is larger than all that was plenty', () => {
  const { guard, volume } = guarded(RESERVE + PLENTY + 100);
  guard.admit(1, false);
  volume.free = RESERVE + 500;
  expect(() => guard.admit(501, false)).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
});

it('looks again by and by: others write on the volume too', () => {
  const { guard, volume } = guarded(RESERVE + 2 * PLENTY);
  guard.admit(1, false);
  volume.free = RESERVE;
  guard.admit(1, false);
  vi.advanceTimersByTime(LOOK_MS + 1);
  expect(() => guard.admit(1, false)).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
});

it('gives what makes room the ballast, and lays it anew where there is room for twice as much', async () => {
  const { guard, volume } = guarded(RESERVE + 20);
  const ballast = join(directory, 'ballast');
  await guard.layBallast(10);
  expect(existsSync(ballast)).toBe(true);
  volume.free = RESERVE;
  guard.admit(1, true);
  expect(existsSync(ballast)).toBe(false);
  volume.free = RESERVE + 19;
  await guard.layBallast(10);
  expect(existsSync(ballast)).toBe(false);
});
