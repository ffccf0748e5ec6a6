import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namesBy, openGallery } from '../../../../test/gallery.js';
import { openDql, type OpenDql } from '../../../../test/open-dql.js';

let dql: OpenDql;
beforeAll(async () => {
  dql = await openGallery();
});
afterAll(() => dql.close());

/** What each function finds; the same at root and as a filter. */
const FOUND: readonly (readonly [call: string, names: readonly string[]])[] = [
  ['uid(0x2, 0x1)', ['Ida', 'Jon']],
  ['has(year)', ['Red harbour', 'Blue harbour', 'Running horses', 'Quiet evening', 'Red evening']],
  ['has(~shown)', ['North house', 'South house']],
  ['has(name@fi)', ['Kim']],
  ['eq(name, "Ida")', ['Ida']],
  ['eq(name, ["Ida", "Jon", "Nobody"])', ['Ida', 'Jon']],
  ['eq(name, "Lea")', []],
  ['eq(name@fr, "Lea")', ['Lea']],
  ['eq(name@., "Kimmo")', ['Kim']],
  ['eq(year, 1990)', ['Red harbour', 'Running horses']],
  ['eq(tags, "sea")', ['Red harbour', 'Blue harbour']],
  ['lt(year, 1992)', ['Red harbour', 'Running horses']],
  ['le(year, 1992)', ['Red harbour', 'Blue harbour', 'Running horses']],
  ['gt(year, 2001)', ['Red evening']],
  ['ge(year, 2001)', ['Quiet evening', 'Red evening']],
  ['between(year, 1991, 2001)', ['Blue harbour', 'Quiet evening']],
  ['between(year, 2001, 1991)', []],
  ['gt(rating, 4.1)', ['Red harbour']],
  ['ge(rating, 4.1)', ['Red harbour', 'Blue harbour']],
  ['gt(opened, "1980-05-01")', ['South house']],
  ['eq(opened, "1980-09-01")', ['South house']],
  ['ge(name, "Red")', ['Red harbour', 'Running horses', 'Red evening', 'South house']],
  ['type(Work)', ['Red harbour', 'Blue harbour']],
  ['anyofterms(name, "red quiet")', ['Red harbour', 'Quiet evening', 'Red evening']],
  ['allofterms(name, "evening red")', ['Red evening']],
  ['allofterms(tags, "sky night")', ['Red evening']],
  ['anyoftext(name, "horse")', ['Running horses', 'Portrait of a horse']],
  ['alloftext(name, "run horse")', ['Running horses']],
  ['regexp(name, /^Red .*ou/)', ['Red harbour']],
  ['regexp(name, /RED/i)', ['Red harbour', 'Red evening']],
  ['match(name, "Red harbor", 2)', ['Red harbour']],
  ['near(place, [10.0, 60.0], 1000)', ['North house']],
  ['within(place, [[[9.0, 58.0], [11.0, 58.0], [11.0, 59.5], [9.0, 59.5], [9.0, 58.0]]])', ['South house']],
  ['within(place, [[9.0, 58.0], [11.0, 58.0], [11.0, 59.5], [9.0, 59.5]])', ['South house']],
  ['ge(count(painted), 2)', ['Ida', 'Jon']],
  ['eq(count(painted), [1, 3])', ['Ida', 'Kim']],
  ['eq(count(tags), 2)', ['Red harbour']],
  ['ge(count(~painted), 2)', []],
];

describe('functions', () => {
  for (const [call, names] of FOUND) {
    it(`${call} at root`, async () => expect(await namesBy(dql, call)).toEqual(names));
    it(`${call} as a filter`, async () => expect(await namesBy(dql, call, 'filter')).toEqual(names));
  }
});

describe('a variable between two whole numbers', () => {
  const compared: readonly (readonly [string, readonly string[]])[] = [
    ['eq(year, val(x))', []],
    ['le(year, val(x))', ['Red harbour', 'Running horses']],
    ['lt(year, val(x))', ['Red harbour', 'Running horses']],
    ['ge(year, val(x))', ['Blue harbour', 'Quiet evening', 'Red evening']],
    ['gt(year, val(x))', ['Blue harbour', 'Quiet evening', 'Red evening']],
    ['between(year, val(x), 2001)', ['Blue harbour', 'Quiet evening']],
    ['between(year, 1990, val(x))', ['Red harbour', 'Running horses']],
    ['eq(count(painted), val(x))', []],
    ['lt(count(painted), val(x))', ['Kim']],
    ['ge(count(painted), val(x))', ['Ida', 'Jon']],
  ];
  for (const [call, names] of compared) {
    it(call, async () => {
      const [asked, more] = call.includes('year') ? ['year', 1980] : ['painted', -9];
      const { found } = await dql.query(`{
        var(func: uid(0xa)) { p as price x as math(p + ${more}) }
        found(func: has(name)) @filter(has(${asked}) and ${call}) { name } }`);
      expect(found).toEqual(names.map((name) => ({ name })));
    });
  }
});

