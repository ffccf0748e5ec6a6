import { createHash } from 'node:crypto';
import { buildSchema, parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { makeLimits } from '../../base/index.js';
import { DocumentCache, PersistedQueries } from './document.js';

const schema = buildSchema(`
  interface Node { id: ID! }
  type Film implements Node { id: ID! title: String likes: [Film] }
  type Studio implements Node { id: ID! }
  type Query { film: Film nodes: [Node] }
`);
const cacheOf = (limits: Parameters<typeof makeLimits>[0] = {}) => new DocumentCache(schema, makeLimits(limits));
const fields = (count: number, what = 'title') => Array.from({ length: count }, (_, i) => `a${i}: ${what}`).join(' ');
const over = (limit: string) =>
  expect.objectContaining({ code: 'LIMIT_EXCEEDED', message: expect.stringContaining(limit) });

describe('a document', () => {
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
