import { expect, it } from 'vitest';
import { ChangedAt } from './changed-at.js';

it('forgets predicates that are gone, and tells of what it forgot that it may have changed until then', () => {
  const schema = new Set(['name', 'still']);
  const changedAt = new ChangedAt((predicate) => schema.has(predicate));
  changedAt.set(['name'], 1);
  let most = 0;
  for (let version = 2; version < 20_000; version++) {
    changedAt.set([`made${version}`], version);
    most = Math.max(most, changedAt.size);
  }
  expect(most).toBeLessThan(5_000);
  expect(['name', 'still', 'made19999'].map((name) => changedAt.get(name))).toEqual([1, 0, 19_999]);
  expect(changedAt.get('made2')).toBeGreaterThanOrEqual(2);
});
