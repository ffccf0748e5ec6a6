import { beforeEach, describe, expect, it } from 'vitest';
import type { CommitRecord } from '../../commit/index.js';
import { queryTokens } from '../../values/index.js';
import type { GraphChange, GraphReader, TokenRange } from '../contract.js';
import { type GraphFixture, openFixture, read, setEdge, setValue, write } from '../fixture.js';
import { LoggedReader } from './logged-reader.js';
import { Watch } from './watch.js';
import { Written } from './written.js';

let fixture: GraphFixture;

beforeEach(async () => {
  fixture = await openFixture();
  await fixture.graph.alter({
    kind: 'schema',
    text: 'name: string @index(exact, term) @lang .\nfriend: [uid] @reverse .\nfree: string .',
  });
});

/** What a look at the graph saw. */
async function watched(look: (reader: GraphReader) => unknown): Promise<Watch> {
  const watch = new Watch();
  await read(fixture.graph, (reader) => look(new LoggedReader(reader, watch)));
  return watch;
}

/** What a commit wrote, as its record tells. */
async function written(...changes: readonly GraphChange[]): Promise<Written> {
  const told: CommitRecord[] = [];
  const stop = fixture.committer.onCommit((records) => told.push(...records));
  await write(fixture.graph, ...changes);
  stop();
  const all = told.map(Written.by).filter((each) => each !== undefined);
  expect(all).toHaveLength(1);
  return all[0];
}

const NAMES = new Set(['name', 'friend', 'new']);
const named = (reader: GraphReader, name: string) => reader.schema.predicate(name)!;
const uids = (count: number) => Float64Array.from({ length: count }, (_, i) => i + 1);
const bytes = (text: string) => Buffer.from(text);

it('tells nodes of one predicate apart', async () => {
  const watch = await watched((reader) => reader.values(named(reader, 'name'), uids(3)));
  expect((await written(setValue(2, 'name', 'Ada'))).concerns(NAMES, watch)).toBe(true);
  expect((await written(setValue(2, 'free', 'Ada'))).concerns(NAMES, watch)).toBe(false);
  expect((await written(setValue(4, 'name', 'Ada'))).concerns(NAMES, watch)).toBe(false);
  expect((await written(setEdge(2, 'friend', 1))).concerns(NAMES, watch)).toBe(false);
});

it('tells edges that come in by the nodes that they go to, and by those that they came from', async () => {
  await write(fixture.graph, setEdge(7, 'friend', 2));
  const watch = await watched((reader) => reader.edges(named(reader, 'friend'), uids(3), { reverse: true }));
  expect((await written(setEdge(9, 'friend', 3))).concerns(NAMES, watch)).toBe(true);
  expect((await written(setEdge(9, 'friend', 4))).concerns(NAMES, watch)).toBe(false);
  const cut: GraphChange = { op: 'deletePredicate', uid: 7, predicate: 'friend' };
  expect((await written(cut)).concerns(NAMES, watch)).toBe(true);
});

it('tells tokens apart, in each language', async () => {
  await write(fixture.graph, setValue(1, 'name', 'Ada'));
  const watch = await watched((reader) => reader.postings(named(reader, 'name'), 'term', [bytes('ada')]));
  expect((await written(setValue(2, 'name', 'Ben'))).concerns(NAMES, watch)).toBe(false);
  expect((await written(setValue(2, 'name', 'Ben Ada', 'de'))).concerns(NAMES, watch)).toBe(true);
  // it was found under the token
  expect((await written(setValue(1, 'name', 'Ben'))).concerns(NAMES, watch)).toBe(true);
  // its tokens are not worth the time
  expect((await written(setValue(3, 'name', 'x'.repeat(2_000)))).concerns(NAMES, watch)).toBe(true);
});

