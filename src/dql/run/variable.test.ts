import { describe, expect, it } from 'vitest';
import { useGallery } from '../../../test/gallery.js';
import { openDql } from '../../../test/open-dql.js';

const gallery = useGallery();
const { ask } = gallery;

describe('uid variables', () => {
  it('join blocks in whatever order they stand', async () => {
    expect(
      await ask(
        'q(func: uid(w)) @filter(uid(s)) { uid } var(func: uid(0x1)) { w as painted } s as var(func: has(shown))',
      ),
    ).toEqual([{ uid: '0xa' }, { uid: '0xb' }]);
  });

  it('collect uids with uid', async () => {
    expect(
      await ask('var(func: type(Artist)) { painted @filter(eq(year, 1990)) { w as uid } } q(func: uid(w)) { uid }'),
    ).toEqual([{ uid: '0xa' }, { uid: '0xc' }]);
  });

  it('are empty where nothing was found', async () => {
    expect(await ask('v as var(func: eq(name, "Nobody")) q(func: uid(v)) { uid }')).toEqual([]);
  });

  it('have no values to show, order by, compare or compute with', async () => {
    const uses = [
      'q(func: uid(v)) { val(v) }',
      'q(func: uid(v), orderasc: val(v)) { uid }',
      'q(func: gt(val(v), 1)) { uid }',
      'q(func: has(year)) @filter(eq(year, val(v))) { uid }',
      'q(func: uid(v)) { x: math(v + 1) }',
      'q() { max(val(v)) }',
    ];
    const holders = [
      'v as var(func: uid(0x1))',
      'var(func: uid(0x1)) { v as painted }',
      'var(func: uid(0x1)) { v as uid }',
      'v as var(func: eq(name, "Nobody"))',
    ];
    for (const holder of holders) {
      for (const use of uses) {
        await expect(ask(`${holder} ${use}`), `${holder} ${use}`).rejects.toMatchObject({
          code: 'INVALID_QUERY',
          message: 'the variable v holds nodes and no values',
          position: { line: 1 },
        });
      }
    }
    // what nothing has may have become either
    expect(await ask('var(func: uid(0x1)) { v as unheard } q(func: uid(0x1)) { name val(v) }')).toEqual([
      { name: 'Ida' },
    ]);
    expect(await ask('var(func: uid(0x1)) { v as count(painted) } q(func: uid(v)) { val(v) }')).toEqual([
      { 'val(v)': 3 },
    ]);
  });

  it('must be defined, and not in a circle', async () => {
    await expect(ask('q(func: uid(v)) { uid }')).rejects.toMatchObject({ code: 'INVALID_QUERY' });
    await expect(ask('a as var(func: uid(b)) b as var(func: uid(a)) q(func: uid(a, b)) { uid }')).rejects.toMatchObject(
      {
        code: 'INVALID_QUERY',
      },
    );
  });
});

