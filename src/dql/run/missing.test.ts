import { afterEach, describe, expect, it } from 'vitest';
import { openDql, type OpenDql } from '../../../test/open-dql.js';
import { defaultNames, GraphsteadError } from '../../base/index.js';
import { printPredicate } from '../../graph/index.js';

let dql: OpenDql;
afterEach(() => dql.close());

/** Declarations that a query may find wanting, with a value of theirs. */
const DECLARED: readonly (readonly [declaration: string, value: string])[] = [
  ['string @unique @index(hash)', '"a"'],
  ['string @lang @noconflict', '"a"'],
  ['[string] @index(term)', '"a"'],
  ['default', '"a"'],
  ['int @upsert @index(int)', '1'],
  ['[float]', '1'],
  ['bigfloat', '1'],
  ['bool', 'true'],
  ['datetime', '"2020"'],
  ['geo', '"a"'],
  ['password', '"secret-1"'],
  ['float32vector', '"[1, 2]"'],
  ['float32vector @index(hnsw(metric: "cosine"))', '"[1, 2]"'],
  ['uid @count', '0x1'],
  ['[uid] @reverse', '0x1'],
  ['uid', '0x1'],
];

const CALLS = [
  'eq(p, V)',
  'gt(p, V)',
  'between(p, V, V)',
  'has(~p)',
  'eq(count(p), 1)',
  'eq(count(~p), 1)',
  'anyofterms(p, "a")',
  'alloftext(p, "a")',
  'ngram(p, "a b")',
  'regexp(p, /abc/)',
  'match(p, "abc", 2)',
  'near(p, [1.0, 2.0], 3)',
  'contains(p, "a")',
  'similar_to(p, 1, "[1, 2]")',
];

const QUERIES = [
  ...CALLS.map((call) => `{ q(func: ${call}) { uid } }`),
  ...CALLS.map((call) => `{ q(func: has(other)) @filter(${call}) { uid } }`),
  '{ q(func: has(other)) { ~p { uid } } }',
  '{ q(func: has(other)) { count(~p) } }',
  '{ q(func: has(other)) @filter(uid_in(~p, 0x1)) { uid } }',
];

const failure = (query: string): Promise<GraphsteadError | undefined> =>
  dql.query(query).then(
    () => undefined,
    (error) => (error instanceof GraphsteadError ? error : Promise.reject(error)),
  );

/** The line of the predicate p, where nothing else was added to it. */
const written = (): string => {
  const predicate = dql.graph.schema().predicate('p');
  return predicate ? printPredicate(predicate, defaultNames) : '';
};

/** A line of the schema in parts, so that what an added index does to a list of kinds is no loss. */
const parts = (line: string): string[] => line.split(/(?<!:) |[(,)]/).filter((part) => part !== '');

describe('the line that a missing index is told with', () => {
  for (const [declaration, value] of DECLARED) {
    it(`can be added to p: ${declaration}, keeps what was there, and lets the query pass`, async () => {
      for (const query of QUERIES) await follow(declaration, query.replaceAll('V', value));
    });
  }

  async function follow(declaration: string, query: string): Promise<void> {
    dql = await openDql({ schema: `p: ${declaration} .\nother: string .` });
    await dql.mutate('{ set { <0x1> <other> "x" . } }');
    const told = await failure(query);
    if (told?.code === 'MISSING_INDEX') {
      const before = parts(written());
      const line = /: (<p>: .* \.)$/.exec(told.fix ?? '')?.[1] ?? '';
      await dql.graph.alter({ kind: 'schema', text: line });
      expect(parts(written()), query).toEqual(expect.arrayContaining(before));
      expect((await failure(query))?.code, query).not.toBe('MISSING_INDEX');
    } else if (told) expect(told.fix, query).toMatch(/./);
    await dql.close();
  }

  it('declares what nobody declared by what the call is for', async () => {
    dql = await openDql();
    const lines: readonly (readonly [call: string, line: string])[] = [
      ['near(p, [1.0, 2.0], 3)', '<p>: geo @index(geo) .'],
      ['similar_to(p, 1, "[1, 2]")', '<p>: float32vector @index(hnsw(metric: "euclidean")) .'],
      ['regexp(p, /abc/)', '<p>: string @index(trigram) .'],
      ['eq(count(~p), 1)', '<p>: [uid] @reverse @count .'],
    ];
    for (const [call, line] of lines) {
      const told = await failure(`{ q(func: ${call}) { uid } }`);
      expect(told).toMatchObject({ code: 'MISSING_INDEX', fix: `Add it to the schema: ${line}` });
    }
  });
});
