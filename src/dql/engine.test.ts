import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../test/open-dql.js';
import { defaultNames, dgraphNames, GraphsteadError, systemClock } from '../base/index.js';
import { createDqlEngine } from './engine.js';

const SCHEMA = `
  name: string @index(exact, term) @lang .
  email: string @index(exact) @upsert .
  nick: string @index(hash) .
  age: int @index(int) .
  amount: int .
  score: float .
  tags: [string] .
  friend: [uid] @reverse .
  boss: uid .
  type Person { name email friend }
`;

let dql: OpenDql;
beforeEach(async () => {
  dql = await openDql({ schema: SCHEMA });
});
afterEach(() => dql.close());

async function failure(promise: Promise<unknown>): Promise<GraphsteadError> {
  try {
    await promise;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GraphsteadError);
    return thrown as GraphsteadError;
  }
  throw new Error('it did not fail');
}

it('keeps every digit that JSON gives a bigfloat, and those of a double elsewhere', async () => {
  await dql.graph.alter({ kind: 'schema', text: 'exact: bigfloat .' });
  const given =
    '{"uid": "0x1", "exact": 9007199254740993.5, "score": 9007199254740993.5, "fresh": 0.12345678901234567890}';
  const shown = async (): Promise<unknown> =>
    (await dql.engine.query({ text: '{ q(func: uid(1)) { exact score fresh } }' })).data.toString();
  await dql.engine.mutate({ body: `{"set": ${given}}`, contentType: 'json', commitNow: true });
  expect(await shown()).toBe(
    '{"q":[{"exact":9007199254740993.5,"score":9007199254740994,"fresh":0.12345678901234568}]}',
  );
  await dql.engine.mutate({ body: `{"delete": ${given}}`, contentType: 'json', commitNow: true });
  expect(await shown()).toBe('{"q":[]}');
});

it('gives a new node no uid that the same request names', async () => {
  const { uids } = await dql.mutateJson({
    set: [
      { uid: '0x1', nick: 'a', boss: { nick: 'b' } },
      { uid: '0x2', nick: 'c', friend: [{ uid: '0x3' }] },
    ],
  });
  const fresh = Number([...uids.values()][0]);
  expect(fresh).toBeGreaterThan(3);
  expect(await dql.query(`{ q(func: uid(1, 2, 3, ${fresh})) { nick boss { nick } } }`)).toEqual({
    q: [{ nick: 'a', boss: { nick: 'b' } }, { nick: 'c' }, { nick: 'b' }],
  });
});

describe('a JSON list under a predicate of one value', () => {
  it.each([
    ['values', '{"uid": "0x1", "nick": ["a", "b"]}', '"b"'],
    ['values of a language', '{"uid": "0x1", "name@en": ["a", "b"]}', '"b"'],
    [
      'nodes, with lists below them',
      '{"uid": "0x1", "boss": [{"tags": ["x", "y"]}, {"tags": ["z"]}]}',
      '{"tags": ["z"]',
    ],
  ])('is refused where it has several: %s', async (_, set, second) => {
    const own = await openDql({ schema: SCHEMA, names: defaultNames });
    const body = `{"set": ${set}}`;
    const refused = await failure(own.engine.mutate({ body, contentType: 'json', commitNow: true }));
    expect(refused).toMatchObject({ code: 'INVALID_MUTATION', position: { column: body.indexOf(second) + 1 } });
    expect(await own.query('{ q(func: uid(1)) { nick name@en boss { uid } } }')).toEqual({ q: [] });
    await own.close();
    // the peer keeps the last
    await dql.engine.mutate({ body, contentType: 'json', commitNow: true });
    expect((await dql.query('{ q(func: uid(1)) { nick name@en boss { tags } } }')).q).toHaveLength(1);
  });

  it('is refused for what nobody declared, where it can be no list', async () => {
    const own = await openDql({ names: defaultNames });
    for (const set of [{ 'note@en': ['a', 'b'] }, { fine: [true, false] }]) {
      const refused = await failure(own.mutateJson({ set }));
      expect(refused).toMatchObject({ code: 'INVALID_MUTATION', fix: 'Give it one value.' });
    }
    await own.mutateJson({
      set: { uid: '0x1', 'note@en': ['a'], fine: [true], tags: ['x', 'y'], to: [{ uid: '0x2' }, { uid: '0x3' }] },
    });
    expect(await own.query('{ q(func: uid(1)) { note@en fine tags count(to) } }')).toEqual({
      q: [{ 'note@en': 'a', fine: true, tags: ['x', 'y'], 'count(to)': 2 }],
    });
    await own.close();
  });

  it('is the value where it has one', async () => {
    const own = await openDql({ schema: SCHEMA, names: defaultNames });
    await own.mutateJson({
      set: [{ uid: '0x1', nick: ['a'], 'name@en': ['b'], name: ['c'], boss: [{ uid: '0x2', nick: ['d'] }] }],
    });
    expect(await own.query('{ q(func: uid(1)) { nick name name@en boss { nick } } }')).toEqual({
      q: [{ nick: 'a', name: 'c', 'name@en': 'b', boss: { nick: 'd' } }],
    });
    await own.close();
  });
});

