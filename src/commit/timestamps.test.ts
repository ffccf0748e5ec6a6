import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Timestamps } from './timestamps.js';

describe('timestamps', () => {
  it('need a durable lease before the first start', () => {
    const timestamps = new Timestamps(7, 7);
    expect([timestamps.exhausted, timestamps.start()]).toEqual([true, undefined]);
    timestamps.takeOff(1);
    timestamps.land(timestamps.wantedLease);
    expect(timestamps.start()).toBeGreaterThan(7);
  });

  it('of starts stay below the commits in flight, however many start meanwhile', () => {
    const timestamps = new Timestamps(0, 100_000);
    timestamps.start();
    timestamps.takeOff(3);
    const starts = Array.from({ length: 200 }, () => timestamps.start()).filter((start) => start !== undefined);
    expect(starts.length).toBeGreaterThan(3);
    expect(timestamps.next()).toBeGreaterThan(starts.at(-1) ?? 0);
    timestamps.land();
    expect(timestamps.start()).toBeGreaterThan(timestamps.last - 1);
  });

  it('are left for those who start beside a large group', () => {
    const timestamps = new Timestamps(0, 100_000);
    const startsBeside = (bytes: number): number => {
      timestamps.takeOff(0, bytes);
      let count = 0;
      while (timestamps.start() !== undefined) count++;
      timestamps.land(timestamps.wantedLease);
      return count;
    };
    expect(startsBeside(100)).toBeGreaterThanOrEqual(200);
    expect(startsBeside(1_000_000)).toBeGreaterThan(4_000);
    // a lease has room for two of the largest
    expect(startsBeside(256 * 1024 * 1024)).toBeGreaterThan(25_000);
    expect(startsBeside(256 * 1024 * 1024)).toBeGreaterThan(25_000);
  });

  it('are never issued twice, rise in each kind, and start below the commits that are in flight', () => {
    const step = fc.constantFrom('start', 'start', 'takeOff', 'next', 'land', 'fail');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const timestamps = new Timestamps(0, 100_000);
        const issued = new Set<number>();
        let flight: number[] | undefined;
        let lastStart = 0;
        let lastCommit = 0;
        const note = (timestamp: number): void => {
          expect(issued.has(timestamp)).toBe(false);
          issued.add(timestamp);
        };
        for (const what of steps) {
          if (what === 'start') {
            const start = timestamps.start();
            if (start === undefined) {
              expect(flight).toBeDefined();
              continue;
            }
            note(start);
            expect(start).toBeGreaterThan(Math.max(lastStart, flight === undefined ? lastCommit : 0));
            for (const commit of flight ?? []) expect(start).toBeLessThan(commit);
            lastStart = start;
          } else if (what === 'takeOff' && flight === undefined) {
            timestamps.takeOff(0);
            flight = [];
          } else if (what === 'next' && flight !== undefined) {
            const commit = timestamps.next();
            note(commit);
            expect(commit).toBeGreaterThan(Math.max(lastCommit, lastStart));
            flight.push(commit);
            lastCommit = commit;
          } else if (what === 'land' && flight !== undefined) {
            timestamps.land(timestamps.wantedLease);
            flight = undefined;
          } else if (what === 'fail' && flight !== undefined) {
            timestamps.land();
            flight = undefined;
          }
        }
      }),
    );
  });
});
