import { setImmediate as endOfTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { createMemoryStore, MemoryDisk, openLmdbStore, type Store } from '../store/index.js';
import { decodeValue, tokensOf, valueText } from '../values/index.js';
import type { Graph, GraphChange, GraphReader } from './contract.js';
import { collect, type GraphFixture, openFixture, read, setEdge, setValue, text } from './fixture.js';
import { latin1 } from '../base/index.js';

const SCHEMA = `
  name: string @index(exact, term) @lang @count .
  age: int @index(int) .
  tag: [string] @index(exact, term) @count .
  friend: [uid] @reverse @count .
  boss: uid @reverse @count .
`;
/** uids that share blocks, and uids far apart */
const UIDS = [1, 2, 31, 32, 33, 1_000, 70_000, 2 ** 40];
const WORDS = ['a', 'b', 'a b', 'b c', 'x'.repeat(600), 'y'.repeat(5_000), ''];

/** What the graph should hold: plain maps. */
class Model {
  readonly values = new Map<string, Map<string, string>>();
  readonly members = new Map<string, Set<string>>();
  readonly edges = new Map<string, Set<number>>();

  drop(predicate: string): void {
    for (const map of [this.values, this.members, this.edges]) {
      for (const key of map.keys()) if (key.startsWith(`${predicate} `)) map.delete(key);
    }
  }

  apply(change: GraphChange): void {
    if (change.op === 'deleteNode' || change.op === 'keepNode') return;
    const key = `${change.predicate} ${change.uid}`;
    const isEdge = change.predicate === 'friend' || change.predicate === 'boss';
    if (isEdge) this.#edge(key, change);
    else if (change.predicate === 'tag') this.#member(key, change);
    else this.#value(key, change);
  }

  #edge(key: string, change: GraphChange): void {
    const edges = this.edges.get(key) ?? new Set();
    this.edges.set(key, edges);
    if (change.op === 'deletePredicate') edges.clear();
    if (change.op === 'deleteEdge') edges.delete(change.object);
    if (change.op !== 'setEdge') return;
    if (change.predicate === 'boss') edges.clear();
    edges.add(change.object);
  }

  #member(key: string, change: GraphChange): void {
    const members = this.members.get(key) ?? new Set();
    this.members.set(key, members);
    if (change.op === 'deletePredicate') members.clear();
    if (change.op === 'setValue') members.add(valueText(change.value));
    if (change.op === 'deleteValue') members.delete(valueText(change.value));
  }

  #value(key: string, change: GraphChange): void {
    const langs = this.values.get(key) ?? new Map();
    this.values.set(key, langs);
    if (change.op === 'deletePredicate') langs.clear();
    if (change.op === 'deleteLang') langs.delete(change.lang);
    if (change.op === 'setValue') langs.set(change.lang, valueText(change.value));
    if (change.op === 'deleteValue' && langs.get(change.lang) === valueText(change.value)) langs.delete(change.lang);
  }
}

const uid = fc.constantFrom(...UIDS);
const word = fc.constantFrom(...WORDS);
const number = fc.constantFrom('1', '2', '-5');
const lang = fc.constantFrom('', 'en', 'de');
const change: fc.Arbitrary<GraphChange> = fc.oneof(
  fc.record({ uid, word, lang }).map((c) => setValue(c.uid, 'name', c.word, c.lang)),
  fc.record({ uid, number }).map((c) => setValue(c.uid, 'age', c.number)),
  fc.record({ uid, word }).map((c) => setValue(c.uid, 'tag', c.word)),
  fc.record({ uid, object: uid }).map((c) => setEdge(c.uid, 'friend', c.object)),
  fc.record({ uid, object: uid }).map((c) => setEdge(c.uid, 'boss', c.object)),
  fc
    .record({ uid, word, lang })
    .map((c): GraphChange => ({ op: 'deleteValue', uid: c.uid, predicate: 'name', value: text(c.word), lang: c.lang })),
  fc
    .record({ uid, word })
    .map((c): GraphChange => ({ op: 'deleteValue', uid: c.uid, predicate: 'tag', value: text(c.word), lang: '' })),
  fc.record({ uid, lang }).map((c): GraphChange => ({ op: 'deleteLang', uid: c.uid, predicate: 'name', lang: c.lang })),
  fc
    .record({ uid, object: uid, predicate: fc.constantFrom('friend', 'boss') })
    .map((c): GraphChange => ({ op: 'deleteEdge', uid: c.uid, predicate: c.predicate, object: c.object })),
  fc
    .record({ uid, predicate: fc.constantFrom('name', 'age', 'tag', 'friend', 'boss') })
    .map((c): GraphChange => ({ op: 'deletePredicate', uid: c.uid, predicate: c.predicate })),
);
const program = fc.array(fc.array(change, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });

/** Compares everything that a reader can tell with the model. */
async function compare(reader: GraphReader, model: Model): Promise<void> {
  const all = Float64Array.from(UIDS);
  for (const predicate of ['name', 'age', 'tag']) {
    const record = reader.schema.predicate(predicate)!;
    const stored = await reader.allValues(record, all);
    const counts = await reader.counts(record, all);
    const expected = UIDS.map((u) => {
      const tagged = [...(model.values.get(`${predicate} ${u}`) ?? [])].map(([l, v]) => `${l}:${v}`);
      return [...tagged, ...[...(model.members.get(`${predicate} ${u}`) ?? [])].map((v) => `:${v}`)].sort();
    });
    const seen = stored.map((values) =>
      values.map(({ lang: l, value }) => `${l}:${valueText(decodeValue(value))}`).sort(),
    );
    expect(seen).toEqual(expected);
    const types = stored.flat().map(({ value }) => decodeValue(value).type);
    expect(types.filter((type) => type !== record.type)).toEqual([]);
    expect([...counts]).toEqual(expected.map((values) => values.length));
    const holders = UIDS.filter((_, i) => expected[i].length > 0);
    expect(await collect(reader.having(record))).toEqual(holders);
    expect([...(await reader.filterHaving(record, all))]).toEqual(holders);
    await compareTokens(reader, predicate, stored);
    if (record.count)
      await compareCounts(
        reader,
        predicate,
        expected.map((values) => values.length),
        false,
      );
  }
  for (const predicate of ['friend', 'boss']) await compareEdges(reader, predicate, model);
}