describe('a long body', () => {
  /** Turns of the event loop while it is read, each look at the clock taking a slice's time. */
  async function turnsWhile(body: string, contentType: 'rdf' | 'json', signal?: { aborted: boolean }) {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => (now += 20) };
    const engine = createDqlEngine({ graph: dql.graph, names: dgraphNames, clock });
    let turns = 0;
    const turn = (): void => {
      turns++;
      if (signal && turns === 3) signal.aborted = true;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    try {
      await engine.mutate({ body, contentType, commitNow: true, timeoutMs: 1e9, ...(signal ? { signal } : {}) });
      return turns;
    } finally {
      clearImmediate(timer);
    }
  }
  const rdf = `{ set {\n${Array.from({ length: 3_000 }, (_, i) => `_:n${i} <name> "node ${i}" .`).join('\n')}\n} }`;
  const json = JSON.stringify({ set: Array.from({ length: 3_000 }, (_, i) => ({ name: `node ${i}` })) });

  it('is read in slices, so that others have their turn', async () => {
    expect(await turnsWhile(rdf, 'rdf')).toBeGreaterThan(30);
    expect(await turnsWhile(json, 'json')).toBeGreaterThan(30);
    const { q } = await dql.query('{ q(func: has(name)) { count(uid) } }');
    expect(q).toEqual([{ count: 6_000 }]);
  });

  it('of a client that has gone is not read to its end', async () => {
    await expect(turnsWhile(rdf, 'rdf', { aborted: false })).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(turnsWhile(json, 'json', { aborted: false })).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await dql.query('{ q(func: has(name)) { uid } }')).toEqual({ q: [] });
  });
});

