import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedFolder } from '../../../test/folder.js';
import { checkPassword } from '../../values/index.js';
import type { Facets, GraphChange } from '../contract.js';
import { found, type GraphFixture, openFixture, read, setEdge, setValue, valuesOf, write } from '../fixture.js';
import { predicateRange } from '../key.js';
import { readRange } from '../source.js';

const SCHEMA = `
  name: string @index(exact, term, trigram, fulltext) @lang @count .
  age: int @index(int) .
  height: float @index(float) .
  born: datetime @index(year) .
  met: datetime @index(month) .
  left: datetime @index(day) .
  seen: datetime @index(hour) .
  adult: bool @index(bool) .
  worth: bigfloat @index(bigfloat) .
  place: geo @index(geo) .
  nick: string @index(ngram, hash) .
  tag: [string] @index(exact, term) @count .
  score: [int] @index(int) .
  friend: [uid] @reverse @count .
  boss: uid @reverse @count .
  plain: [uid] .
  note: string @lang .
  spot: float32vector @count .
`;
/** uids that share blocks, and uids far apart */
const uid = fc.constantFrom(1, 2, 31, 32, 33, 1_000, 70_000, 2 ** 33 + 5, 2 ** 40);
const WORDS = [
  'a',
  'b',
  'Über den Wolken',
  'running dogs',
  'abcdef',
  'abcdefgh',
  'x'.repeat(600),
  'y'.repeat(5_000),
  '',
];
const word = fc.constantFrom(...WORDS, 'nul\0byte', 'nul\0', 'abcdefghijkl1', 'abcdefghijkl2');
const TIMES = ['2001-02-03', '1999-12-31T23:59:59Z', '2001-02-03T04:05:06.7+02:00'];
const lang = fc.constantFrom('', 'en', 'de');
const facets: fc.Arbitrary<Facets | undefined> = fc.option(
  fc.constantFrom<Facets>(
    [{ key: 'since', value: { type: 'int', value: 7 } }],
    [
      { key: 'close', value: { type: 'bool', value: true } },
      { key: 'why', value: { type: 'string', value: 'because' } },
    ],
  ),
  { nil: undefined, freq: 3 },
);
const texts = (predicate: string, values: readonly string[], langs: fc.Arbitrary<string> = fc.constant('')) =>
  fc
    .record({ uid, value: fc.constantFrom(...values), lang: langs, facets })
    .map(({ facets, ...c }) => ({ ...setValue(c.uid, predicate, c.value, c.lang), ...(facets ? { facets } : {}) }));
const edges = (predicate: string) =>
  fc
    .record({ uid, object: uid, facets })
    .map(({ facets, ...c }) => ({ ...setEdge(c.uid, predicate, c.object), ...(facets ? { facets } : {}) }));
const change: fc.Arbitrary<GraphChange> = fc.oneof(
  fc.record({ uid, word, lang, facets }).map(({ facets, ...c }): GraphChange => {
    return { ...setValue(c.uid, 'name', c.word, c.lang), ...(facets ? { facets } : {}) } as GraphChange;
  }),
  texts('age', ['1', '-5', '300']),
  texts('spot', ['[1, 2]', '[3, 4]', '[]']),
  texts('height', ['1.5', '-2', '0']),
  ...['born', 'met', 'left', 'seen'].map((name) => texts(name, TIMES)),
  texts('adult', ['true', 'false']),
  texts('worth', ['12345678901234567890.5', '-1']),
  texts('place', ['{"type":"Point","coordinates":[13.4,52.5]}', '{"type":"Point","coordinates":[-122.1,37.4]}']),
  texts('nick', ['quick brown fox', 'lazy dog jumps over']),
  texts('tag', WORDS),
  texts('score', ['1', '2', '3']),
  texts('note', WORDS, lang),
  texts('fresh', ['new', 'newer'], lang),
  edges('friend'),
  edges('boss'),
  edges('plain'),
  edges('made'),
) as fc.Arbitrary<GraphChange>;

const folder = sharedFolder();

async function opened(): Promise<GraphFixture> {
  const fixture = await openFixture();
  await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
  return fixture;
}

async function load(fixture: GraphFixture, changes: readonly GraphChange[], memoryBytes?: number): Promise<void> {
  const bulk = await fixture.graph.bulk({ folder: join(folder, 'runs'), ...(memoryBytes ? { memoryBytes } : {}) });
  for (const one of changes) expect(bulk.add(one)).toBe(true);
  await bulk.finish();
}

