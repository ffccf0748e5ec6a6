import { expect, it, vi } from 'vitest';
import { createWorld } from '../../../../test/support/api-world.js';
import { Pace } from '../../../dql/index.js';
import { ChangeSet } from './change-set.js';
import { Drafts } from './draft.js';

it('takes in the objects of a large add with pauses between', async () => {
  const world = await createWorld('type Item { key: String! @id name: String }');
  const input = Array.from({ length: 2_000 }, (_, i) => ({ key: `k${i}`, name: `n${i % 7}` }));
  const told: string[] = [];
  const { add } = Drafts.prototype;
  try {
    vi.spyOn(Drafts.prototype, 'add').mockImplementation(function (this: Drafts, given) {
      told.push('draft');
      return add.call(this, given);
    });
    vi.spyOn(Pace.prototype, 'pause').mockImplementation(() => void told.push('pause'));
    await world.data('mutation ($input: [AddItemInput!]!) { addItem(input: $input) { numUids } }', { input });
  } finally {
    vi.restoreAllMocks();
  }
  const between = told.slice(told.indexOf('draft'), told.lastIndexOf('draft'));
  expect(between.filter((one) => one === 'pause').length).toBeGreaterThan(5);
  expect(told.filter((one) => one === 'draft')).toHaveLength(2_000);
  expect(await world.data('{ aggregateItem { count } }')).toEqual({ aggregateItem: { count: 2_000 } });
});

it('takes in the objects below one with pauses between', async () => {
  const world = await createWorld('type Item { key: String! @id name: String parts: [Item] }');
  const parts = Array.from({ length: 5_000 }, (_, i) => ({ key: `k${i}`, name: `n${i % 7}` }));
  const { add } = Drafts.prototype;
  const { get } = Object.getOwnPropertyDescriptor(Drafts.prototype, 'xids') ?? {};
  let [pauses, drafting] = [0, 0];
  try {
    vi.spyOn(Pace.prototype, 'pause').mockImplementation(() => void pauses++);
    vi.spyOn(Drafts.prototype, 'add').mockImplementation(function (this: Drafts, given) {
      pauses = 0;
      return add.call(this, given);
    });
    vi.spyOn(Drafts.prototype, 'xids', 'get').mockImplementation(function (this: Drafts) {
      drafting = pauses;
      return get?.call(this);
    });
    const input = [{ key: 'top', name: 'top', parts }];
    await world.data('mutation ($input: [AddItemInput!]!) { addItem(input: $input) { numUids } }', { input });
  } finally {
    vi.restoreAllMocks();
  }
  expect(drafting).toBeGreaterThan(15);
  expect(await world.data('{ aggregateItem { count } }')).toEqual({ aggregateItem: { count: 5_001 } });
});

it('works out the changes of a large add, and of a large delete, with pauses between', async () => {
  const world = await createWorld('type Item { key: String! @id name: String }');
  const input = Array.from({ length: 2_000 }, (_, i) => ({ key: `k${i}` }));
  let pauses = 0;
  let [first, last] = [-1, -1];
  const noting = (method: 'place' | 'pause'): void => {
    const own = ChangeSet.prototype[method];
    vi.spyOn(ChangeSet.prototype, method).mockImplementation(function (this: ChangeSet, ...args: never[]) {
      if (first < 0) first = pauses;
      last = pauses;
      return (own as (...given: never[]) => never).apply(this, args);
    });
  };
  try {
    vi.spyOn(Pace.prototype, 'pause').mockImplementation(() => void pauses++);
    noting('place');
    await world.data('mutation ($input: [AddItemInput!]!) { addItem(input: $input) { numUids } }', { input });
    expect(last - first).toBeGreaterThan(5);
    [first, last] = [-1, -1];
    noting('pause');
    await world.data('mutation { deleteItem(filter: {}) { numUids } }');
    expect(last - first).toBeGreaterThan(5);
  } finally {
    vi.restoreAllMocks();
  }
});
