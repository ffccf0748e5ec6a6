import { createHash } from 'node:crypto';
import { buildSchema, KnownTypeNamesRule, parse, print, printSchema, validate, validateSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { makeLimits } from '../../base/index.js';
import { DocumentCache, type InvalidDocument, PersistedQueries } from './document.js';

const schema = buildSchema(`
  interface Node { id: ID! }
  type Film implements Node { id: ID! title: String likes: [Film] }
  type Studio implements Node { id: ID! }
  union One = Film | Studio
  input Where { a: Int }
  type Query { film: Film nodes: [Node] one: One plain(key: String!, in: Where): String }
`);
const cacheOf = (limits: Parameters<typeof makeLimits>[0] = {}) => new DocumentCache(schema, makeLimits(limits));
const fields = (count: number, what = 'title') => Array.from({ length: count }, (_, i) => `a${i}: ${what}`).join(' ');
const errorsOf = (text: string) => {
  try {
    cacheOf().prepare(text);
  } catch (error) {
    return (error as InvalidDocument).errors;
  }
  return [];
};
const over = (limit: string) =>
  expect.objectContaining({ code: 'LIMIT_EXCEEDED', message: expect.stringContaining(limit) });

describe('a document', () => {
  it('costs no look at every type of the schema, unless it names one that is not there', () => {
    const watched = buildSchema(printSchema(schema));
    const types = watched.getTypeMap();
    let looks = 0;
    watched.getTypeMap = () =>
      new Proxy(types, {
        ownKeys: (target) => {
          looks++;
          return Reflect.ownKeys(target);
        },
      });
    validateSchema(watched);
    looks = 0;
    const cache = new DocumentCache(watched, makeLimits());
    cache.prepare(
      'query ($in: Where) { film { ... on Film { id } ...F } plain(key: "a", in: $in) } fragment F on Node { id }',
    );
    expect(looks).toBe(0);
    const wrong = 'query ($in: Were) { film { ... on Flim { id } } plain(key: "a", in: $in) }';
    expect(errorsOf(wrong)?.map(({ message }) => message)).toEqual(
      validate(schema, parse(wrong), [KnownTypeNamesRule]).map(({ message }) => message),
    );
    expect(errorsOf(wrong)).toHaveLength(2);
  });

  it('may not ask for millions of fields by fragments that spread each other twice', () => {
    const twice = (i: number) => `fragment f${i} on Film { a: likes { ...f${i + 1} } b: likes { ...f${i + 1} } }`;
    const doubling = (levels: number) =>
      `{ film { ...f0 } } ${Array.from({ length: levels }, (_, i) => twice(i)).join(' ')} fragment f${levels} on Film { id }`;
    expect(() => cacheOf().prepare(doubling(60))).toThrow(over('documentFields (20000)'));
    expect(cacheOf().prepare(doubling(3)).fields).toBe(1 + 2 + 4 + 8 + 8);
  });

  it('asks for a field of an interface once for each type that may stand there', () => {
    const { prepare } = { prepare: (text: string) => cacheOf({ documentFields: 100 }).prepare(text) };
    expect(prepare(`{ nodes { ${fields(33, 'id')} } }`).fields).toBe(100);
    expect(prepare(`{ nodes { ... on Film { ${fields(99)} } } }`).fields).toBe(100);
    expect(() => prepare(`{ nodes { ${fields(34, 'id')} } }`)).toThrow(over('documentFields (100)'));
  });

  it('holds no operation of a kind that the schema lacks', () => {
    for (const kind of ['mutation', 'subscription'])
      expect(() => cacheOf().prepare(`${kind} { x }`)).toThrow(`The schema has no ${kind}.`);
  });

  it.each([
    ['{ zzz }', 'Query has film, nodes, one, plain.'],
    ['{ film { zzz } }', 'Film has id, title, likes.'],
    ['{ film { title { zzz } } }', 'Take what stands in braces behind it away.'],
    ['{ film(zzz: 1) { id } }', 'film takes no arguments.'],
    ['{ plain(zzz: 1, key: "a") }', 'plain takes key: String!, in: Where.'],
    ['{ plain }', 'plain takes key: String!, in: Where.'],
    ['{ plain(key: "a", in: {zzz: 1}) }', 'Where has a.'],
    ['query ($k: String) { plain(key: $k) }', 'Declare it behind the name of the operation, as $k: String!.'],
    ['{ plain(key: $zzz) }', 'Declare it behind the name of the operation, as $zzz: String!.'],
    ['query ($k: String) { film { id } }', 'Use it, or take its declaration away.'],
    ['fragment F on Film { id } { film { id } }', 'Spread it with ...F, or take it away.'],
    ['{ film @zzz { id } }', 'There are @include, @skip.'],
    ['{ film @skip { id } }', '@skip takes if: Boolean!.'],
    ['{ film @skip(if: true, zzz: 1) { id } }', '@skip takes if: Boolean!.'],
    ['{ one { zzz } }', 'Ask for it by type, as in ... on Film { ... }.'],
  ])('tells in %s what to write instead', (text, fix) => {
    expect(errorsOf(text)).toEqual([expect.objectContaining({ extensions: { fix } })]);
  });

  it.each([
    ['{ rename }', 'rename is a mutation: write mutation { rename ... }.'],
    ['mutation { told }', 'told is a subscription: write subscription { told ... }.'],
    ['subscription { film { id } }', 'film is a query: write query { film ... }.'],
    ['{ film { rename } }', 'Film has id.'],
    ['{ constructor }', 'Query has film.'],
  ])('tells in %s of which kind an operation is', (text, fix) => {
    const three = buildSchema(
      'type Film { id: ID } type Query { film: Film } type Mutation { rename: ID } type Subscription { told: ID }',
    );
    expect(() => new DocumentCache(three, makeLimits()).prepare(text)).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ extensions: { fix } })] }),
    );
  });

  it('tells no fix where its mistake names it, or is another one at the place of a field', () => {
    for (const text of ['{ film }', '{ film { id: title id } }', 'query @skip(if: true) { film { id } }']) {
      expect(errorsOf(text)).toEqual([expect.objectContaining({ extensions: {} })]);
    }
  });

  it('has as many tokens as it may', () => {
    const text = '{ film { id } }';
    expect(cacheOf({ documentTokens: 6 }).prepare(text).fields).toBe(2);
    expect(() => cacheOf({ documentTokens: 5 }).prepare(text)).toThrow(over('documentTokens (5)'));
  });

  it('is read with pauses where it is long, to the same end', async () => {
    const long = `{ film { ${fields(2_000)} } }`;
    const reading = cacheOf().prepareInSteps(long, {});
    expect(reading).toBeInstanceOf(Promise);
    expect(print((await reading).document)).toBe(print(parse(long)));
    expect(cacheOf().prepareInSteps('{ film { id } }', {})).not.toBeInstanceOf(Promise);

    const wrong = `{ film { ${fields(2_000)} a0: id } }`;
    expect(() => cacheOf().prepare(wrong)).toThrow('"a0" conflict');
    await expect(cacheOf().prepareInSteps(wrong, {})).rejects.toThrow('"a0" conflict');

    let looks = 0;
    const signal = {
      get aborted() {
        return ++looks === 3;
      },
    } as AbortSignal;
    await expect(cacheOf().prepareInSteps(long, { signal })).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('is kept while there is room for its text and fields', () => {
    const cache = cacheOf({ documentCacheBytes: 2_000 });
    const first = '{ film { id } }';
    const prepared = cache.prepare(first);
    expect(cache.prepare(first)).toBe(prepared);
    for (let i = 0; i < 20; i++) cache.prepare(`{ film { ${fields(4)} } nodes { a${i}: id } }`);
    expect(cache.prepare(first)).not.toBe(prepared);
    const large = `{ film { ${fields(20)} } }`;
    expect(cache.prepare(large)).not.toBe(cache.prepare(large));
  });
});

it('keeps the texts of hashes while there is room for them', () => {
  const persisted = new PersistedQueries(makeLimits({ documentCacheBytes: 1_000 }));
  const extensions = (text: string) => {
    return { persistedQuery: { sha256Hash: createHash('sha256').update(text).digest('hex') } };
  };
  const texts = Array.from({ length: 9 }, (_, i) => `{ film { ${fields(10)} b${i}: id } }`);
  for (const text of texts) expect(persisted.resolve(text, extensions(text))).toBe(text);
  expect(persisted.resolve(undefined, extensions(texts[8]))).toBe(texts[8]);
  expect(() => persisted.resolve(undefined, extensions(texts[0]))).toThrow('PersistedQueryNotFound');
});