describe('mutations', () => {
  it('are bounded in the facets of one edge or value, as RDF and as JSON', async () => {
    const facets = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
    const rdf = (count: number) =>
      `{ set { _:a <knows> _:b (${facets(count)
        .map((f) => `${f}=1`)
        .join(', ')}) . } }`;
    const json = (count: number) => ({
      set: { knows: { uid: '_:b', ...Object.fromEntries(facets(count).map((f) => [`knows|${f}`, 1])) } },
    });
    const few = await openDql({ limits: { facets: 20 } });
    await few.mutate(rdf(20));
    await few.mutateJson(json(20));
    const refused = { code: 'LIMIT_EXCEEDED', message: 'an edge or a value has more than 20 facets (limit facets)' };
    await expect(few.mutate(rdf(21))).rejects.toMatchObject({ ...refused, position: { line: 1 } });
    await expect(few.mutateJson(json(21))).rejects.toMatchObject(refused);
    await few.close();
  });

  it('give blank nodes uids and tell them by name', async () => {
    const { uids, queries, txn } = await dql.mutate(`{ set {
      _:ada <name> "Ada" .
      _:ada <friend> _:bob (since=2006-01-02T15:04:05, close=true) .
      _:bob <name> "Bob" .
      _:bob <name> "Robert"@en .
    } }`);
    expect([...uids.keys()].sort()).toEqual(['ada', 'bob']);
    expect(queries).toBeUndefined();
    expect(txn.commitTs).toBeGreaterThan(txn.startTs);
    const data = await dql.query('{ q(func: eq(name, "Ada")) { name friend @facets { uid name name@en } } }');
    expect(data['q']).toEqual([
      {
        name: 'Ada',
        friend: [
          {
            uid: uids.get('bob'),
            name: 'Bob',
            'name@en': 'Robert',
            'friend|close': true,
            'friend|since': '2006-01-02T15:04:05Z',
          },
        ],
      },
    ]);
  });

  it('read JSON with nested nodes, lists, languages and exact numbers', async () => {
    const { uids } = await dql.mutateJson({
      set: {
        uid: '_:ada',
        name: 'Ada',
        'name@fr': 'Adélaïde',
        tags: ['a', 'b'],
        friend: [{ uid: '_:bob', name: 'Bob', 'friend|close': true }],
        boss: { name: 'Carol' },
      },
    });
    expect(uids.size).toBe(3);
    const data = await dql.query(
      `{ q(func: uid(${uids.get('ada')})) { name name@fr tags friend @facets { name } boss { name } } }`,
    );
    expect(data['q']).toEqual([
      {
        name: 'Ada',
        'name@fr': 'Adélaïde',
        tags: expect.arrayContaining(['a', 'b']) as unknown,
        friend: [{ name: 'Bob', 'friend|close': true }],
        boss: { name: 'Carol' },
      },
    ]);
  });

  it('take numbers that JSON lists under a predicate of vectors for one vector, as answers show it', async () => {
    const own = await openDql({ schema: 'v: float32vector .\nw: float32vector .\nn: [int] .', names: defaultNames });
    const node = { uid: '0x1', v: [1, -2.5], w: [3e2], n: [1, 2], friend: [{ uid: '0x2', v: [0, 4] }] };
    await own.mutateJson({ set: [node, { uid: '0x3', v: [5] }, { uid: '0x3', v: [6, 7] }] });
    expect(await own.query('{ q(func: uid(0x1, 0x2, 0x3)) { v w n } }')).toEqual({
      q: [{ v: [1, -2.5], w: [300], n: expect.arrayContaining([1, 2]) }, { v: [0, 4] }, { v: [6, 7] }],
    });
    await own.mutateJson({ delete: { uid: '0x1', v: [1, -2.5] } });
    expect(await own.query('{ q(func: uid(0x1)) { v w } }')).toEqual({ q: [{ w: [300] }] });
    await own.close();
    const peer = await openDql({ schema: 'v: float32vector .', names: dgraphNames });
    await expect(peer.mutateJson({ set: { v: [1, 2] } })).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await peer.close();
  });

  it('take an empty text under a predicate of vectors for none, as a program writes what it has not', async () => {
    for (const names of [defaultNames, dgraphNames]) {
      const own = await openDql({ schema: 'v: float32vector @index(hnsw(metric: "euclidean")) .', names });
      await own.mutateJson({ set: { uid: '0x1', note: 'a', v: '' } });
      await own.mutateJson({ set: { uid: '0x2', note: 'b', v: '[1, 2]' } });
      await own.mutateJson({ set: { uid: '0x3', note: 'c', v: '[3, 4]' } });
      await own.mutateJson({ set: { uid: '0x2', v: '' } });
      expect(await own.query('{ q(func: has(note)) { note v } }')).toEqual({
        q: [{ note: 'a' }, { note: 'b' }, { note: 'c', v: [3, 4] }],
      });
      const asked = own.query('{ q(func: similar_to(v, 2, "")) { note } }');
      await expect(asked).rejects.toMatchObject({ code: 'INVALID_QUERY' });
      await own.close();
    }
  });

  it('make a list of a new predicate that has several values of one node, or a list in JSON', async () => {
    await dql.mutate('{ set { _:a <byname> "Al" .\n _:a <byname> "Ali" .\n _:a <code> "1" .\n _:b <code> "2" . } }');
    await dql.mutateJson({ set: [{ lucky: [7, 11], one: ['only'], flags: [true], code: '3' }, { lucky: 3 }] });
    const { data } = await dql.engine.query({ text: 'schema(pred: [byname, code, lucky, one, flags]) { type list }' });
    expect(JSON.parse(data.toString())).toEqual({
      schema: [
        { predicate: 'byname', type: 'default', list: true },
        { predicate: 'code', type: 'default' },
        { predicate: 'lucky', type: 'int', list: true },
        { predicate: 'one', type: 'string', list: true },
        { predicate: 'flags', type: 'bool' },
      ],
    });
    const { q } = (await dql.query('{ q(func: has(lucky)) { lucky } }')) as { q: { lucky: number[] }[] };
    expect(q.map(({ lucky }) => lucky.sort((a, b) => a - b))).toEqual([[7, 11], [3]]);
  });

  it('make an edge to one node of a new predicate that JSON gives as an object, under --compat dgraph', async () => {
    const query = '{ v as q(func: uid(0x71, 0x72)) { uid } w as r(func: uid(0x71)) { uid } }';
    const made = {
      boss: { name: 'Bo', home: { name: 'Rome' } },
      pal: [{ name: 'Al' }],
      mixed: { name: 'Cy' },
      spouse: { uid: 'uid(w)' },
      child: { uid: 'uid(v)' },
    };
    const twice = { uid: '0x73', twice: { uid: '0x71' } };
    const set = [made, { mixed: [{ name: 'Di' }] }, twice, { ...twice, twice: { uid: '0x72' } }];
    const kept = { boss: false, home: false, pal: true, mixed: true, spouse: false, child: true, twice: true };
    for (const names of [dgraphNames, defaultNames]) {
      const own = await openDql({ names });
      await own.mutateJson({ query, set });
      await own.mutateJson({ set: { uid: '0x74', boss: { uid: '0x71' } } });
      await own.mutateJson({ set: { uid: '0x74', boss: { uid: '0x72' } } });
      await own.mutate('{ set { <0x71> <stated> <0x72> . } }');
      const { data } = await own.engine.query({ text: `schema(pred: [${Object.keys(kept)}, stated]) { list }` });
      const { schema } = JSON.parse(data.toString()) as { schema: { predicate: string; list?: boolean }[] };
      const lists = Object.fromEntries(schema.map(({ predicate, list }) => [predicate, list === true]));
      const all = Object.fromEntries(Object.keys(kept).map((name) => [name, true]));
      expect(lists).toEqual({ ...(names === dgraphNames ? kept : all), stated: true });
      const boss = names === dgraphNames ? { uid: '0x72' } : [{ uid: '0x71' }, { uid: '0x72' }];
      expect(await own.query('{ q(func: uid(0x74)) { boss { uid } } }')).toEqual({ q: [{ boss }] });
      await own.close();
    }
  });

  it('make a list of a new predicate that has several places of one node', async () => {
    const places = [
      { type: 'Point', coordinates: [1, 2] },
      { type: 'Point', coordinates: [3, 4] },
    ];
    await dql.mutateJson({ set: { uid: '0x1', seen: places } });
    const [one, two] = places.map((place) => `"${JSON.stringify(place).replaceAll('"', "'")}"^^<geo:geojson>`);
    await dql.mutate(`{ set { <0x1> <met> ${one} .\n <0x1> <met> ${two} .\n <0x1> <home> ${one} . } }`);
    const { q } = (await dql.query('{ q(func: uid(0x1)) { seen met home } }')) as { q: Record<string, unknown>[] };
    expect(q[0]?.['seen']).toHaveLength(2);
    expect(q[0]?.['met']).toEqual(expect.arrayContaining(places));
    expect(q[0]?.['home']).toEqual(places[0]);
  });

  it('keep what the schema says of lists, also where a block gives several values', async () => {
    await dql.mutate('{ set { <0x1> <single> "first" . } }');
    await dql.mutate('{ set { <0x1> <single> "second" .\n <0x1> <single> "third" . } }');
    await dql.mutate('{ set { <0x1> <spoken> "hello"@en .\n <0x1> <spoken> "bonjour"@fr . } }');
    expect(await dql.query('{ q(func: uid(0x1)) { single spoken@fr } }')).toEqual({
      q: [{ single: 'third', 'spoken@fr': 'bonjour' }],
    });
  });

  it('keep integers beyond 2^53', async () => {
    await dql.engine.mutate({
      body: '{"set": {"name": "big", "amount": 9223372036854775807}}',
      contentType: 'json',
      commitNow: true,
    });
    const { data } = await dql.engine.query({ text: '{ q(func: eq(name, "big")) { amount } }' });
    expect(data.toString('utf8')).toBe('{"q":[{"amount":9223372036854775807}]}');
  });

  it('delete one value, one language, a predicate, and the typed part of a node', async () => {
    const { uids } = await dql.mutate(`{ set {
      _:ada <name> "Ada" .
      _:ada <name> "Adele"@de .
      _:ada <nick> "A" .
      _:ada <tags> "x" .
      _:ada <tags> "y" .
      _:ada <dgraph.type> "Person" .
    } }`);
    const ada = uids.get('ada');
    await dql.mutate(`{ delete { <${ada}> <tags> "x" .\n<${ada}> <name@de> * . } }`);
    const q = `{ q(func: uid(${ada})) { name name@de nick tags } }`;
    expect(await dql.query(q)).toEqual({ q: [{ name: 'Ada', nick: 'A', tags: ['y'] }] });
    await dql.mutate(`{ delete { <${ada}> <nick> "not the value" .\n<${ada}> <tags> * . } }`);
    expect(await dql.query(q)).toEqual({ q: [{ name: 'Ada', nick: 'A' }] });
    await dql.mutateJson({ delete: { uid: ada } });
    expect(await dql.query(q)).toEqual({ q: [{ nick: 'A' }] });
  });

  it('tell where a value does not fit its predicate', async () => {
    const rdf = await failure(dql.mutate('{ set {\n_:a <name> "a" .\n  _:a <age> "old" .\n} }'));
    expect([rdf.code, rdf.position]).toEqual(['INVALID_VALUE', { line: 3, column: 3 }]);
    const json = await failure(
      dql.engine.mutate({ body: '{"set": {\n "name": "a", "age": "old"}}', contentType: 'json', commitNow: true }),
    );
    expect([json.code, json.position]).toEqual(['INVALID_VALUE', { line: 2, column: 22 }]);
  });

  it.each([
    ['a language beside a number', '_:a <fresh> "1"^^<xs:int> .\n  _:a <fresh> "x"@en .'],
    ['a value beside an edge', '_:a <fresh> _:b .\n  _:a <fresh> "x" .'],
  ])('tell where a value does not fit what was made of its predicate before: %s', async (_, triples) => {
    const refused = await failure(dql.mutate(`{ set {\n  ${triples}\n} }`));
    expect([refused.code, refused.position]).toEqual(['INVALID_VALUE', { line: 3, column: 3 }]);
  });

  it('lose no fraction to a whole number, except under --compat dgraph', async () => {
    const price = [
      { body: '{"set": {"uid": "0x1",\n "age": 2.5}}', contentType: 'json', place: { line: 2, column: 9 } },
      { body: '{ set {\n<0x1> <age> "2.5"^^<xs:float> .\n} }', contentType: 'rdf', place: { line: 2, column: 1 } },
      { body: '{"delete": {"uid": "0x1", "age": 2.5}}', contentType: 'json', place: { line: 1, column: 34 } },
      { body: '{"set": {"uid": "0x1", "new": [1, 2.5]}}', contentType: 'json' },
    ] as const;
    const plain = await openDql({ schema: SCHEMA, names: defaultNames });
    await plain.mutateJson({ set: { uid: '0x1', age: 2 } });
    for (const { body, contentType, ...at } of price) {
      const error = await failure(plain.engine.mutate({ body, contentType, commitNow: true }));
      expect([error.code, error.message]).toEqual(['INVALID_VALUE', expect.stringContaining('2.5 is not an int')]);
      if ('place' in at) expect(error.position).toEqual(at.place);
    }
    await plain.mutateJson({ set: { uid: '0x2', age: 3.0, score: 2.5 } });
    const query = '{ q(func: has(age)) { age score new } }';
    expect(await plain.query(query)).toEqual({ q: [{ age: 2 }, { age: 3, score: 2.5 }] });
    await plain.close();
    await dql.mutateJson({ set: { uid: '0x1', age: 2.5 } });
    expect(await dql.query(query)).toEqual({ q: [{ age: 2 }] });
  });

  it('keep the number above all uids for what belongs to no node', async () => {
    for (const [body, contentType] of [
      ['{ set { <0x1fffffffffffff> <name> "far" . } }', 'rdf'],
      ['{ set { <0x1> <friend> <0x1fffffffffffff> . } }', 'rdf'],
      ['{"set": {"uid": "0x1fffffffffffff", "name": "far"}}', 'json'],
    ] as const) {
      const error = await failure(dql.engine.mutate({ body, contentType, commitNow: true }));
      expect([error.code, error.message]).toEqual(['INVALID_MUTATION', expect.stringContaining('out of range')]);
    }
    expect((await failure(dql.query('{ q(func: uid(0x1fffffffffffff)) { name } }'))).code).toBe('INVALID_QUERY');
    await dql.mutate('{ set { <0x1ffffffffffffe> <name> "far" . } }');
    expect(await dql.query('{ q(func: uid(0x1ffffffffffffe)) { uid name } }')).toEqual({
      q: [{ uid: '0x1ffffffffffffe', name: 'far' }],
    });
  });

  it('stand one on a line under --compat dgraph, and as they like otherwise', async () => {
    const body = '{ set { _:a <name> "a" . _:b <name> "b" . } }';
    expect((await failure(dql.mutate(body))).code).toBe('SYNTAX');
    const plain = await openDql({ schema: SCHEMA, names: defaultNames });
    expect([...(await plain.mutate(body)).uids.keys()]).toEqual(['a', 'b']);
    await plain.close();
  });

  it('replace a value in one block', async () => {
    const { uids } = await dql.mutate('{ set { _:a <tags> "old" . } }');
    await dql.mutate(`{ set { <${uids.get('a')}> <tags> "new" . } delete { <${uids.get('a')}> <tags> * . } }`);
    expect(await dql.query(`{ q(func: uid(${uids.get('a')})) { tags } }`)).toEqual({ q: [{ tags: ['new'] }] });
  });

  it.each([
    ['{ delete { * <name> "x" . } }', 'UNSUPPORTED_DELETE'],
    ['{ delete { * * "x" . } }', 'UNSUPPORTED_DELETE'],
    ['{ delete { * <name> * . } }', 'UNSUPPORTED_DELETE'],
    ['{ delete { <0x1> * "x" . } }', 'UNSUPPORTED_DELETE'],
    ['{ delete { <0x1> <name@*> * . } }', 'INVALID_MUTATION'],
    ['{ set { <0x1> <name@en:fr> "x" . } }', 'INVALID_MUTATION'],
    ['{ set { <0x1> <name@.> "x" . } }', 'INVALID_MUTATION'],
    ['{ set { <0x1> <name@en_US> "x" . } }', 'INVALID_MUTATION'],
    ['{ set { <0x1> <name@> "x" . } }', 'INVALID_MUTATION'],
    ['{ delete { <0x1> <name@> * . } }', 'INVALID_MUTATION'],
    ['{ set { <0x1> <name> * . } }', 'INVALID_MUTATION'],
    ['{ set { <0x1> * "x" . } }', 'INVALID_MUTATION'],
    ['{ set { <alice> <name> "x" . } }', 'INVALID_MUTATION'],
    ['{ set { _:a <dgraph.graphql.schema> "x" . } }', 'INVALID_MUTATION'],
    ['{ set { _:a <dgraph.name> "x" . } }', 'INVALID_MUTATION'],
    ['{ set { _:a <age> "old" . } }', 'INVALID_VALUE'],
    ['{ set { uid(v) <name> "x" . } }', 'INVALID_QUERY'],
    ['set { _:a <name> "x" . }', 'SYNTAX'],
    ['upsert { mutation { set { _:a <name> "x" . } } }', 'SYNTAX'],
    ['upsert { query { q(func: has(name)) { uid } } }', 'SYNTAX'],
    ['', 'INVALID_REQUEST'],
  ])('refuse %s with %s', async (body, code) => {
    const error = await failure(dql.mutate(body));
    expect(error.code).toBe(code);
    expect(error.fix).toBeTruthy();
    expect(await dql.query('{ q(func: has(name)) { uid } }')).toEqual({ q: [] });
  });
});

