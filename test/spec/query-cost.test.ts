// What a query cost stands in its answer, and grows with what it touches, not with the size of the graph.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

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
