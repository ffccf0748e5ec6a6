// What a query cost stands in its answer, and grows with what it touches, not with the size of the graph.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Graph, GraphReader } from '../../src/graph/index.js';
import { startService, type TestService } from '../service.js';
import { createWorld } from '../support/api-world.js';

const NODES = 20_000;
let s: TestService;
beforeAll(async () => {
  s = await startService();
  await s.alter('score: int @index(int) .\ntitle: string @index(term, trigram) .\ntype Page { score title }');
  const quads = Array.from(
    { length: NODES },
    (_, i) =>
      `<${i + 1}> <score> "${(i * 7919) % NODES}" .\n<${i + 1}> <title> "page number${i}" .\n<${i + 1}> <service.type> "Page" .`,
  );
  expect((await s.rdf(`{ set {\n${quads.join('\n')}\n} }`)).status).toBe(200);
});
afterAll(() => s.close());

async function keysRead(query: string): Promise<number> {
  const { body } = await s.query(query);
  expect(body.errors).toBeUndefined();
  return body.extensions.metrics.keys_read;
}

describe('the cost of a query', () => {
  it('of the first 10 in index order reads a page of the index, not all of it', async () => {
    const all = await keysRead('{ q(func: has(score), orderasc: score) { score } }');
    expect(all).toBeGreaterThan(600);
    const pages = [
      'has(score), orderasc: score, first: 10',
      'has(title), orderdesc: score, first: 10, after: 0x5',
      'type(Page), orderasc: score, first: 10',
      'ge(score, 10000), orderasc: score, first: 10',
      'between(score, 10000, 19000), orderdesc: score, first: 10',
      'type(Page), first: 10',
      'has(title), first: 10',
    ];
    for (const head of pages) expect(await keysRead(`{ q(func: ${head}) { score } }`), head).toBeLessThan(80);
  });

  it('of a long page is that of the page', async () => {
    const all = await keysRead('{ q(func: has(score)) { uid } }');
    expect(await keysRead('{ q(func: has(score), first: 12000) { uid } }')).toBeLessThan(all * 0.9);
    expect(await keysRead('{ q(func: has(score), after: 0x4000) { uid } }')).toBeLessThan(all * 0.5);
    expect(await keysRead('{ q(func: type(Page), first: 12000) { uid } }')).toBeLessThan(20);
  });

  it('of a rare condition in a filter does not grow with the roots', async () => {
    for (const root of ['has(score)', 'type(Page)']) {
      const query = `{ q(func: ${root}, orderasc: score) @filter(anyofterms(title, "number77")) { score } }`;
      expect(await keysRead(query), root).toBeLessThan(20);
    }
  });

  it('of a rare term or pattern is what they match', async () => {
    expect(await keysRead('{ q(func: anyofterms(title, "number77")) { title } }')).toBeLessThan(20);
    expect(await keysRead('{ q(func: allofterms(title, "page number77")) { title } }')).toBeLessThan(20);
    expect(await keysRead('{ q(func: regexp(title, /number1234$/)) { title } }')).toBeLessThan(100);
  });

  it('of one node is a handful of keys', async () => {
    expect(await keysRead('{ q(func: uid(0x5)) { title score } }')).toBeLessThan(5);
  });
});

describe('the cost of a generated query', () => {
  it('of the first 10 in order is that of the same query in the graph language', async () => {
    const world = await createWorld(`type Page { title: String! @search(by: [term]) score: Int! @search }`);
    const readers = readersOf(world.graph);
    const input = Array.from({ length: NODES / 4 }, (_, i) => ({ title: `page ${i}`, score: (i * 7919) % NODES }));
    for (let at = 0; at < input.length; at += 1_000) {
      const page = input.slice(at, at + 1_000);
      await world.data('mutation($input: [AddPageInput!]!) { addPage(input: $input) { numUids } }', { input: page });
    }
    const cost = async (query: string) => {
      readers.length = 0;
      const data = await world.data(query);
      return { data, keys: readers.reduce((total, reader) => total + reader.metrics.keysRead, 0) };
    };
    const all = await cost('{ queryPage(order: { asc: score }) { score } }');
    expect(all.keys).toBeGreaterThan(300);
    for (const [args, from] of [
      ['order: { asc: score }, first: 10', 0],
      ['order: { asc: score }, first: 10, filter: { score: { ge: 10000 } }', 10_000],
    ] as const) {
      const { data, keys } = await cost(`{ queryPage(${args}) { score } }`);
      const scores = input.map(({ score }) => score).filter((score) => score >= from);
      expect(data.queryPage.map((page) => page.score)).toEqual(scores.sort((a, b) => a - b).slice(0, 10));
      expect(keys, args).toBeLessThan(80);
    }
    expect((await cost('{ queryPage(first: 10) { title } }')).keys).toBeLessThan(40);
  });
});

/** Every reader that the graph hands out from now on. */
function readersOf(graph: Graph): GraphReader[] {
  const readers: GraphReader[] = [];
  const begin = graph.begin.bind(graph);
  graph.begin = async (options) => {
    const transaction = await begin(options);
    const read = transaction.reader.bind(transaction);
    transaction.reader = async () => {
      const reader = await read();
      readers.push(reader);
      return reader;
    };
    return transaction;
  };
  return readers;
}