describe('upserts', () => {
  const UPSERT = `upsert {
    query { q(func: eq(email, "ada@x.org")) { v as uid name } }
    mutation { set { uid(v) <email> "ada@x.org" .\nuid(v) <name> "Ada" . } }
  }`;

  it('create a node once, keyed by uid(v)', async () => {
    const first = await dql.mutate(UPSERT);
    expect([...first.uids.keys()]).toEqual(['uid(v)']);
    expect(first.queries?.toString()).toBe('{"q":[]}');
    const second = await dql.mutate(UPSERT);
    expect(second.uids.size).toBe(0);
    expect(JSON.parse(second.queries?.toString() ?? '')).toEqual({
      q: [{ uid: first.uids.get('uid(v)'), name: 'Ada' }],
    });
  });

  it('never create twice, however many run at once', async () => {
    await Promise.all(Array.from({ length: 24 }, () => dql.mutate(UPSERT)));
    const data = await dql.query('{ q(func: eq(email, "ada@x.org")) { count(uid) } }');
    expect(data).toEqual({ q: [{ count: 1 }] });
  });

  it('conflict on an index key that was looked up and written, without @upsert too', async () => {
    const body = UPSERT.replaceAll('email', 'nick');
    await Promise.all(Array.from({ length: 8 }, () => dql.mutate(body)));
    expect(await dql.query('{ q(func: eq(nick, "ada@x.org")) { count(uid) } }')).toEqual({ q: [{ count: 1 }] });
  });

  it('fan out over several uids and ignore values that are not there', async () => {
    await dql.mutate(
      '{ set { _:a <name> "a" .\n_:a <amount> "10" .\n_:b <name> "b" .\n_:c <name> "c" .\n_:c <amount> "5" . } }',
    );
    await dql.mutate(`upsert {
      query { u as var(func: has(name)) { n as amount m as math(n + 1) } }
      mutation { set { uid(u) <amount> val(m) .\nuid(u) <boss> _:boss . } }
    }`);
    const data = await dql.query('{ q(func: has(name), orderasc: name) { name amount boss { uid } } }');
    const rows = data['q'] as { name: string; amount?: number; boss: { uid: string } }[];
    expect(rows.map(({ name, amount }) => [name, amount])).toEqual([
      ['a', 11],
      ['b', undefined],
      ['c', 6],
    ]);
    expect(new Set(rows.map(({ boss }) => boss.uid)).size).toBe(1);
  });

  it('do nothing for an empty variable in delete, and where the condition does not hold', async () => {
    await dql.mutate('{ set { _:a <name> "a" . } }');
    const { uids } = await dql.mutate(`upsert {
      query { v as var(func: eq(name, "nobody")) w as var(func: eq(name, "a")) }
      mutation { delete { uid(v) <name> * . } }
      mutation @if(gt(len(v), 0) OR NOT eq(len(w), 1)) { set { _:new <name> "not this" . } }
      mutation @if(eq(len(v), 0) AND ge(len(w), 1)) { set { uid(w) <nick> "this" . } }
    }`);
    expect(uids.size).toBe(0);
    expect(await dql.query('{ q(func: has(name)) { name nick } }')).toEqual({ q: [{ name: 'a', nick: 'this' }] });
  });

  it('refuse a condition that asks for a part of a node, as a count of edges does', async () => {
    const upsert = (condition: string) =>
      dql.mutate(`upsert { query { v as var(func: has(name)) }
        mutation @if(${condition}) { set { _:a <name> "a" . } } }`);
    for (const condition of [
      'eq(len(v), 0.5)',
      'lt(len(v), 1.5)',
      'eq(len(v), [0, "none"])',
      'between(len(v), 0, 1.5)',
    ])
      await expect(upsert(condition)).rejects.toMatchObject({ code: 'INVALID_VALUE', position: { line: 2 } });
    expect((await upsert('between(len(v), 0, 1)')).uids.has('a')).toBe(true);
    expect((await upsert('eq(len(v), [2, 3])')).uids.size).toBe(0);
    expect((await upsert('lt(len(v), 0) or ge(len(v), 2) or gt(len(v), 1)')).uids.size).toBe(0);
    expect((await upsert('le(len(v), 1)')).uids.has('a')).toBe(true);
  });

  it('refuse a condition on the values of a variable that holds nodes', async () => {
    const upsert = (query: string) =>
      dql.mutate(`upsert { query { ${query} }
        mutation @if(eq(val(v), 1)) { set { _:a <name> "a" . } } }`);
    for (const query of ['v as var(func: has(name))', 'var(func: uid(0x1)) { v as uid }']) {
      await expect(upsert(query), query).rejects.toMatchObject({
        code: 'INVALID_QUERY',
        message: 'the variable v holds nodes and no values',
        position: { line: 2 },
      });
    }
    for (const query of ['var(func: has(name)) { v as count(uid) }', 'var(func: has(name)) { v as name }']) {
      expect((await upsert(query)).uids.size, query).toBe(0);
    }
  });

  it('make no node that nothing is set on', async () => {
    const { uids } = await dql.mutate(`upsert {
      query { q(func: eq(name, "nobody")) { v as uid n as amount } }
      mutation { set { uid(v) <amount> val(n) .\n_:b <amount> val(n) . } }
    }`);
    expect(uids.size).toBe(0);
  });

  it('give one blank node in several blocks one uid', async () => {
    const { uids } = await dql.mutateJson({
      query: '{ v as var(func: eq(name, "x")) }',
      mutations: [{ set: { uid: '_:n', name: 'x' }, cond: '@if(eq(len(v), 0))' }, { set: { uid: '_:n', nick: 'y' } }],
    });
    expect([...uids.keys()]).toEqual(['n']);
    expect(await dql.query('{ q(func: eq(name, "x")) { name nick } }')).toEqual({ q: [{ name: 'x', nick: 'y' }] });
  });

  it('answer with the state before', async () => {
    await dql.mutate('{ set { _:a <name> "a" .\n_:a <age> "1" . } }');
    const { queries } = await dql.mutate(`upsert {
      query { q(func: eq(name, "a")) { v as uid age } }
      mutation { set { uid(v) <age> "2" . } }
    }`);
    expect(queries?.toString()).toContain('"age":1');
    expect(await dql.query('{ q(func: eq(name, "a")) { age } }')).toEqual({ q: [{ age: 2 }] });
  });

  it('know variables that only a mutation uses, and refuse those that nothing defines', async () => {
    const error = await failure(
      dql.mutate('upsert { query { q(func: has(name)) { uid } } mutation { set { uid(v) <name> "x" . } } }'),
    );
    expect(error.code).toBe('INVALID_QUERY');
    expect(error.message).toContain('v');
  });
});

