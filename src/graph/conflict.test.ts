import { expect, it } from 'vitest';
import { atOnce, inSteps } from '../base/index.js';
import { ConflictSet, conflictTexts, exclusiveTexts, memberKey } from './conflict.js';

it('lists many keys in steps, those that are exclusive beside too', async () => {
  const set = new ConflictSet();
  for (let uid = 1; uid <= 1_000; uid++) set.exclusiveMember(memberKey('name', uid, Uint8Array.of(1)));
  set.shared('p name');
  let pauses = 0;
  const listing = set.list(new Set(['p name', 'i name']));
  const { conflicts } = await inSteps(listing, () => {
    pauses++;
  });
  expect(pauses).toBeGreaterThan(2);
  expect(conflicts).toHaveLength(1_002);
  expect(conflicts.slice(0, 2)).toEqual([
    { key: 'p name', exclusive: true },
    { key: 'i name', exclusive: true },
  ]);
  expect(conflicts.every(({ exclusive }) => exclusive)).toBe(true);
});

it('keeps uids as numbers, and makes no text of each before it is asked for', () => {
  const set = new ConflictSet();
  for (let uid = 1; uid <= 1_000; uid++) for (let again = 0; again < 3; again++) set.sharedUid('name', uid);
  set.exclusiveUid('name', 0xff);
  const listed = atOnce(set.list());
  expect(listed.conflicts).toEqual([]);
  expect(listed.numbered.map(({ prefix, numbers, exclusive }) => [prefix, numbers.length, exclusive])).toEqual([
    ['u name\n', 1, true],
    ['u name\n', 1_000, false],
  ]);
  const texts = conflictTexts(listed);
  expect(texts).toHaveLength(1_000);
  expect(texts[0]).toEqual({ key: 'u name\nff', exclusive: true });
});

it('keeps edges as numbers, and tells each once', () => {
  const [set, more] = [new ConflictSet(), new ConflictSet()];
  set.exclusiveEdge('knows', 1, 0xa);
  more.exclusiveEdge('knows', 1, 0xb);
  more.exclusiveEdge('knows', 1, 0xa);
  set.merge(more);
  const empty = new ConflictSet();
  empty.merge(set);
  set.exclusiveEdge('knows', 2, 0xc);
  expect([set.size, empty.size]).toEqual([4, 3]);
  const listed = atOnce(empty.list());
  expect(listed.conflicts).toEqual([]);
  expect(listed.numbered).toMatchObject([{ prefix: 'o knows\n', numbers: [1, 0xa, 1, 0xb, 1, 0xa], width: 2 }]);
  expect(conflictTexts(listed)).toEqual([
    { key: 'o knows\n1\na', exclusive: true },
    { key: 'o knows\n1\nb', exclusive: true },
  ]);
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

it('tells the exclusive ones in steps', () => {
  const set = new ConflictSet();
  set.shared('p name');
  set.exclusive('i name\nexact\nx');
  set.sharedUid('name', 1);
  for (let uid = 1; uid <= 10_000; uid++) set.exclusiveUid('name', uid);
  set.exclusiveEdge('knows', 1, 0xa);
  const steps = exclusiveTexts(atOnce(set.list()));
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  expect(pauses).toBeGreaterThan(30);
  expect(step.value).toHaveLength(10_002);
  expect([step.value[0], step.value[1], step.value.at(-1)]).toEqual(['i name\nexact\nx', 'u name\n1', 'o knows\n1\na']);
});
