import { expect, it } from 'vitest';
import { makeLimits } from '../base/index.js';
import type { Snapshot } from '../store/index.js';
import { ShownVersions } from './shown-versions.js';
import type { GraphTransaction } from './transaction.js';

it('holds no more of a version than limits.transactions, whatever clients begin and leave', () => {
  let held = 0;
  const again = (): Snapshot => {
    held++;
    return snapshot;
  };
  const snapshot = { version: 7, again, release: () => held-- } as unknown as Snapshot;
  const clock = { wall: () => 0, monotonic: () => 0 };
  const shown = new ShownVersions(clock, makeLimits({ transactions: 3 }));
  const begin = (busy = false) =>
    shown.begin(7, (of) => {
      const abort = () => {
        of.release();
        shown.closed(transaction);
      };
      const transaction = { startTs: 7, busy, abort } as GraphTransaction;
      return transaction;
    });
  shown.keep(snapshot);
  const reading = begin(true);
  for (let i = 0; i < 20; i++) begin();
  expect(held).toBeLessThanOrEqual(1 + 3);
  reading.abort();
  shown.close();
  expect(held).toBe(0);
  expect(() => begin()).toThrow(/not shown here any more/);
});