describe('words that a variable holds', () => {
  const asked: readonly (readonly [string, readonly string[]])[] = [
    ['anyofterms(name, val(x))', ['Red harbour', 'Blue harbour', 'Running horses', 'Red evening']],
    ['allofterms(name, val(one))', ['Red harbour']],
    [
      'anyoftext(name, val(x))',
      ['Red harbour', 'Blue harbour', 'Running horses', 'Red evening', 'Portrait of a horse'],
    ],
    ['anyofterms(name, val(none))', []],
  ];
  const ask = (call: string, at: 'root' | 'filter') => {
    const found = at === 'root' ? call : `has(name)) @filter(${call}`;
    return dql.query(`{
      var(func: uid(0xa, 0xc)) { x as name none as note_nobody }
      var(func: uid(0xa)) { one as name }
      q(func: uid(x, one, none), first: 0) { uid }
      found(func: ${found}) { name } }`);
  };
  for (const [call, names] of asked) {
    it(`${call} at root`, async () => {
      expect((await ask(call, 'root'))['found']).toEqual(names.map((name) => ({ name })));
    });
    it(`${call} as a filter`, async () => {
      expect((await ask(call, 'filter'))['found']).toEqual(names.map((name) => ({ name })));
    });
  }

  it.each(['match(name, val(x), 2)', 'match(name, "Ida", val(x))'])('are not taken by %s', async (call) => {
    await expect(ask(call, 'root')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      message: expect.stringContaining('val(x)'),
    });
  });
});

