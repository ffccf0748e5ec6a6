import { describe, expect, it } from 'vitest';
import { atOnce, forEachInSteps, inSteps, type Steps } from './steps.js';

function* counting(to: number): Steps<number> {
  let sum = 0;
  for (let i = 1; i <= to; i++) {
    sum += i;
    yield;
  }
  return sum;
}

describe('work in steps', () => {
  it('gives the same at once and with pauses', async () => {
    let pauses = 0;
    expect(atOnce(counting(10))).toBe(55);
    expect(await inSteps(counting(10), () => void pauses++)).toBe(55);
    expect(pauses).toBe(10);
  });

  it('waits for a pause, and ends with what it throws', async () => {
    const events: string[] = [];
    const pause = async () => {
      events.push('begin');
      await Promise.resolve();
      events.push('end');
    };
    await inSteps(counting(2), pause);
    expect(events).toEqual(['begin', 'end', 'begin', 'end']);
    await expect(inSteps(counting(2), () => Promise.reject(new Error('late')))).rejects.toThrow('late');
  });

  it('visits every item of a list', () => {
    const items = Array.from({ length: 1_000 }, (_, i) => i);
    const seen: number[] = [];
    let steps = 0;
    for (const _ of forEachInSteps(items, (item) => seen.push(item))) steps++;
    expect(seen).toEqual(items);
    expect(steps).toBe(3);
  });
});