describe('transactions', () => {
  it('see their own changes, and nobody else does before the commit', async () => {
    const { txn } = await dql.mutate('{ set { _:a <name> "a" . } }', { commitNow: false });
    expect(txn.commitTs).toBeUndefined();
    expect(txn.preds).toEqual(['name']);
    expect(txn.keys.length).toBeGreaterThan(0);
    const { startTs, hash } = txn;
    expect(await dql.query('{ q(func: has(name)) { name } }')).toEqual({ q: [] });
    expect(await dql.query('{ q(func: has(name)) { name } }', { startTs, hash })).toEqual({ q: [{ name: 'a' }] });
    const done = await dql.engine.commit(startTs, hash);
    expect(done.commitTs).toBeGreaterThan(startTs);
    expect(await dql.engine.commit(startTs, hash)).toEqual(done);
    expect(await dql.query('{ q(func: has(name)) { name } }')).toEqual({ q: [{ name: 'a' }] });
  });

  it('abort the one that commits second', async () => {
    const begin = () => dql.mutate('{ set { <0x10> <age> "1" . } }', { commitNow: false });
    const [first, second] = [await begin(), await begin()];
    await dql.engine.commit(first.txn.startTs);
    expect((await failure(dql.engine.commit(second.txn.startTs))).code).toBe('TXN_ABORTED');
  });

  it('abort where they found no node with a predicate, gave one to a node, and another one had done so meanwhile', async () => {
    await dql.graph.alter({ kind: 'schema', text: 'size: int .' });
    const outcome = async (uid: string): Promise<string> => {
      const upsert = 'upsert { query { q(func: has(size)) { uid } } mutation { set { <%> <size> "1" . } } }';
      const { txn } = await dql.mutate(upsert.replace('%', uid), { commitNow: false });
      await dql.mutate('{ set { <0x51> <size> "2" . } }');
      return dql.engine.commit(txn.startTs).then(
        () => 'committed',
        ({ code }) => code,
      );
    };
    expect(await outcome('0x50')).toBe('TXN_ABORTED');
    // where it found some it has looked for these, and not for none
    expect(await outcome('0x52')).toBe('committed');
  });

  it('abort leaves nothing', async () => {
    const { txn } = await dql.mutate('{ set { _:a <name> "a" . } }', { commitNow: false });
    await dql.engine.abort(txn.startTs, txn.hash);
    expect((await failure(dql.engine.commit(txn.startTs))).code).toBe('TXN_FINISHED');
    expect(await dql.query('{ q(func: has(name)) { name } }')).toEqual({ q: [] });
  });

  it('refuse a wrong hash and an unknown start timestamp', async () => {
    const { txn } = await dql.mutate('{ set { _:a <name> "a" . } }', { commitNow: false });
    expect((await failure(dql.engine.commit(txn.startTs, 'wrong'))).code).toBe('FORBIDDEN');
    expect((await failure(dql.engine.commit(999_999))).code).toBe('TXN_UNKNOWN');
  });
});

