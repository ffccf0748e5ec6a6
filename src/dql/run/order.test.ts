import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultNames, dgraphNames, type Names, systemClock } from '../../base/index.js';
import { type OpenDql, openDql } from '../../../test/open-dql.js';

const NODES = 2_500;
let dql: OpenDql;
/** year and word of each node; some have none */
const rows: { uid: number; year?: number; word?: string; day?: string }[] = [];

beforeAll(async () => {
  dql = await openDql({
    schema: `here: bool @index(bool) .
      year: int @index(int) .
      word: string @index(exact) @lang .
      day: datetime @index(year) .
      long: string @index(exact) .
      part: int @index(int) .
      plain: int .
      type Thing { year }`,
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
    lines.push(`<${i}> <here> "true" .`, `<${i}> <part> "${i % 40}" .`);
    if (i % 11) lines.push(`<${i}> <dgraph.type> "Thing" .`);
    lines.push(`<${i}> <long> "${'same beginning '.repeat(80)}${(i * 31) % 97}" .`);
    if (row.year !== undefined) lines.push(`<${i}> <year> "${row.year}" .`, `<${i}> <plain> "${row.year}" .`);
    if (row.word !== undefined) lines.push(`<${i}> <word> "${row.word}" .`, `<${i}> <word> "x${i % 3}"@sv .`);
    if (row.day !== undefined) lines.push(`<${i}> <day> "${row.day}" .`);
  }
  await dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
});
afterAll(() => dql.close());

type Row = (typeof rows)[number];

/** Each key in turn; what has no value comes last and, as Dgraph has it, of two without one for a descending key the later comes first. */
function inOrder(
  of: readonly Row[],
  keys: readonly (readonly ['year' | 'word' | 'day', boolean])[],
  names: Names = dgraphNames,
): Row[] {
  return [...of].sort((a, b) => {
    for (const [key, descending] of keys) {
      const [left, right] = [a[key], b[key]];
      if (left === undefined || right === undefined) {
        const missing = Number(left === undefined) - Number(right === undefined);
        if (missing !== 0) return missing;
        if (descending && keys.length > 1 && names.dgraph) return b.uid - a.uid;
      } else if (left !== right) return (descending ? -1 : 1) * (left < right ? -1 : 1);
    }
    return a.uid - b.uid;
  });
}

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
  it('is refused by what has none: edges, lists, and values such as true and false', async () => {
    const told = openDql({
      schema: 'flag: bool @index(bool) .\nplace: geo .\nsecret: password .\nnear: uid .\nall: [int] .',
    });
    const dql = await told;
    for (const name of ['flag', 'place', 'secret', 'near', 'all']) {
      await expect(dql.query(`{ q(func: has(flag), orderasc: ${name}) { uid } }`)).rejects.toMatchObject({
        code: 'INVALID_QUERY',
      });
    }
    await dql.close();
  });

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
  });

  it('is taken of what chance has left', async () => {
    const edges = rows.map((row) => `<0x9999> <all> <${row.uid}> .`);
    await dql.mutate(`{ set {\n${edges.join('\n')}\n} }`);
    const { q } = await dql.query(
      '{ q(func: uid(0x9999)) { all(random: 1200, orderasc: year, first: 2000) { uid } } }',
    );
    expect((q as [{ all: unknown[] }])[0].all).toHaveLength(1_200);
  });

  it('is the same from any root, with any filter, page and keys', async () => {
    const holds: Readonly<Record<string, (row: Row) => boolean>> = {
      'has(here)': () => true,
      'has(year)': (row) => row.year !== undefined,
      'has(word)': (row) => row.word !== undefined,
      'has(word@sv)': (row) => row.word !== undefined,
      'type(Thing)': (row) => row.uid % 11 !== 0,
      'ge(year, 40)': (row) => row.year !== undefined && row.year >= 40,
      'gt(year, 40)': (row) => row.year !== undefined && row.year > 40,
      'between(year, 20, 90)': (row) => row.year !== undefined && row.year >= 20 && row.year <= 90,
      'lt(day, "1950-03-11")': (row) => row.day !== undefined && row.day < '1950-03-11',
      'ge(word, "w3")': (row) => row.word !== undefined && row.word >= 'w3',
      'eq(year, [3, 50, 7])': (row) => row.year !== undefined && [3, 50, 7].includes(row.year),
      'eq(part, 7)': (row) => row.uid % 40 === 7,
      'le(part, 30)': (row) => row.uid % 40 <= 30,
    };
    const call = fc.constantFrom(...Object.keys(holds));
    const key = fc.tuple(fc.constantFrom('year' as const, 'word' as const, 'day' as const), fc.boolean());
    const transaction = await dql.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    const { runQuery, parseQuery } = await import('../index.js');
    const page = fc.record({
      first: fc.integer({ min: 1, max: 120 }),
      offset: fc.integer({ min: 0, max: 300 }),
      after: fc.constantFrom(0, 0, 3, 900, 2_400),
    });
    await fc.assert(
      fc.asyncProperty(
        call,
        fc.array(call, { maxLength: 2 }),
        fc.uniqueArray(key, { minLength: 1, maxLength: 3, selector: ([name]) => name }),
        page,
        async (root, filters, keys, { first, offset, after }) => {
          const order = keys.map(([name, descending]) => `${descending ? 'orderdesc' : 'orderasc'}: ${name}`);
          const filter = filters.length > 0 ? `@filter(${filters.join(' and ')})` : '';
          const text = `{ q(func: ${root}, ${order.join(', ')}, first: ${first}, offset: ${offset}, after: ${after}) ${filter} { uid } }`;
          const wanted = [root, ...filters].reduce(
            (left, one) => left.filter(holds[one]),
            rows.filter((row) => row.uid > after),
          );
          for (const names of [dgraphNames, defaultNames]) {
            const { roots } = await runQuery(parseQuery(text, { names: dgraphNames }), reader, { names });
            expect([...(roots[0].rows?.[0] ?? [])]).toEqual(
              inOrder(wanted, keys, names)
                .slice(offset, offset + first)
                .map((row) => row.uid),
            );
          }
        },
      ),
      { numRuns: 250 },
    );
    reader.release();
    transaction.abort();
  }, 120_000);

  it('is found where it lies deep in the index, without walking all of it', async () => {
    const late = rows.filter((row) => row.year !== undefined && row.year >= 99);
    const transaction = await dql.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    const { runQuery, parseQuery } = await import('../index.js');
    for (const root of ['has(year)', 'type(Thing)']) {
      const query = parseQuery(`{ q(func: ${root}, orderasc: year, first: 30) @filter(ge(plain, 99)) { uid } }`, {
        names: dgraphNames,
      });
      const before = reader.metrics.uidsRead;
      const { roots } = await runQuery(query, reader);
      const wanted = root === 'has(year)' ? late : late.filter((row) => row.uid % 11 !== 0);
      expect([...(roots[0].rows?.[0] ?? [])]).toEqual(
        inOrder(wanted, [['year', false]])
          .slice(0, 30)
          .map((row) => row.uid),
      );
      // a part of the index, then the roots, and the index no second time
      expect(reader.metrics.uidsRead - before).toBeLessThan(NODES * 2);
    }
    reader.release();
    transaction.abort();
  });

  it('of texts that begin alike is in the order of their ends', async () => {
    const { q } = await dql.query('{ q(func: has(long), orderasc: long, first: 40) { uid } }');
    const ends = (q as { uid: string }[]).map((one) => String((Number(one.uid) * 31) % 97));
    expect(ends).toEqual([...ends].sort());
    expect(ends[0]).toBe('0');
    expect(ends[39]).toBe('1');
  });

  it('tells a mistake in a filter also where the index has nothing to filter', async () => {
    const query =
      '{ q(func: has(year), orderasc: year, first: 3) @filter(ge(year, 900) and anyofterms(long, "x")) { uid } }';
    await expect(dql.query(query)).rejects.toMatchObject({ code: 'MISSING_INDEX' });
  });

  it('reads no more of the index than it needs', async () => {
    const transaction = await dql.graph.begin({ bestEffort: true });
    const counting = await transaction.reader();
    const { runQuery, parseQuery } = await import('../index.js');
    for (const root of ['has(here)', 'type(Thing)', 'has(year)', 'ge(year, 30)']) {
      for (const order of ['orderasc: year', 'orderdesc: year, orderasc: word']) {
        const from = { ...counting.metrics };
        await runQuery(
          parseQuery(`{ q(func: ${root}, ${order}, first: 3) { uid } }`, { names: dgraphNames }),
          counting,
        );
        expect(counting.metrics.uidsRead - from.uidsRead, root).toBeLessThan(500);
        expect(counting.metrics.keysRead - from.keysRead, root).toBeLessThan(100);
      }
    }
    counting.release();
    transaction.abort();
  });
});

describe('work on many nodes', () => {
  it.each([
    ['an order', '{ q(func: has(here), orderasc: day, orderdesc: word) { uid } }', 4],
    ['math', '{ var(func: has(here)) { y as year m as math(y * 2 + 1) } q(func: uid(m), first: 1) { val(m) } }', 15],
    ['groups', '{ q(func: has(here)) @groupby(year) { count(uid) } }', 15],
    ['@cascade', '{ q(func: has(here)) @cascade { year word } }', 9],
  ])('lets the event loop turn: %s', async (_, text, least) => {
    let turns = 0;
    const turn = (): void => {
      turns++;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    let now = 0;
    const transaction = await dql.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    const { runQuery, parseQuery } = await import('../index.js');
    // each look at this clock takes a slice's time
    const clock = { ...systemClock, monotonic: () => (now += 20) };
    await runQuery(parseQuery(text), reader, { clock });
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(least);
    reader.release();
    transaction.abort();
  });
});
