import { expect, it } from 'vitest';
import { atOnce, inSteps } from '../base/index.js';
import { ConflictSet, conflictTexts, memberKey } from './conflict.js';

it('lists many keys in steps, each once', async () => {
  const set = new ConflictSet();
  for (let uid = 1; uid <= 1_000; uid++) set.shared(memberKey('name', uid, 1));
  set.exclusive(memberKey('name', 7, 1));
  let pauses = 0;
  const { conflicts } = await inSteps(set.list(), () => {
    pauses++;
  });
  expect(pauses).toBeGreaterThan(2);
  expect(conflicts).toHaveLength(1_000);
  expect(conflicts.filter(({ exclusive }) => exclusive)).toEqual([{ key: memberKey('name', 7, 1), exclusive: true }]);
});

it('keeps uids as numbers, and makes no text of each before it is asked for', () => {
  const set = new ConflictSet();
  for (let uid = 1; uid <= 1_000; uid++) set.sharedUid('name', uid);
  set.exclusiveUid('name', 0xff);
  const listed = atOnce(set.list());
  expect(listed.conflicts).toEqual([]);
  expect(listed.numbered.map(({ prefix, numbers, exclusive }) => [prefix, numbers.length, exclusive])).toEqual([
    ['u name\n', 1, true],
    ['u name\n', 999, false],
  ]);
  const texts = conflictTexts(listed);
  expect(texts).toHaveLength(1_000);
  expect(texts[0]).toEqual({ key: 'u name\nff', exclusive: true });
});

it('holds a key exclusively where either of two sets does', () => {
  for (const [one, other] of [
    [true, false],
    [false, true],
  ]) {
    const [set, more] = [new ConflictSet(), new ConflictSet()];
    for (const [into, exclusive] of [
      [set, one],
      [more, other],
    ] as const) {
      into[exclusive ? 'exclusive' : 'shared']('key');
      into[exclusive ? 'exclusiveUid' : 'sharedUid']('name', 7);
    }
    set.merge(more);
    expect(conflictTexts(atOnce(set.list()))).toEqual([
      { key: 'key', exclusive: true },
      { key: 'u name\n7', exclusive: true },
    ]);
  }
});
