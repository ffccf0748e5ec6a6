import { expect, it, vi } from 'vitest';
import { Yielder } from '../../base/index.js';
import { createMemoryStore, type Put } from '../../store/index.js';
import { tokenKey } from '../key.js';
import { TokenEdits } from './token-edit.js';

it('looks at the time between the lists of a batch: long ones take a tenth of a millisecond each', async () => {
  const edits = new TokenEdits((name) => tokenKey(1, 'term', Buffer.from(name)));
  const lists = 1_000;
  for (let i = 0; i < lists; i++) edits.add(String(i), 1);
  const puts: Put[] = [];
  const snapshot = createMemoryStore().snapshot();
  const yielder = new Yielder(1e-9);
  const asked = vi.spyOn(yielder, 'due');
  await edits.flush(snapshot, (key, value) => puts.push({ key, value }), yielder);
  expect(asked.mock.calls.length).toBeGreaterThan(lists / 50);
  expect(puts).toHaveLength(lists);
});