describe('how many nodes a variable holds', () => {
  const all = ['Red harbour', 'Blue harbour', 'Running horses', 'Quiet evening', 'Red evening'];
  const filters: readonly (readonly [string, readonly string[]])[] = [
    ['eq(len(x), 5)', all],
    ['eq(len(x), [1, 5])', all],
    ['gt(len(x), 5)', []],
    ['not gt(len(x), 5)', all],
    ['le(len(x), 4) or gt(year, 2001)', ['Red evening']],
    ['ge(len(x), 1) and between(len(none), 0, 3)', all],
  ];
  for (const [filter, names] of filters) {
    it(filter, async () => {
      const { found } = await dql.query(`{
        x as var(func: has(year)) none as var(func: eq(name, "Nobody"))
        found(func: uid(x, none)) @filter(${filter}) { name } }`);
      expect(found).toEqual(names.map((name) => ({ name })));
    });
  }

  it('counts the nodes that have a value', async () => {
    const { found } = await dql.query(
      '{ var(func: has(name)) { y as year } found(func: uid(0x1)) @filter(eq(len(y), 5)) { name } }',
    );
    expect(found).toEqual([{ name: 'Ida' }]);
  });

  it('finds no nodes to start from, and compares with whole numbers', async () => {
    const ask = (text: string) => dql.query(`{ x as var(func: has(year)) ${text} }`);
    await expect(ask('q(func: eq(len(x), 5)) { name }')).rejects.toMatchObject({ code: 'INVALID_QUERY' });
    await expect(ask('q(func: uid(x)) @filter(eq(len(x), "all")) { name }')).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
    await expect(ask('q(func: uid(x)) @filter(anyofterms(len(x), "5")) { name }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    });
  });
});

describe('filters only', () => {
  const filters: readonly (readonly [string, readonly string[]])[] = [
    ['uid_in(shown, 0x14)', ['Red harbour', 'Blue harbour']],
    ['uid_in(~painted, 0x2)', ['Quiet evening', 'Red evening']],
    ['checkpwd(secret, "open sesame")', ['Ida']],
    ['checkpwd(secret, "wrong")', []],
    ['gt(price, 8)', ['Red harbour', 'Blue harbour']],
    ['eq(note, "loaned")', ['Red harbour']],
    ['regexp(note, /oa/)', ['Red harbour']],
    [
      'lt(count(painted), 1) and has(year)',
      ['Red harbour', 'Blue harbour', 'Running horses', 'Quiet evening', 'Red evening'],
    ],
    ['not has(year) and (eq(name, "Ida") or eq(name, "Jon") or has(price))', ['Ida', 'Jon']],
  ];
  for (const [filter, names] of filters) {
    it(filter, async () => expect(await namesBy(dql, filter, 'filter')).toEqual(names));
  }
});

describe('mistakes', () => {
  const mistakes: readonly (readonly [string, string])[] = [
    ['eq(note, "loaned")', 'MISSING_INDEX'],
    ['gt(price, 8)', 'MISSING_INDEX'],
    ['anyofterms(note, "a")', 'MISSING_INDEX'],
    ['regexp(note, /loan/)', 'MISSING_INDEX'],
    ['ge(count(shown), 1)', 'MISSING_INDEX'],
    ['match(note, "x", 2)', 'MISSING_INDEX'],
    ['ngram(note, "x y")', 'MISSING_INDEX'],
    ['near(note, [1.0, 2.0], 5)', 'INVALID_QUERY'],
    ['contains(note, "loan")', 'INVALID_QUERY'],
    ['anyofterms(year, "1990")', 'INVALID_QUERY'],
    ['has(~year)', 'INVALID_QUERY'],
    ['eq(secret, "open sesame")', 'INVALID_QUERY'],
    ['eq(place, "x")', 'INVALID_QUERY'],
    ['uid_in(painted, 0x1)', 'INVALID_QUERY'],
    ['has(~knows)', 'MISSING_INDEX'],
    ['match(name, "x", -2)', 'INVALID_QUERY'],
    ['between(year, 1)', 'INVALID_QUERY'],
    ['eq(knows, 1)', 'INVALID_QUERY'],
    ['eq(count(painted), 0)', 'INVALID_QUERY'],
    ['regexp(name, /a.*/)', 'INVALID_QUERY'],
    ['eq(year, "soon")', 'INVALID_VALUE'],
    ['eq(year, 1990.5)', 'INVALID_VALUE'],
    ['ge(count(painted), 1.5)', 'INVALID_VALUE'],
    ['intersects(place, [1.0, 2.0])', 'INVALID_QUERY'],
    ['near(place, [1.0, 100.0], 5)', 'INVALID_VALUE'],
    ['within(place, [[[181.0, 1.0], [1.0, 2.0], [3.0, 4.0]]])', 'INVALID_VALUE'],
  ];
  for (const [call, code] of mistakes) {
    it(`${call} is ${code}`, async () => {
      const fix = code === 'INVALID_VALUE' ? undefined : expect.stringMatching(/./);
      await expect(namesBy(dql, call)).rejects.toMatchObject({ code, position: { line: 1 }, ...(fix ? { fix } : {}) });
    });
  }

  it('a missing index names the schema line that adds it', async () => {
    await expect(namesBy(dql, 'ge(count(shown), 1)')).rejects.toMatchObject({
      fix: 'Add it to the schema: <shown>: uid @reverse @count .',
    });
    await expect(namesBy(dql, 'eq(note, "loaned")')).rejects.toMatchObject({
      fix: 'Add it to the schema: <note>: string @index(exact) .',
    });
  });

  it('takes a text of more words than a call may have arguments', async () => {
    const words = Array.from({ length: 130_000 }, (_, i) => `w${i.toString(36)}`).join(' ');
    const one = await openDql({ schema: 'motto: string @index(term) .' });
    await one.mutate('{ set { <0x1> <motto> "few words" . } }');
    const query = `{ q(func: has(motto), first: 1) @filter(eq(motto, "${words}")) { motto } }`;
    expect(await one.query(query)).toEqual({ q: [] });
    await one.close();
  });

  it('a password is not compared', async () => {
    await expect(namesBy(dql, 'eq(secret, "open sesame")', 'filter')).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('nothing has a predicate that the schema does not know', async () => {
    expect(await namesBy(dql, 'eq(unheard, "of")')).toEqual([]);
    expect(await namesBy(dql, 'has(unheard)')).toEqual([]);
    expect(await namesBy(dql, 'eq(unheard, "of")', 'filter')).toEqual([]);
  });
});
