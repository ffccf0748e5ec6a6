import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../test/open-dql.js';

const NODES = 2_500;
let dql: OpenDql;
/** year and word of each node; some have none */
const rows: { uid: number; year?: number; word?: string; day?: string }[] = [];

beforeAll(async () => {
  dql = await openDql({
    schema:
      'here: bool @index(bool) .\nyear: int @index(int) .\nword: string @index(exact) @lang .\nday: datetime @index(year) .',
  });
  const lines: string[] = [];
  for (let i = 1; i <= NODES; i++) {
    const row = {
      uid: i,
      ...(i % 7 ? { year: (i * 37) % 101 } : {}),
      ...(i % 5 ? { word: `w${(i * 61) % 211}` } : {}),
      ...(i % 3 ? { day: `19${10 + ((i * 13) % 80)}-0${1 + (i % 9)}-11` } : {}),
    };
    rows.push(row);
    lines.push(`<${i}> <here> "true" .`);
    if (row.year !== undefined) lines.push(`<${i}> <year> "${row.year}" .`);
    if (row.word !== undefined) lines.push(`<${i}> <word> "${row.word}" .`, `<${i}> <word> "x${i % 3}"@sv .`);
    if (row.day !== undefined) lines.push(`<${i}> <day> "${row.day}" .`);
  }
  await dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
}, 60_000);
afterAll(() => dql.close());

function expected(key: 'year' | 'word' | 'day', descending: boolean): number[] {
  const direction = descending ? -1 : 1;
  return [...rows]
    .sort((a, b) => {
      const left = a[key];
      const right = b[key];
      if (left === undefined || right === undefined)
        return Number(left === undefined) - Number(right === undefined) || a.uid - b.uid;
      return direction * (left < right ? -1 : left > right ? 1 : 0) || a.uid - b.uid;
    })
    .map((row) => row.uid);
}

describe('the first of a long list', () => {
  it('is the same read off an index as sorted', async () => {
    const keys = fc.constantFrom('year' as const, 'word' as const, 'day' as const);
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.boolean(),
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 0, max: 2_200 }),
        async (key, descending, first, offset) => {
          const order = `${descending ? 'orderdesc' : 'orderasc'}: ${key}`;
          const { q } = await dql.query(
            `{ q(func: eq(here, true), ${order}, first: ${first}, offset: ${offset}) { uid } }`,
          );
          const found = (q as { uid: string }[]).map((one) => Number(one.uid));
          expect(found).toEqual(expected(key, descending).slice(offset, offset + first));
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  it('is taken of what chance has left', async () => {
    const edges = rows.map((row) => `<0x9999> <all> <${row.uid}> .`);
    await dql.mutate(`{ set {\n${edges.join('\n')}\n} }`);
    const { q } = await dql.query(
      '{ q(func: uid(0x9999)) { all(random: 1200, orderasc: year, first: 2000) { uid } } }',
    );
    expect((q as [{ all: unknown[] }])[0].all).toHaveLength(1_200);
  });

  it('reads no more of the index than it needs', async () => {
    const transaction = await dql.graph.begin({ bestEffort: true });
    const counting = await transaction.reader();
    const { runQuery, parseQuery } = await import('../index.js');
    const before = counting.metrics.uidsRead;
    await runQuery(parseQuery('{ q(func: has(here), orderasc: year, first: 3) { uid } }'), counting);
    const streamed = counting.metrics.uidsRead - before;
    await runQuery(parseQuery('{ q(func: has(here), orderasc: year) { uid } }'), counting);
    expect(streamed).toBeLessThan(NODES + 500);
    counting.release();
    transaction.abort();
  });
});
