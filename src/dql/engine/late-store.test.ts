import { expect, it } from 'vitest';
import { lateStore, Refusals, surely } from '../../../test/late-store.js';
import { openDql } from '../../../test/open-dql.js';
import { createMemoryStore } from '../../store/index.js';

const COUNT = `upsert {
  query { q(func: eq(name, "counter")) { v as uid c as count n as math(c + 1) } }
  mutation @if(eq(len(v), 0)) { set {
    _:new <name> "counter" .
    _:new <count> "1" .
  } }
  mutation @if(gt(len(v), 0)) { set { uid(v) <count> val(n) . } }
}`;

it('every upsert that is acknowledged counts once on a store that answers later and refuses now and then', async () => {
  const refusals = new Refusals({ read: 23, write: 5 });
  const store = lateStore(createMemoryStore(), refusals.refuses);
  const { mutate, query, close } = await openDql({
    store,
    schema: 'name: string @index(exact) @upsert .\ncount: int .',
  });
  refusals.on = true;
  await Promise.all(Array.from({ length: 40 }, () => surely(() => mutate(COUNT))));
  refusals.on = false;
  expect(await query('{ q(func: eq(name, "counter")) { count } }')).toEqual({ q: [{ count: 40 }] });
  await close();
});