describe('queries', () => {
  it('tell parse errors with their place', async () => {
    const error = await failure(dql.query('{\n  q(func: has(name)) { name'));
    expect(error.code).toBe('SYNTAX');
    expect(error.position).toEqual({ line: 2, column: 28 });
  });

  it('stop at their deadline and when cancelled', async () => {
    await dql.mutate('{ set { _:a <name> "a" . } }');
    const controller = new AbortController();
    controller.abort();
    const cancelled = await failure(dql.query('{ q(func: has(name)) { name } }', { signal: controller.signal }));
    expect(cancelled.code).toBe('CANCELLED');
    expect((await failure(dql.query('{ q(func: has(name)) { name } }', { timeoutMs: -1 }))).code).toBe('TIMEOUT');
  });

  it('put variables in their places', async () => {
    await dql.mutate('{ set { _:a <name> "Ada" . } }');
    const text = 'query find($n: string, $k: int = 1) { q(func: eq(name, $n), first: $k) { name } }';
    expect(await dql.query(text, { variables: { $n: 'Ada' } })).toEqual({ q: [{ name: 'Ada' }] });
    expect(await dql.query(text, { variables: { $n: 'Bob' } })).toEqual({ q: [] });
  });

  it('show the schema', async () => {
    expect(await dql.query('schema(pred: [friend, name, nothing]) {}')).toEqual({
      schema: [
        { predicate: 'friend', type: 'uid', reverse: true, list: true },
        { predicate: 'name', type: 'string', index: true, tokenizer: ['exact', 'term'], lang: true },
      ],
    });
    expect(await dql.query('schema(pred: age) { type }')).toEqual({ schema: [{ predicate: 'age', type: 'int' }] });
    expect(await dql.query('schema(type: Person) {}')).toEqual({
      types: [{ fields: [{ name: 'name' }, { name: 'email' }, { name: 'friend' }], name: 'Person' }],
    });
    expect(await dql.query('schema(type: Nobody) {}')).toEqual({});
    const all = await dql.query('schema {}');
    expect((all['schema'] as { predicate: string }[]).map(({ predicate }) => predicate)).toContain('email');
  });

  it('answer as RDF', async () => {
    await dql.mutate('{ set { <0x1> <name> "Ada" . } }');
    const { data } = await dql.engine.query({ text: '{ q(func: has(name)) { name } }', format: 'rdf' });
    expect(data.toString('utf8')).toBe('<0x1> <name> "Ada" .\n');
  });
});

