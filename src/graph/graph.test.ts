import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeValue } from '../values/index.js';
import type { Facets } from './contract.js';
import {
  collect,
  edgesOf,
  found,
  type GraphFixture,
  openFixture,
  read,
  setEdge,
  setValue,
  text,
  valuesOf,
  write,
} from './fixture.js';
import { MAX_UID } from './uid-list.js';

describe('a graph', () => {
  let fixture: GraphFixture;
  beforeEach(async () => {
    fixture = await openFixture();
  });
  afterEach(() => fixture.close());

  const schema = (lines: string) => fixture.graph.alter({ kind: 'schema', text: lines });
  const values = (predicate: string, uid: number) => read(fixture.graph, (r) => valuesOf(r, predicate, uid));
  const edges = (predicate: string, uid: number, reverse = false) =>
    read(fixture.graph, (r) => edgesOf(r, predicate, uid, reverse));
  const lookup = (predicate: string, kind: string, token: string) =>
    read(fixture.graph, (r) => found(r, predicate, kind, token));

  it('creates predicates with the first mutation', async () => {
    await write(
      fixture.graph,
      setValue(1, 'name', 'Ada'),
      setValue(1, 'age', { type: 'int', value: 36 }),
      setEdge(1, 'knows', 2),
    );
    expect(await values('name', 1)).toEqual([':Ada']);
    expect(await edges('knows', 1)).toEqual([2]);
    const types = fixture.graph.schema().predicates.map((p) => [p.name, p.type, p.list]);
    expect(types).toEqual([
      ['age', 'int', false],
      ['knows', 'uid', true],
      ['name', 'default', false],
      ['service.type', 'string', true],
    ]);
  });

  it('replaces single values and their tokens', async () => {
    await schema('name: string @index(exact, term) .');
    await write(fixture.graph, setValue(1, 'name', 'Ada Lovelace'), setValue(2, 'name', 'Ada'));
    await write(fixture.graph, setValue(1, 'name', 'Grace'));
    expect(await values('name', 1)).toEqual([':Grace']);
    expect(await lookup('name', 'exact', 'Ada Lovelace')).toEqual([]);
    expect(await lookup('name', 'exact', 'Grace')).toEqual([1]);
  });

  it('ignores the delete of a value that is not the current one', async () => {
    await schema('name: string @index(exact) .');
    await write(fixture.graph, setValue(1, 'name', 'Ada'));
    await write(fixture.graph, { op: 'deleteValue', uid: 1, predicate: 'name', value: text('Bob'), lang: '' });
    expect(await values('name', 1)).toEqual([':Ada']);
    await write(fixture.graph, { op: 'deleteValue', uid: 1, predicate: 'name', value: text('Ada'), lang: '' });
    expect(await values('name', 1)).toEqual([]);
    expect(await lookup('name', 'exact', 'Ada')).toEqual([]);
  });

  it('keeps languages apart, and deletes all of them with the predicate', async () => {
    await schema('name: string @index(exact) @lang .');
    await write(
      fixture.graph,
      setValue(1, 'name', 'A'),
      setValue(1, 'name', 'A', 'en'),
      setValue(1, 'name', 'B', 'de'),
    );
    expect(await values('name', 1)).toEqual([':A', 'de:B', 'en:A']);
    await write(fixture.graph, { op: 'deleteLang', uid: 1, predicate: 'name', lang: 'en' });
    expect(await values('name', 1)).toEqual([':A', 'de:B']);
    expect(await lookup('name', 'exact', 'A')).toEqual([1]);
    await write(fixture.graph, { op: 'deletePredicate', uid: 1, predicate: 'name' });
    expect(await values('name', 1)).toEqual([]);
    expect(await lookup('name', 'exact', 'A')).toEqual([]);
    expect(await lookup('name', 'exact', 'B')).toEqual([]);
  });

  it('keeps lists as sets', async () => {
    await schema('tag: [string] @index(exact) @count .');
    await write(fixture.graph, setValue(1, 'tag', 'x'), setValue(1, 'tag', 'y'), setValue(1, 'tag', 'x'));
    expect(await values('tag', 1)).toEqual([':x', ':y']);
    await write(fixture.graph, { op: 'deleteValue', uid: 1, predicate: 'tag', value: text('x'), lang: '' });
    expect(await values('tag', 1)).toEqual([':y']);
    const tag = fixture.graph.schema().predicate('tag')!;
    expect(await read(fixture.graph, async (r) => [...(await r.byCount(tag, 1, 1))])).toEqual([1]);
    expect(await read(fixture.graph, async (r) => [...(await r.byCount(tag, 2, 9))])).toEqual([]);
  });

  it('follows edges backwards and counts them', async () => {
    await schema('friend: [uid] @reverse @count .\nboss: uid @reverse .');
    await write(
      fixture.graph,
      setEdge(1, 'friend', 3),
      setEdge(2, 'friend', 3),
      setEdge(1, 'friend', 4),
      setEdge(1, 'boss', 2),
    );
    expect(await edges('friend', 3, true)).toEqual([1, 2]);
    const friend = fixture.graph.schema().predicate('friend')!;
    const counted = (min: number, max: number, reverse = false) =>
      read(fixture.graph, async (r) => [...(await r.byCount(friend, min, max, { reverse }))]);
    expect(await counted(2, 2)).toEqual([1]);
    expect(await counted(2, 2, true)).toEqual([3]);
    await write(fixture.graph, setEdge(1, 'boss', 9), { op: 'deleteEdge', uid: 1, predicate: 'friend', object: 3 });
    expect(await edges('boss', 1)).toEqual([9]);
    expect(await edges('boss', 2, true)).toEqual([]);
    expect(await edges('friend', 3, true)).toEqual([2]);
    expect(await counted(1, 5, true)).toEqual([3, 4]);
    await write(fixture.graph, { op: 'deletePredicate', uid: 1, predicate: 'friend' });
    expect(await edges('friend', 4, true)).toEqual([]);
    expect(await counted(1, 5)).toEqual([2]);
  });

  it('deletes of a node what its types name, and its types', async () => {
    await schema('name: string .\nage: int .\ntype Person { name }');
    await write(
      fixture.graph,
      setValue(1, 'name', 'Ada'),
      setValue(1, 'age', '36'),
      setValue(1, 'service.type', 'Person'),
    );
    await write(fixture.graph, { op: 'deleteNode', uid: 1 });
    expect(await values('name', 1)).toEqual([]);
    expect(await values('age', 1)).toEqual([':36']);
    expect(await values('service.type', 1)).toEqual([]);
  });

  it('stores facets with edges and values, and drops them with both', async () => {
    const since: Facets = [{ key: 'since', value: { type: 'int', value: 2006 } }];
    await write(fixture.graph, { ...setEdge(1, 'friend', 2), facets: since } as never, setEdge(1, 'friend', 3));
    await write(fixture.graph, { ...setValue(1, 'name', 'Ada'), facets: since } as never);
    const friend = fixture.graph.schema().predicate('friend')!;
    const name = fixture.graph.schema().predicate('name')!;
    const uids = Float64Array.of(1);
    const seen = () => read(fixture.graph, async (r) => (await r.edges(friend, uids, { facets: true })).facets?.[0]);
    expect(await seen()).toEqual([since, undefined]);
    expect(
      await read(fixture.graph, async (r) => (await r.allValues(name, uids, { facets: true }))[0][0].facets),
    ).toEqual(since);
    await write(fixture.graph, setEdge(1, 'friend', 2), setValue(1, 'name', 'Ada'));
    expect((await seen()) ?? []).not.toContainEqual(since);
    expect(
      await read(fixture.graph, async (r) => (await r.allValues(name, uids, { facets: true }))[0][0].facets),
    ).toBeUndefined();
  });

  it('holds values and lists of any size', async () => {
    await schema('note: string .\nlink: [uid] @reverse .');
    const long = 'x'.repeat(20_000);
    await write(fixture.graph, ...Array.from({ length: 64 }, (_, i) => setValue(i + 1, 'note', `${i}`.repeat(200))));
    await write(fixture.graph, setValue(5, 'note', long));
    await write(fixture.graph, ...Array.from({ length: 5_000 }, (_, i) => setEdge(7, 'link', (i + 1) * 1_000)));
    expect(await values('note', 5)).toEqual([`:${long}`]);
    expect(await values('note', 40)).toEqual([`:${'39'.repeat(200)}`]);
    expect((await edges('link', 7)).length).toBe(5_000);
    await write(fixture.graph, setEdge(7, 'link', 1_500), {
      op: 'deleteEdge',
      uid: 7,
      predicate: 'link',
      object: 2_000,
    });
    expect((await edges('link', 7)).slice(0, 3)).toEqual([1_000, 1_500, 3_000]);
    expect(await edges('link', 2_000, true)).toEqual([]);
    await write(fixture.graph, setValue(5, 'note', 'short'), { op: 'deletePredicate', uid: 7, predicate: 'link' });
    expect(await values('note', 5)).toEqual([':short']);
    expect(await edges('link', 7)).toEqual([]);
  });

  it('lists who has a predicate, and tokens in order', async () => {
    await schema('age: int @index(int) .');
    const uids = Array.from({ length: 300 }, (_, i) => i * 7 + 1);
    await write(fixture.graph, ...uids.map((uid) => setValue(uid, 'age', { type: 'int', value: uid % 10 })));
    const age = fixture.graph.schema().predicate('age')!;
    expect(await read(fixture.graph, (r) => collect(r.having(age)))).toEqual(uids);
    expect(await read(fixture.graph, (r) => collect(r.having(age, { after: 1_000 })))).toEqual(
      uids.filter((u) => u > 1_000),
    );
    const asked = Float64Array.of(1, 2, 8, 9);
    expect(await read(fixture.graph, async (r) => [...(await r.filterHaving(age, asked))])).toEqual([1, 8]);
    const order = async (reverse: boolean) =>
      read(fixture.graph, async (r) => {
        const seen: number[] = [];
        for await (const page of r.tokens(age, 'int', { reverse })) {
          for (const {
            uids: [first],
          } of page) {
            const value = (await r.values(age, Float64Array.of(first))).at(0);
            seen.push(Number(decodeValue(value!).value));
          }
        }
        return seen;
      });
    expect(await order(false)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await order(true)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  it('issues uids that nobody has used', async () => {
    const first = await fixture.graph.leaseUids(3);
    const second = await fixture.graph.leaseUids(1);
    expect(second).toBe(first + 3);
    await write(fixture.graph, setValue(second + 1, 'name', 'mine'), setValue(1_000_000, 'name', 'far'));
    expect(await fixture.graph.leaseUids(1)).toBe(second + 2);
    expect(await fixture.graph.leaseUids(50_000)).toBeGreaterThan(1_000_000);
    await write(fixture.graph, setValue(MAX_UID, 'name', 'last'));
    expect(await fixture.graph.leaseUids(50_000)).toBeLessThan(2_000_000);
    expect(await values('name', MAX_UID)).toEqual([':last']);
  });

  it('issues no uid that was named right before it, the first one of all included', async () => {
    await write(fixture.graph, setValue(1, 'name', 'first'));
    const block = await fixture.graph.leaseUids(20_000);
    expect(block).toBe(2);
    // the first of the block that would come next
    await write(fixture.graph, setValue(block + 20_000, 'name', 'named'));
    expect(await fixture.graph.leaseUids(1)).toBe(block + 20_001);
  });

  it('gives no uid to a new node that an open transaction names, in whichever block of them', async () => {
    const named = [1_000, 9_999, 25_000, 100_000];
    const transaction = await fixture.graph.begin();
    await transaction.stage(named.map((uid) => setValue(uid, 'name', 'named')));
    const leased = new Set<number>();
    for (let i = 0; i < 40; i++) {
      const first = await fixture.graph.leaseUids(3_000);
      for (let uid = first; uid < first + 3_000; uid++) leased.add(uid);
    }
    expect(named.filter((uid) => leased.has(uid))).toEqual([]);
    expect(leased.size).toBe(120_000);
    await transaction.commit();
  });

  it('keeps documents until all is dropped', async () => {
    const long = 'type A { x: Int }\n'.repeat(1_000);
    await fixture.graph.setDocument('sdl', long);
    await fixture.graph.alter({ kind: 'dropData' });
    expect(await fixture.graph.document('sdl')).toBe(long);
    await fixture.graph.setDocument('sdl', 'short');
    expect(await fixture.graph.document('sdl')).toBe('short');
    await fixture.graph.alter({ kind: 'dropAll' });
    expect(await fixture.graph.document('sdl')).toBeUndefined();
  });
});