describe('a range of an index', () => {
  beforeEach(async () => {
    await fixture.graph.alter({ kind: 'schema', text: 'score: int @index(int) .' });
    const scores = Array.from({ length: 100 }, (_, i) => setValue(i + 1, 'score', String(10 * i)));
    await write(fixture.graph, ...scores);
  });
  const SCORE = new Set(['score']);
  const score = (uid: number, value: number) => written(setValue(uid, 'score', String(value)));
  const token = (value: number) => queryTokens('int', { type: 'int', value: BigInt(value) })[0];
  /** Reads so many pages; all without a number. */
  const scanned = (range: TokenRange, pages?: number) =>
    watched(async (reader) => {
      let left = pages ?? Number.POSITIVE_INFINITY;
      for await (const _ of reader.tokens(named(reader, 'score'), 'int', range)) if (--left === 0) return;
    });

  it.each([
    ['between its bounds', { from: token(300), to: token(500) }, undefined, [5, 400, true], [5, 200, false]],
    ['at a bound', { from: token(300), to: token(500) }, undefined, [5, 300, true], [5, 600, false]],
    ['that lay there', { from: token(300) }, undefined, [35, 0, true], [5, 1, false]],
    ['behind the last one', { from: token(900) }, undefined, [5, 2_000, true], [5, 1, false]],
    ['that is read so far', {}, 1, [50, 5, true], [50, 900, false]],
    ['that is read from its end', { reverse: true }, 1, [5, 2_000, true], [5, 500, false]],
  ] as const)('minds values %s', async (_, range, pages, minded, other) => {
    const watch = await scanned(range, pages);
    expect((await score(minded[0], minded[1])).concerns(SCORE, watch)).toBe(minded[2]);
    expect((await score(other[0], other[1])).concerns(SCORE, watch)).toBe(other[2]);
  });

  it('minds all values where the range has a limit, or there are very many', async () => {
    expect((await score(5, 900)).concerns(SCORE, await scanned({ limit: 1 }))).toBe(true);
    const many = await watched(async (reader) => {
      for (let i = 0; i < 40; i++) {
        for await (const _ of reader.tokens(named(reader, 'score'), 'int', { to: token(i) })) break;
      }
    });
    expect((await score(5, 900)).concerns(SCORE, many)).toBe(true);
  });
});

it.each([
  ['nodes in other ways', (reader: GraphReader) => reader.having(named(reader, 'name'))],
  ['very many nodes', (reader: GraphReader) => reader.values(named(reader, 'name'), uids(5_000))],
  [
    'very many tokens',
    (reader: GraphReader) =>
      reader.postings(
        named(reader, 'name'),
        'exact',
        Array.from({ length: 300 }, (_, i) => bytes(`t${i}`)),
      ),
  ],
])('minds each change of a predicate where %s were looked for', async (_, look) => {
  const watch = await watched(look);
  expect((await written(setValue(9_999, 'name', 'Ada'))).concerns(NAMES, watch)).toBe(true);
  expect((await written(setEdge(9_999, 'friend', 1))).concerns(NAMES, watch)).toBe(false);
});

it('keeps a node apart among many small looks', async () => {
  const watch = await watched(async (reader) => {
    for (let uid = 1; uid <= 200; uid++) await reader.values(named(reader, 'name'), Float64Array.of(uid));
  });
  expect((await written(setValue(150, 'name', 'Ada'))).concerns(NAMES, watch)).toBe(true);
  expect((await written(setValue(201, 'name', 'Ada'))).concerns(NAMES, watch)).toBe(false);
});

it('minds a predicate that was not there yet, large commits, and whatever is more than values', async () => {
  const watch = await watched((reader) => reader.values(named(reader, 'name'), uids(1)));
  expect((await written(setValue(9, 'new', 'x'))).concerns(NAMES, watch)).toBe(true);
  const many = Array.from({ length: 100 }, (_, i) => setValue(i + 50, 'name', 'x'));
  expect((await written(...many)).concerns(NAMES, watch)).toBe(true);
  expect((await written(...many)).concerns(new Set(['free']), watch)).toBe(false);
  let altered: Written | undefined;
  fixture.committer.onCommit(([record]) => {
    altered ??= Written.by(record);
  });
  await fixture.graph.alter({ kind: 'dropAttr', name: 'free' });
  expect(altered?.concerns(NAMES, watch)).toBe(true);
});