async function compareTokens(
  reader: GraphReader,
  predicate: string,
  stored: Awaited<ReturnType<GraphReader['allValues']>>,
): Promise<void> {
  const record = reader.schema.predicate(predicate)!;
  for (const { kind } of record.indexes) {
    const expected = new Map<string, number[]>();
    stored.forEach((values, i) => {
      const tokens = new Set(values.flatMap(({ lang: l, value }) => tokensOf(kind, decodeValue(value), l).map(latin1)));
      for (const token of tokens) expected.set(token, [...(expected.get(token) ?? []), UIDS[i]]);
    });
    const seen: [string, number[]][] = [];
    for await (const page of reader.tokens(record, kind, {})) {
      for (const { token, uids } of page) seen.push([latin1(token), [...uids]]);
    }
    expect(seen).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

async function compareEdges(reader: GraphReader, predicate: string, model: Model): Promise<void> {
  const record = reader.schema.predicate(predicate)!;
  const all = Float64Array.from(UIDS);
  const forward = UIDS.map((u) => [...(model.edges.get(`${predicate} ${u}`) ?? [])].sort((a, b) => a - b));
  const backward = UIDS.map((u) => UIDS.filter((_, i) => forward[i].includes(u)));
  for (const [reverse, expected] of [
    [false, forward],
    [true, backward],
  ] as const) {
    if (reverse && !record.reverse) continue;
    const { rows } = await reader.edges(record, all, { reverse });
    expect(rows.map((row) => [...row])).toEqual(expected);
    expect(await collect(reader.having(record, { reverse }))).toEqual(UIDS.filter((_, i) => expected[i].length > 0));
    if (!record.count) continue;
    await compareCounts(
      reader,
      predicate,
      expected.map((row) => row.length),
      reverse,
    );
  }
}

async function compareCounts(reader: GraphReader, predicate: string, counts: readonly number[], reverse: boolean) {
  const record = reader.schema.predicate(predicate)!;
  for (const count of new Set([1, 2, 3, ...counts])) {
    if (count === 0) continue;
    const expected = UIDS.filter((_, i) => counts[i] === count);
    expect([...(await reader.byCount(record, count, count, { reverse }))]).toEqual(expected);
  }
}

/** Half of the changes of each commit are staged first and read back inside the transaction. */
async function run(fixture: GraphFixture, model: Model, changes: readonly GraphChange[]): Promise<void> {
  const transaction = await fixture.graph.begin();
  const half = Math.ceil(changes.length / 2);
  for (const part of [changes.slice(0, half), changes.slice(half)]) {
    await transaction.stage(part);
    for (const one of part) model.apply(one);
    const reader = await transaction.reader();
    await compare(reader, model);
    reader.release();
  }
  await transaction.commit();
}

const subset = (...kinds: string[]) => fc.subarray(kinds).map((some) => (some.length > 0 ? `@index(${some}) ` : ''));
const flag = (text: string) => fc.constantFrom('', `${text} `);

/** Declarations under which all that a model holds can stand. */
const schema = fc
  .record({
    name: subset('exact', 'term', 'hash'),
    nameCount: flag('@count'),
    age: fc.constantFrom('int', 'int @index(int)', 'string', 'string @index(exact, term)', 'float @index(float)'),
    tag: subset('exact', 'term'),
    tagCount: flag('@count'),
    friend: fc.tuple(flag('@reverse'), flag('@count')).map((flags) => flags.join('')),
    boss: fc.tuple(flag('@reverse'), flag('@count')).map((flags) => flags.join('')),
  })
  .map(
    ({ name, nameCount, age, tag, tagCount, friend, boss }) =>
      `name: string ${name}@lang ${nameCount}.\nage: ${age} .\ntag: [string] ${tag}${tagCount}.\nfriend: [uid] ${friend}.\nboss: uid ${boss}.`,
  );

/** Schemas that are declared one right behind the other while others commit, behind so many turns of the event loop. */
const step = fc.record({
  schemas: fc.array(schema, { minLength: 1, maxLength: 3 }),
  dropped: fc.option(fc.constantFrom('name', 'age', 'tag', 'friend', 'boss'), { nil: undefined, freq: 4 }),
  commits: fc.array(fc.record({ turns: fc.nat(6), changes: fc.array(change, { minLength: 1, maxLength: 6 }) }), {
    maxLength: UIDS.length,
  }),
  crashesAfter: fc.option(fc.nat(12), { nil: undefined, freq: 3 }),
});

/** What a commit or an alter may be told that another one crosses, or that the process ended under. */
const REFUSED = /^(TXN_ABORTED|INDEX_BUILDING|STORE_FENCED)$/;

/** Changes of one subject. */
const ownedBy = (subject: number, changes: readonly GraphChange[]) =>
  changes.map((one) => ({ ...one, uid: subject }) as GraphChange);

/** Stages changes at once, and commits them some turns later; gives them where they landed. */
async function beside(graph: Graph, turns: number, changes: readonly GraphChange[]): Promise<readonly GraphChange[]> {
  const transaction = await graph.begin();
  await transaction.stage(changes);
  for (let turn = 0; turn < turns; turn++) await endOfTurn();
  await transaction.commit();
  return changes;
}

describe('a graph under random changes', () => {
  it('holds what a simple model holds, staged and committed', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (commits) => {
        const fixture = await openFixture();
        await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
        const model = new Model();
        for (const changes of commits) {
          await run(fixture, model, changes);
          await read(fixture.graph, (reader) => compare(reader, model));
        }
        await fixture.close();
      }),
      { numRuns: 25 },
    );
  });

  it('builds the same indexes afterwards as it keeps from the start', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (commits) => {
        const fixture = await openFixture();
        const plain = 'name: string @lang .\nage: int .\ntag: [string] .\nfriend: [uid] .\nboss: uid .';
        await fixture.graph.alter({ kind: 'schema', text: plain });
        const model = new Model();
        for (const changes of commits) {
          const transaction = await fixture.graph.begin();
          await transaction.stage(changes);
          await transaction.commit();
          for (const one of changes) model.apply(one);
        }
        await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
        await read(fixture.graph, (reader) => compare(reader, model));
        await fixture.close();
      }),
      { numRuns: 40 },
    );
  });

  it('holds the same under whatever schema, changed beside commits, dropped, and cut off in the middle of a build', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        const disk = new MemoryDisk();
        const model = new Model();
        let fixture = await openFixture({ disk });
        await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
        for (const { schemas, dropped, commits, crashesAfter } of steps) {
          const { graph } = fixture;
          if (dropped !== undefined) {
            await graph.alter({ kind: 'dropAttr', name: dropped });
            model.drop(dropped);
            // what is written before it is declared again would be of another kind
            await graph.alter({ kind: 'schema', text: schemas[0] });
          }
          const altering = schemas.map((text) => graph.alter({ kind: 'schema', text }, { runInBackground: true }));
          const writing = commits.map(({ turns, changes }, i) => beside(graph, turns, ownedBy(UIDS[i], changes)));
          const settled = Promise.all([Promise.allSettled(altering), Promise.allSettled(writing)]);
          if (crashesAfter !== undefined) {
            for (let turn = 0; turn < crashesAfter; turn++) await endOfTurn();
            fixture = await openFixture({ disk });
          }
          const [altered, written] = await settled;
          for (const one of written)
            if (one.status === 'fulfilled') one.value.forEach((made) => void model.apply(made));
          for (const one of [...altered, ...written]) {
            if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: expect.stringMatching(REFUSED) });
          }
          while (fixture.graph.indexing().length > 0) await endOfTurn();
          await fixture.graph.alter({ kind: 'schema', text: schemas[schemas.length - 1] });
          await read(fixture.graph, (reader) => compare(reader, model));
        }
        await fixture.close();
      }),
      { numRuns: 30 },
    );
  });

  it('is the same after the store on disk was closed and opened again', async () => {
    const path = testFolder();
    const [commits] = fc.sample(program, { numRuns: 1, seed: 7 });
    const model = new Model();
    for (const [i, changes] of commits.entries()) {
      const store: Store = await openLmdbStore(path);
      const fixture = await openFixture({ store });
      if (i === 0) await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
      await read(fixture.graph, (reader) => compare(reader, model));
      await run(fixture, model, changes);
      await fixture.close();
    }
    const fixture = await openFixture({ store: await openLmdbStore(path) });
    await read(fixture.graph, (reader) => compare(reader, model));
    await fixture.close();
  });

  it('merges commits of one group as it merges them one by one', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (commits) => {
        const [alone, together] = [
          await openFixture(),
          await openFixture({ store: createMemoryStore({ disk: new MemoryDisk() }) }),
        ];
        for (const fixture of [alone, together]) await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
        const model = new Model();
        const staged = [];
        // blind writes of different subjects do not conflict: each commit works on subjects of its own
        for (const [i, changes] of commits.slice(0, UIDS.length).entries()) {
          const own = changes.map((one) => ({ ...one, uid: UIDS[i] }) as GraphChange);
          for (const one of own) model.apply(one);
          const transaction = await together.graph.begin();
          await transaction.stage(own);
          staged.push(transaction);
          const single = await alone.graph.begin();
          await single.stage(own);
          await single.commit();
        }
        await Promise.all(staged.map((transaction) => transaction.commit()));
        await read(alone.graph, (reader) => compare(reader, model));
        await read(together.graph, (reader) => compare(reader, model));
        await alone.close();
        await together.close();
      }),
      { numRuns: 25 },
    );
  });
});