describe('value variables', () => {
  it('show, order and filter', async () => {
    expect(
      await ask(
        'var(func: has(price)) { p as price } q(func: uid(p), orderdesc: val(p)) @filter(gt(val(p), 8)) { uid val(p) x: val(p) }',
      ),
    ).toEqual([
      { uid: '0xb', 'val(p)': 20, x: 20 },
      { uid: '0xa', 'val(p)': 10.5, x: 10.5 },
    ]);
  });

  it('are compared with each other node by node', async () => {
    const scores = [[3, 2], [5, 6], [1, 1], [9]];
    const set = scores.flatMap((pair, i) =>
      pair.map((score, j) => `<0x5${i + 1}> <${['won', 'lost'][j]}> "${score}"^^<xs:int> .`),
    );
    await gallery.dql.mutate(`{ set { ${set.join(' ')} } }`);
    const found = async (filter: string, more = '') => {
      const defined = `var(func: has(won)) { w as won l as lost ${more} }`;
      const nodes = (await ask(`${defined} q(func: uid(w)) @filter(${filter}) { uid }`)) as { uid: string }[];
      return nodes.map(({ uid }) => uid);
    };
    expect(await found('gt(val(w), val(l))')).toEqual(['0x51']);
    expect(await found('lt(val(w), val(l))')).toEqual(['0x52']);
    expect(await found('eq(val(w), val(l))')).toEqual(['0x53']);
    expect(await found('between(val(w), val(l), val(m))', 'm as math(l + 3)')).toEqual(['0x51', '0x53']);
    expect(await found('not ge(val(w), val(l))')).toEqual(['0x52', '0x54']);
    expect(await ask('var(func: has(won)) { w as won l as lost } q(func: gt(val(w), val(l))) { uid }')).toEqual([
      { uid: '0x51' },
    ]);
    // one value for everything is compared with each
    const most = 'var(func: has(lost)) { l as lost w as won } var() { most as max(val(l)) }';
    expect(await ask(`${most} q(func: uid(w)) @filter(ge(val(w), val(most))) { uid }`)).toEqual([]);
    expect(await ask(`${most} q(func: uid(w)) @filter(lt(val(w), val(most))) { uid }`)).toHaveLength(3);
  });

  it('hold one value for a node: a list with more is refused', async () => {
    expect(await ask('var(func: uid(0xb)) { t as tags } q(func: uid(t)) { val(t) }')).toEqual([{ 'val(t)': 'sea' }]);
    await expect(ask('var(func: has(tags)) { t as tags } q(func: uid(t)) { uid }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      position: { line: 1, column: 26 },
    });
  });

  it('of several edges to one node hold the sum of a number, and nothing else', async () => {
    expect(await ask('var(func: uid(0x1, 0x2)) { knows @facets(s as since) } q(func: uid(0x3)) { val(s) }')).toEqual([
      { 'val(s)': 4009 },
    ]);
    const texts =
      'var(func: uid(0x1, 0x2)) { k as knows @facets(h as how) } q(func: uid(h)) @filter(uid(k)) { val(h) }';
    expect(await ask(texts)).toEqual([{ 'val(h)': 'school days' }, { 'val(h)': 'school' }]);
    await gallery.dql.mutate('{ set { <0x4> <knows> <0x2> (how="work") . } }');
    await expect(
      ask('var(func: uid(0x1, 0x4)) { knows @facets(h as how) } q(func: uid(h)) { val(h) }'),
    ).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('are compared with values of their own type', async () => {
    const wrong = 'var(func: has(year)) { y as year } q(func: uid(y)) @filter(gt(val(y), "recent")) { uid }';
    await expect(ask(wrong)).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('cannot choose the nodes of the block that defines them', async () => {
    const avg = 'knows { y as year } a as avg(val(y))';
    for (const root of ['orderasc: val(a))', 'first: 2) @filter(gt(val(a), 3))']) {
      await expect(ask(`q(func: has(name), ${root} { name ${avg} }`)).rejects.toMatchObject({
        code: 'INVALID_QUERY',
        message: expect.stringContaining('which it defines itself'),
      });
    }
    for (const edge of [
      'knows(orderasc: val(a)) { a as year }',
      'knows(orderasc: val(a)) @facets(a as since) { name }',
    ]) {
      await expect(ask(`q(func: has(name)) { ${edge} }`)).rejects.toMatchObject({ code: 'INVALID_QUERY' });
    }
  });

  it('stand for their values in functions', async () => {
    expect(await ask('var(func: uid(0xa)) { y as year } q(func: eq(year, val(y))) { uid }')).toEqual([
      { uid: '0xa' },
      { uid: '0xc' },
    ]);
    expect(await ask('var(func: has(price)) { p as price } q(func: le(val(p), 10.5)) { uid }')).toEqual([
      { uid: '0xa' },
      { uid: '0xd' },
    ]);
  });

  it('hold counts', async () => {
    expect(
      await ask('var(func: type(Artist)) { c as count(painted) } q(func: uid(c), orderasc: val(c)) { name val(c) }'),
    ).toEqual([
      { name: 'Kim', 'val(c)': 1 },
      { name: 'Jon', 'val(c)': 2 },
      { name: 'Ida', 'val(c)': 3 },
    ]);
  });

  it('hold one number of nodes for all', async () => {
    expect(await ask('var(func: has(year)) { n as count(uid) } q(func: uid(0x1)) { twice: math(n * 2) }')).toEqual([
      { twice: 10 },
    ]);
  });

  it('expand to the predicates that they name', async () => {
    await gallery.dql.mutate('{ set { <0x50> <note> "year" . } }');
    expect(await ask('var(func: uid(0x50)) { f as note } q(func: uid(0xa)) { expand(val(f)) }')).toEqual([
      { year: 1990 },
    ]);
  });
});

describe('aggregates', () => {
  it('run over the edge whose block defines the variable', async () => {
    expect(
      await ask(
        'q(func: uid(0x1, 0x2, 0x3)) { painted { y as year } min(val(y)) last: max(val(y)) sum(val(y)) avg(val(y)) }',
      ),
    ).toEqual([
      {
        painted: [{ year: 1990 }, { year: 1992 }, { year: 1990 }],
        'min(val(y))': 1990,
        last: 1992,
        'sum(val(y))': 5972,
        'avg(val(y))': 5972 / 3,
      },
      {
        painted: [{ year: 2001 }, { year: 2003 }],
        'min(val(y))': 2001,
        last: 2003,
        'sum(val(y))': 4004,
        'avg(val(y))': 2002,
      },
    ]);
  });

  it('have nothing to run over below an edge that no node has ever had', async () => {
    expect(
      await ask(
        'q(func: uid(0x1)) { name unheard { a as year b as math(1) } sum(val(a)) t as max(val(b)) u: math(t + 1) }',
      ),
    ).toEqual([{ name: 'Ida' }]);
  });

  it('run over everything in a block without root', async () => {
    expect(await ask('var(func: has(price)) { p as price } q() { min(val(p)) most: max(val(p)) sum(val(p)) }')).toEqual(
      [{ 'min(val(p))': 7.25 }, { most: 20 }, { 'sum(val(p))': 37.75 }],
    );
    expect(await ask('var(func: uid(0x99)) { p as price } q() { sum(val(p)) }')).toEqual([{ 'sum(val(p))': null }]);
  });

  it('feed math of the same level, wherever it stands', async () => {
    expect(
      await ask('var(func: has(price)) { p as price } q() { spread: math(b - a) a as min(val(p)) b as max(val(p)) }'),
    ).toEqual([{ spread: 12.75 }, { 'min(val(p))': 7.25 }, { 'max(val(p))': 20 }]);
  });

  it('are refused at another level, and single values where only aggregates can stand', async () => {
    await expect(ask('q(func: uid(0x1)) { painted { y as year min(val(y)) } }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    });
    await expect(ask('var(func: has(price)) { p as price } q() { x: math(p + 1) }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    });
  });

  it('may have a value for each node in a block without root that shows nothing of them', async () => {
    const text = 'var(func: has(price)) { p as price } q() { m as max(val(p)) off as math(m - p) }';
    expect(await gallery.dql.query(`{ ${text} r(func: uid(off), orderasc: val(off)) { uid val(off) } }`)).toEqual({
      q: [{ 'max(val(p))': 20 }],
      r: [
        { uid: '0xb', 'val(off)': 0 },
        { uid: '0xa', 'val(off)': 9.5 },
        { uid: '0xd', 'val(off)': 12.75 },
      ],
    });
  });
});

describe('math', () => {
  it.each([
    // the least int has no positive counterpart
    ['-9223372036854775808 + 9223372036854775807', -1],
    ['-9223372036854775808 < 0', true],
    ['-(2) * 3', -6],
    ['0x1f + 0XA', 41],
    ['-0x10', -16],
    ['logbase(1000, 10)', 3],
    ['logbase(8, 2)', 3],
  ])('%s', async (math, value) => {
    expect(await ask(`q(func: uid(0xb)) { x: math(${math}) }`)).toEqual([{ x: value }]);
  });

  it.each(['-(-9223372036854775808)', '-9223372036854775809', '0x8000000000000000'])(
    'tells that %s does not fit in 64 bits',
    async (math) => {
      await expect(ask(`q(func: uid(0xb)) { x: math(${math}) }`)).rejects.toMatchObject({ code: 'INVALID_QUERY' });
    },
  );

  it('computes for each node; what is missing counts as zero', async () => {
    expect(await ask('q(func: uid(0xa, 0xc)) { p as price r as rating both: math(p + r) }')).toEqual([
      { price: 10.5, rating: 4.5, both: 15 },
      { rating: 3, both: 3 },
    ]);
  });

  it('keeps whole numbers whole and says where it cannot go on', async () => {
    expect(
      await ask('q(func: uid(0xb)) { y as year half: math(y / 100) rest: math(y % 100) real: math(y / 100.0) }'),
    ).toEqual([{ year: 1992, half: 19, rest: 92, real: 19.92 }]);
    await expect(ask('q(func: uid(0xb)) { y as year x: math(y / (y - 1992)) }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      message: expect.stringContaining('Division by zero'),
      position: expect.anything(),
    });
  });

  it.each(['exp(y)', 'y * 1e308', 'pow(y, 400)', 'ln(y - 1992)', 'pow(y - 1992, -1)', 'logbase(y, 1)'])(
    'refuses %s, which is no finite number and could not be written',
    async (math) => {
      await expect(ask(`q(func: uid(0xb)) { y as year x: math(${math}) }`)).rejects.toMatchObject({
        code: 'INVALID_QUERY',
        message: expect.stringContaining('finite'),
        position: expect.anything(),
      });
    },
  );

  it('turns vectors around, as it adds and multiplies them', async () => {
    const own = await openDql({ schema: 'v: float32vector .' });
    await own.mutate('{ set { <0x1> <v> "[1, -2.5]" . } }');
    expect(await own.query('{ q(func: uid(0x1)) { v as v back: math(-v) none: math(v + -v) } }')).toEqual({
      q: [{ v: [1, -2.5], back: [-1, 2.5], none: [0, 0] }],
    });
    await own.close();
  });

  it('decides by conditions', async () => {
    expect(await ask('q(func: has(price)) { p as price dear: math(cond(p > 10, 1, 0)) }')).toEqual([
      { price: 10.5, dear: 1 },
      { price: 20, dear: 1 },
      { price: 7.25, dear: 0 },
    ]);
  });

  it('computes what a condition takes, and not what it leaves', async () => {
    expect(await ask('q(func: uid(0xa, 0xb)) { y as year x: math(cond(y == 1992, 0, 100 / (y - 1992))) }')).toEqual([
      { year: 1990, x: -50 },
      { year: 1992, x: 0 },
    ]);
    expect(await ask('q(func: uid(0x1)) { one as math(1) x: math(cond(1 > 2, ln(0), one)) }')).toEqual([
      { 'val(one)': 1, x: 1 },
    ]);
    await expect(
      ask('q(func: uid(0xa, 0xb)) { y as year x: math(cond(y == 1990, 0, 100 / (y - 1992))) }'),
    ).rejects.toMatchObject({ code: 'INVALID_QUERY', message: expect.stringContaining('Division by zero') });
    await expect(ask('q(func: uid(0xa)) { x: math(cond(1, 2, 3)) }')).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('takes the least and the greatest of all operands', async () => {
    expect(await ask('q(func: uid(0xa)) { p as price most: math(max(p, 3, 30)) least: math(min(30, p, 3)) }')).toEqual([
      { price: 10.5, most: 30, least: 3 },
    ]);
  });

  it('compares values of a kind only', async () => {
    for (const test of ['name < 1992', 'year == name', 'max(year, name) > 0', 'year > true']) {
      const text = `q(func: uid(0xb)) { name as name year as year val(name) val(year) x: math(${test}) }`;
      await expect(ask(text), test).rejects.toMatchObject({
        code: 'INVALID_QUERY',
        message: expect.stringContaining('cannot compare'),
        position: expect.anything(),
      });
    }
    const own = await openDql({ schema: 'made: datetime .\nsold: datetime .' });
    await own.mutate('{ set { <0x1> <made> "1990" .\n<0x2> <made> "1990" .\n<0x2> <sold> "1995" . } }');
    expect(await own.query('{ q(func: has(made)) { a as made b as sold last: math(max(a, b)) } }')).toEqual({
      q: [
        { made: '1990-01-01T00:00:00Z', last: '1990-01-01T00:00:00Z' },
        { made: '1990-01-01T00:00:00Z', sold: '1995-01-01T00:00:00Z', last: '1995-01-01T00:00:00Z' },
      ],
    });
    await own.close();
  });

  it('adds up values of the level above along every way down', async () => {
    expect(await ask('q(func: uid(0x14, 0x15)) { a as math(1) ~shown { b: math(a + 1) } }')).toEqual([
      { 'val(a)': 1, '~shown': [{ b: 2 }, { b: 2 }] },
      { 'val(a)': 1, '~shown': [{ b: 2 }] },
    ]);
    expect(
      await ask(
        'var(func: uid(0x1, 0x2)) { c as count(painted) knows { d as math(c) } } q(func: uid(d)) { name val(d) }',
      ),
    ).toEqual([
      { name: 'Jon', 'val(d)': 3 },
      { name: 'Kim', 'val(d)': 5 },
    ]);
  });
});
