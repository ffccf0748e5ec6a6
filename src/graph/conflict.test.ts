import { expect, it } from 'vitest';
import { inSteps } from '../base/index.js';
import { ConflictSet, uidKey } from './conflict.js';

it('lists many keys in steps, each once', async () => {
  const set = new ConflictSet();
  for (let uid = 1; uid <= 1_000; uid++) set.shared(uidKey('name', uid));
  set.exclusive(uidKey('name', 7));
  let pauses = 0;
  const keys = await inSteps(set.list(), () => {
    pauses++;
  });
  expect(pauses).toBeGreaterThan(2);
  expect(keys).toHaveLength(1_000);
  expect(keys.filter(({ exclusive }) => exclusive)).toEqual([{ key: uidKey('name', 7), exclusive: true }]);
});