describe('idempotency', () => {
  it('keeps the reply that the server asked for in the same commit', async () => {
    const claim = { scope: 'mutate:x', key: 'k1', bodyHash: 'h' };
    const { uids } = await dql.mutate('{ set { _:a <name> "a" . } }', {
      idempotency: claim,
      reply: (answer) => Buffer.from(`reply for ${[...answer.uids.keys()].join()}`),
    });
    expect([...uids.keys()]).toEqual(['a']);
    const kept = await dql.committer.idempotentReply(claim.scope, claim.key, claim.bodyHash);
    expect(Buffer.from(kept ?? []).toString()).toBe('reply for a');
    const other = dql.committer.idempotentReply(claim.scope, claim.key, 'another body');
    expect((await failure(other)).code).toBe('IDEMPOTENCY_MISMATCH');
    const again = await dql.mutate('{ set { _:a <name> "a" . } }', { idempotency: claim });
    expect(Buffer.from(again.kept ?? []).toString()).toBe('reply for a');
    expect(await dql.query('{ q(func: eq(name, "a")) { count(uid) } }')).toEqual({ q: [{ count: 1 }] });
  });

  it('keeps the usual envelope when nobody says what to reply', async () => {
    const claim = { scope: 's', key: 'k2', bodyHash: 'h' };
    const { uids } = await dql.mutate('{ set { _:a <name> "a" . } }', { idempotency: claim });
    const kept = await dql.committer.idempotentReply('s', 'k2', 'h');
    expect(JSON.parse(Buffer.from(kept ?? []).toString())).toMatchObject({
      data: { code: 'Success', uids: Object.fromEntries(uids) },
    });
  });
});