/** Keys and values of every predicate by its name, without its id; and what the schema says of it. */
async function dump({ graph, committer }: GraphFixture): Promise<Record<string, unknown>> {
  const snapshot = committer.snapshot();
  const all: Record<string, unknown> = {};
  try {
    for (const record of graph.schema().predicates) {
      const range = predicateRange(record.id);
      const { keys, values } = await readRange(snapshot, range);
      const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
      const entries = keys.map((key, i) => `${hex(key.subarray(range.start.length))} ${hex(values[i])}`);
      all[record.name] = { ...record, id: undefined, entries };
    }
    return all;
  } finally {
    snapshot.release();
  }
}

describe('a bulk load', () => {
  it('gives the keys that a transaction gives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 80 }), async (changes) => {
        const [bulk, plain] = [await opened(), await opened()];
        try {
          await load(bulk, changes, changes.length % 3 === 0 ? 4_000 : undefined);
          await write(plain.graph, ...changes);
          expect(await dump(bulk)).toEqual(await dump(plain));
          // what the changes named is not leased either way
          expect(await bulk.graph.leaseUids(1)).toBe(await plain.graph.leaseUids(1));
        } finally {
          await bulk.close();
          await plain.close();
        }
      }),
      { numRuns: 60 },
    );
    expect(existsSync(join(folder, 'runs'))).toBe(false);
  });

  it('cuts long lists as a transaction does, in memory and through files', async () => {
    const changes: GraphChange[] = [];
    for (let i = 0; i < 4_000; i++) {
      const uid = ((i * 7_919) % 4_000) * 3 + 1;
      changes.push(setValue(uid, 'tag', `tag ${i % 5}`), setEdge(uid, 'friend', 7), setEdge(7, 'friend', uid));
      changes.push(setValue(uid, 'name', `person ${i}`));
    }
    const fixtures = [await opened(), await opened(), await opened()];
    const [plain, memory, files] = fixtures;
    await write(plain.graph, ...changes);
    await load(memory, changes);
    await load(files, changes, 100_000);
    const expected = await dump(plain);
    expect(await dump(memory)).toEqual(expected);
    expect(await dump(files)).toEqual(expected);
    for (const fixture of fixtures) await fixture.close();
  });

  it('makes lists of what nobody declared where a node has several values, when asked to', async () => {
    const changes = [
      ...['one', 'two'].map((value) => setValue(1, 'several', value)),
      ...['1', '2'].map((value) => setValue(1, 'age', value)),
      ...['same', 'same'].map((value) => setValue(1, 'twice', value)),
      { ...setValue(1, 'listed', 'alone'), list: true } as GraphChange,
      { ...setValue(1, 'adult2', 'x'), value: { type: 'bool', value: true } } as GraphChange,
      { ...setValue(1, 'adult2', 'x'), value: { type: 'bool', value: false } } as GraphChange,
      ...['en', 'de'].map((lang) => setValue(1, 'spoken', lang, lang)),
      setValue(2, 'several', 'three'),
    ];
    for (const memoryBytes of [undefined, 100]) {
      const fixture = await opened();
      const bulk = await fixture.graph.bulk({ folder: join(folder, 'runs'), growLists: true, memoryBytes });
      for (const one of changes) bulk.add(one);
      await bulk.finish();
      const lists = fixture.graph
        .schema()
        .predicates.filter(
          ({ name, list }) => list && changes.some((one) => 'predicate' in one && one.predicate === name),
        );
      expect(lists.map(({ name }) => name).sort()).toEqual(['listed', 'several']);
      const values = (name: string, uid: number) => read(fixture.graph, (reader) => valuesOf(reader, name, uid));
      expect(await values('several', 1)).toEqual([':one', ':two']);
      expect(await values('several', 2)).toEqual([':three']);
      expect(await values('age', 1)).toEqual([':2']);
      expect(await values('twice', 1)).toEqual([':same']);
      await write(fixture.graph, setValue(2, 'several', 'four'));
      expect(await values('several', 2)).toEqual([':three', ':four']);
      await fixture.close();
    }
  });

  it('refuses such a list where its predicate has languages too, as a transaction does', async () => {
    const [plain, tagged] = [
      ['one', 'two'].map((value) => setValue(1, 'nick2', value)),
      setValue(2, 'nick2', 'a', 'en'),
    ];
    const listed = { ...setValue(1, 'nick2', 'one'), list: true } as GraphChange;
    for (const changes of [
      [...plain, tagged],
      [tagged, ...plain],
      [listed, tagged],
    ]) {
      const fixture = await opened();
      const bulk = await fixture.graph.bulk({ folder: join(folder, 'runs'), growLists: true });
      for (const one of [setValue(1, 'other', 'kept'), ...changes]) bulk.add(one);
      const refusal = { code: 'INVALID_VALUE', fix: expect.stringContaining('declare nick2: string @lang') };
      await expect(bulk.finish()).rejects.toEqual(expect.objectContaining(refusal));
      expect(fixture.graph.schema().predicate('other')).toBeUndefined();
      await fixture.close();
    }
  });

  it('takes one value without a language beside others with one', async () => {
    const fixture = await opened();
    const bulk = await fixture.graph.bulk({ folder: join(folder, 'runs'), growLists: true });
    for (const one of ['', '', 'en'].map((lang) => setValue(1, 'nick2', 'one', lang))) bulk.add(one);
    await bulk.finish();
    expect(await read(fixture.graph, (reader) => valuesOf(reader, 'nick2', 1))).toEqual([':one', 'en:one']);
    await fixture.close();
  });

  it('keeps in such lists the facets of each value, as a transaction does', async () => {
    const of = (uid: number, value: string, weight?: number): GraphChange => {
      const facets: Facets = [{ key: 'weight', value: { type: 'int', value: weight ?? 0 } }];
      return { ...setValue(uid, 'note', value), ...(weight === undefined ? {} : { facets }) } as GraphChange;
    };
    // one before the first facet, one without, one that loses its own, one of a single value
    const changes = [of(1, 'bare'), of(1, 'one', 1), of(1, 'two', 2), of(1, 'gone', 3), of(1, 'gone'), of(2, 'one', 4)];
    const listed = await openFixture();
    await listed.graph.alter({ kind: 'schema', text: 'note: [default] .' });
    await write(listed.graph, ...changes);
    const { note } = await dump(listed);
    expect(note).toMatchObject({ list: true, hasFacets: true });
    for (const memoryBytes of [undefined, 100]) {
      const grown = await openFixture();
      const bulk = await grown.graph.bulk({ folder: join(folder, 'runs'), growLists: true, memoryBytes });
      for (const one of changes) bulk.add(one);
      await bulk.finish();
      expect((await dump(grown))['note']).toEqual(note);
      await grown.close();
    }
    await listed.close();
  });

  it('tells how far it is, by predicates that weigh what they and their indexes hold', async () => {
    const fixture = await openFixture();
    await fixture.graph.alter({ kind: 'schema', text: 'plain: string .\nboth: string @index(exact, hash) .' });
    const bulk = await fixture.graph.bulk({ folder: join(folder, 'runs') });
    for (const name of ['plain', 'both']) bulk.add(setValue(1, name, 'x'));
    const told: unknown[] = [];
    await bulk.finish((at) => told.push(at));
    expect(told).toEqual([
      { predicate: 'plain', share: 0, keys: 0 },
      { predicate: 'both', share: 0.25, keys: 1 },
      { predicate: 'both', share: 1, keys: 4 },
    ]);
    await fixture.close();
  });

  it('leaves predicates that hold data to transactions, and shows nothing before it is finished', async () => {
    const fixture = await opened();
    await write(fixture.graph, setValue(1, 'age', '5'));
    const bulk = await fixture.graph.bulk({ folder: join(folder, 'runs') });
    expect(bulk.add(setValue(2, 'age', '6'))).toBe(false);
    expect(bulk.add({ op: 'deletePredicate', uid: 2, predicate: 'name' })).toBe(false);
    expect(bulk.add(setValue(2, 'name', 'Bob'))).toBe(true);
    expect(await read(fixture.graph, (reader) => valuesOf(reader, 'name', 2))).toEqual([]);
    await bulk.finish();
    expect(await read(fixture.graph, (reader) => valuesOf(reader, 'name', 2))).toEqual([':Bob']);
    await write(fixture.graph, setValue(3, 'name', 'Bob'));
    expect(await read(fixture.graph, (reader) => found(reader, 'name', 'exact', 'Bob'))).toEqual([2, 3]);
    await fixture.close();
  });

  it('stores a password that a literal spells as its hash', async () => {
    const fixture = await opened();
    await fixture.graph.alter({ kind: 'schema', text: 'pw: password .' });
    const value = { type: 'password', value: 'secret1' } as const;
    await load(
      fixture,
      ['pw', 'nick', 'fresh'].map((predicate) => ({ op: 'setValue', uid: 1, predicate, value, lang: '' })),
    );
    for (const predicate of ['pw', 'nick', 'fresh']) {
      const [stored] = await read(fixture.graph, (reader) => valuesOf(reader, predicate, 1));
      expect(await checkPassword(stored.slice(1), 'secret1')).toBe(true);
    }
    await fixture.close();
  });

  it('refuses what a transaction refuses', async () => {
    const fixture = await opened();
    await fixture.graph.alter({ kind: 'schema', text: 'mail: string @index(exact) @unique .' });
    const bulk = await fixture.graph.bulk({ folder: join(folder, 'runs') });
    const code = (code: string) => expect.objectContaining({ code });
    expect(() => bulk.add(setValue(1, 'age', 'many'))).toThrow(code('INVALID_VALUE'));
    const half = { type: 'float', value: 2.5 } as const;
    expect(() => bulk.add({ op: 'setValue', uid: 1, predicate: 'age', value: half, lang: '' })).toThrow(
      code('INVALID_VALUE'),
    );
    expect(() => bulk.add(setValue(1, 'age', '1', 'en'))).toThrow(code('INVALID_VALUE'));
    expect(() => bulk.add(setValue(1, 'friend', 'Bob'))).toThrow(code('INVALID_VALUE'));
    expect(() => bulk.add(setEdge(1, 'age', 2))).toThrow(code('INVALID_VALUE'));
    expect(() => bulk.add(setValue(0, 'age', '1'))).toThrow(code('INVALID_VALUE'));
    expect(() => bulk.add(setValue(1, 'service.x', '1'))).toThrow(code('INVALID_MUTATION'));
    expect(() => bulk.add(setValue(1, 'name', 'x'.repeat(70_000)))).toThrow(code('VALUE_TOO_LARGE'));
    bulk.add(setValue(1, 'mail', 'a@b'));
    bulk.add(setValue(2, 'mail', 'a@c'));
    bulk.add(setValue(3, 'mail', 'a@b'));
    await expect(bulk.finish()).rejects.toEqual(code('UNIQUE_VIOLATION'));
    expect(await read(fixture.graph, (reader) => valuesOf(reader, 'mail', 1))).toEqual([]);
    await fixture.close();
  });

  it('takes a vector away that is set to one without dimensions, as a transaction does', async () => {
    const by: Facets = [{ key: 'by', value: { type: 'int', value: 7 } }];
    const values = (uid: number, ...texts: string[]) =>
      texts.map(
        (text) => ({ ...setValue(uid, 'spot', text), ...(text === '[]' ? {} : { facets: by }) }) as GraphChange,
      );
    const changes = [...values(1, '[1, 2]', '[]'), ...values(2, '[]', '[3, 4]'), ...values(3, '[5, 6]')];
    const [bulk, plain] = [await opened(), await opened()];
    await load(bulk, changes);
    await write(plain.graph, ...changes);
    expect(await read(bulk.graph, (reader) => valuesOf(reader, 'spot', 1))).toEqual([]);
    expect(await read(bulk.graph, (reader) => valuesOf(reader, 'spot', 2))).toHaveLength(1);
    expect(await dump(bulk)).toEqual(await dump(plain));
    await bulk.close();
    await plain.close();
  });

  it('leaves nothing but keys to sweep when it is cut short, and builds neighbours afterwards', async () => {
    const fixture = await opened();
    await fixture.graph.alter({ kind: 'schema', text: 'v: float32vector @index(hnsw(metric: "euclidean")) .' });
    const commit = fixture.committer.commit.bind(fixture.committer);
    // the process ends before the load is published
    fixture.committer.commit = (intent) => {
      const part = intent.parts['graph'] as { step?: string } | undefined;
      const isEnd = part?.step === 'finish' || part?.step === 'abandon';
      return isEnd ? Promise.reject(new Error('the process has ended')) : commit(intent);
    };
    await expect(load(fixture, [setValue(1, 'v', '[1, 2]')])).rejects.toThrow('the process has ended');
    const { disk } = fixture;
    await fixture.close();
    const again = await openFixture({ disk });
    const before = again.graph.schema();
    expect(await read(again.graph, (reader) => valuesOf(reader, 'v', 1))).toEqual([]);
    await load(again, [setValue(1, 'v', '[1, 2]'), setValue(2, 'v', '[8, 9]')]);
    expect(again.graph.schema().predicate('v')?.indexes[0].ready).toBe(true);
    expect(again.graph.schema().predicate('v')?.id).toBeGreaterThan(before.predicate('v')?.id ?? 0);
    const near = await read(again.graph, async (reader) => {
      const record = again.graph.schema().predicate('v');
      return record ? await reader.similar(record, Float32Array.of(7, 9), 1) : [];
    });
    expect(near.map(({ uid }) => uid)).toEqual([2]);
    await again.close();
  });
});
