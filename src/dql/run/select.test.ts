import { describe, expect, it } from 'vitest';
import { useGallery } from '../../../test/gallery.js';

const gallery = useGallery();
const { ask } = gallery;

async function names(text: string): Promise<unknown[]> {
  return ((await ask(text)) as { n: unknown }[]).map((one) => one.n);
}

describe('selections', () => {
  it('show values, lists, edges, single edges and reverse edges, and leave out what is not there', async () => {
    expect(await ask('q(func: uid(0xa, 0xc)) { uid name tags shown { name } ~painted { name } nothing }')).toEqual([
      {
        uid: '0xa',
        name: 'Red harbour',
        tags: expect.arrayContaining(['sea', 'ship']),
        shown: { name: 'North house' },
        '~painted': [{ name: 'Ida' }],
      },
      { uid: '0xc', name: 'Running horses', '~painted': [{ name: 'Ida' }] },
    ]);
  });

  it('leave out nodes with nothing to show, and keep those that show their uid', async () => {
    expect(await ask('q(func: uid(0x1, 0xa)) { year }')).toEqual([{ year: 1990 }]);
    expect(await ask('q(func: uid(0x77)) { uid }')).toEqual([{ uid: '0x77' }]);
  });

  it('keep the order of the selections', async () => {
    const { data } = await gallery.dql.engine.query({ text: '{ q(func: uid(0xa)) { year uid n: name price } }' });
    expect(data.toString()).toBe('{"q":[{"year":1990,"uid":"0xa","n":"Red harbour","price":10.5}]}');
  });

  it('count edges, values and nodes', async () => {
    expect(await ask('q(func: type(Artist)) { name c: count(painted) count(knows) }')).toEqual([
      { name: 'Ida', c: 3, 'count(knows)': 2 },
      { name: 'Jon', c: 2, 'count(knows)': 1 },
      { name: 'Kim', c: 1, 'count(knows)': 2 },
    ]);
    expect(await ask('q(func: uid(0x1)) { count(painted @filter(eq(year, 1990))) count(tags) }')).toEqual([
      { 'count(painted)': 2, 'count(tags)': 0 },
    ]);
    expect(await ask('q(func: type(Artist)) { count(uid) painted { total: count(uid) } }')).toEqual([
      { count: 3 },
      { painted: [{ total: 3 }] },
      { painted: [{ total: 2 }] },
      { painted: [{ total: 1 }] },
    ]);
  });

  it('refuse a language of what has none, wherever it is named', async () => {
    for (const text of [
      'q(func: uid(0x1)) { note@en }',
      'q(func: uid(0x1)) { year@. }',
      'q(func: uid(0x1)) { knows@en }',
      'q(func: uid(0x1)) { count(note@en) }',
      'q(func: has(note@en)) { uid }',
      'q(func: eq(year@en, 1990)) { uid }',
      'q(func: uid(0x1)) @filter(eq(note@., "x")) { uid }',
      'q(func: uid(0x1), orderasc: year@en) { uid }',
    ]) {
      await expect(ask(text), text).rejects.toMatchObject({ code: 'INVALID_QUERY' });
    }
    expect(await ask('q(func: uid(0xa)) { note@* nothing@en }')).toEqual([{ note: 'loaned' }]);
  });

  it('choose languages by preference', async () => {
    expect(await ask('q(func: uid(0x3)) { name name@fi name@sv name@sv:fi:. name@. }')).toEqual([
      { name: 'Kim', 'name@fi': 'Kimmo', 'name@sv:fi:.': 'Kimmo', 'name@.': 'Kim' },
    ]);
    expect(await ask('q(func: uid(0x4)) { name name@. x: name@sv:. }')).toEqual([{ 'name@.': 'Lea', x: 'Lea' }]);
    expect(await ask('q(func: uid(0x3)) { name@* }')).toEqual([{ name: 'Kim', 'name@fi': 'Kimmo' }]);
  });

  it('never show a password, and check one', async () => {
    expect(
      await ask('q(func: uid(0x1)) { name secret checkpwd(secret, "open sesame") no: checkpwd(secret, "x") }'),
    ).toEqual([{ name: 'Ida', 'checkpwd(secret)': true, no: false }]);
  });

  it('expand types', async () => {
    expect(await ask('q(func: uid(0xa)) { expand(_all_) { name } }')).toEqual([
      {
        name: 'Red harbour',
        year: 1990,
        tags: expect.anything(),
        shown: { name: 'North house', 'shown|wall': 3 },
        '~painted': [{ name: 'Ida' }],
        'tags|by': expect.anything(),
      },
    ]);
    expect(await ask('q(func: uid(0x3)) { expand(Artist) }')).toEqual([{ name: 'Kim', 'name@fi': 'Kimmo' }]);
    expect(await ask('q(func: uid(0xa)) { expand(_all_) @filter(type(Artist)) { name } }')).toEqual([
      { '~painted': [{ name: 'Ida' }] },
    ]);
    await expect(ask('q(func: uid(0xa)) { name expand(_all_) }')).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('count the password of a type among what they expand', async () => {
    expect(await ask('q(func: uid(0x1)) { expand(_all_) checkpwd(secret, "open sesame") }')).toEqual([
      { name: 'Ida', 'checkpwd(secret)': true },
    ]);
    for (const text of ['expand(_all_) secret', 'secret expand(Artist)']) {
      await expect(ask(`q(func: uid(0x1)) { ${text} }`), text).rejects.toMatchObject({
        code: 'INVALID_QUERY',
        message: 'expand() and the block both select secret',
      });
    }
    expect(await ask('q(func: uid(0xa)) { secret expand(_all_) }')).toEqual([expect.objectContaining({ year: 1990 })]);
  });

  it('show nothing under the alias of another field', async () => {
    for (const text of [
      'name: year expand(_all_)',
      'expand(Artist) name: year',
      'painted: name expand(_all_) { year }',
    ]) {
      await expect(ask(`q(func: uid(0x1)) { ${text} }`), text).rejects.toMatchObject({
        code: 'INVALID_QUERY',
        message: expect.stringMatching(/^expand\(\) selects (name|painted), the alias of another field$/),
      });
    }
    expect(await ask('q(func: uid(0x1)) { called: name expand(_all_) }')).toEqual([{ called: 'Ida', name: 'Ida' }]);
  });

  it('leave edges that the block selects itself out of what they expand', async () => {
    const red = { name: 'Red harbour', year: 1990 };
    const both = [
      'expand(_all_)',
      'painted @filter(eq(year, 1990)) (first: 1) { expand(Work) { uid } shown { place } }',
    ];
    for (const text of [both.join(' '), both.toReversed().join(' ')]) {
      expect(await ask(`q(func: uid(0x1)) { ${text} }`), text).toEqual([
        { name: 'Ida', painted: [expect.objectContaining({ ...red, shown: { place: expect.anything() } })] },
      ]);
    }
    expect(await ask('q(func: uid(0xa)) { expand(Work) { uid } ~painted @filter(eq(name, "Jon")) { uid } }')).toEqual([
      { ...red, tags: expect.anything(), 'tags|by': expect.anything(), shown: { uid: '0x14', 'shown|wall': 3 } },
    ]);
    await expect(ask('q(func: uid(0x1)) { expand(Artist) { uid } expand(Artist) { name } }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    });
  });

  it('refuse reverse edges that are not kept', async () => {
    await expect(ask('q(func: uid(0x2)) { ~knows { name } }')).rejects.toMatchObject({ code: 'MISSING_INDEX' });
  });
});

describe('pages', () => {
  it('take first, offset, after and the last', async () => {
    expect(await names('q(func: has(year), first: 2) { n: name }')).toEqual(['Red harbour', 'Blue harbour']);
    expect(await names('q(func: has(year), first: 2, offset: 3) { n: name }')).toEqual([
      'Quiet evening',
      'Red evening',
    ]);
    expect(await names('q(func: has(year), first: -2) { n: name }')).toEqual(['Quiet evening', 'Red evening']);
    expect(await names('q(func: has(year), after: 0xc) { n: name }')).toEqual(['Quiet evening', 'Red evening']);
    expect(await names('q(func: has(year), offset: 9) { n: name }')).toEqual([]);
  });

  it('of first: 0 have no end', async () => {
    const all = await names('q(func: has(year), orderasc: name) { n: name }');
    expect(await names('q(func: has(year), orderasc: name, first: 0) { n: name }')).toEqual(all);
    expect(await names('q(func: has(year), orderasc: name, first: 0, offset: 1) { n: name }')).toEqual(all.slice(1));
    expect(await ask('q(func: uid(0x1)) { painted(first: 0, offset: 1) { uid } }')).toEqual([
      { painted: [{ uid: '0xb' }, { uid: '0xc' }] },
    ]);
  });

  it('apply to each row of edges', async () => {
    expect(await ask('q(func: type(Artist)) { painted(first: 1, offset: 1) { uid } }')).toEqual([
      { painted: [{ uid: '0xb' }] },
      { painted: [{ uid: '0xe' }] },
    ]);
    expect(await ask('q(func: uid(0x1)) { painted(first: -1) @filter(lt(year, 1992)) { uid } }')).toEqual([
      { painted: [{ uid: '0xc' }] },
    ]);
    expect(await ask('q(func: uid(0x1)) { painted(after: 0xa) { uid } }')).toEqual([
      { painted: [{ uid: '0xb' }, { uid: '0xc' }] },
    ]);
  });

  it('choose so many at random', async () => {
    expect(((await ask('q(func: has(year), random: 2) { uid }')) as unknown[]).length).toBe(2);
  });
});

describe('order', () => {
  it('sorts by keys, what has none last either way, ties by uid', async () => {
    const works = 'uid(0xa, 0xb, 0xc, 0xd, 0xe, 0xf)';
    expect(await names(`q(func: ${works}, orderasc: year) { n: uid }`)).toEqual([
      '0xa',
      '0xc',
      '0xb',
      '0xd',
      '0xe',
      '0xf',
    ]);
    expect(await names(`q(func: ${works}, orderdesc: year) { n: uid }`)).toEqual([
      '0xe',
      '0xd',
      '0xb',
      '0xa',
      '0xc',
      '0xf',
    ]);
    expect(await names(`q(func: ${works}, orderasc: year, orderdesc: name) { n: uid }`)).toEqual([
      '0xc',
      '0xa',
      '0xb',
      '0xd',
      '0xe',
      '0xf',
    ]);
    expect(await names(`q(func: ${works}, orderdesc: price, first: 2) { n: uid }`)).toEqual(['0xb', '0xa']);
  });

  it('sorts each row of edges', async () => {
    expect(await ask('q(func: type(Artist)) { painted(orderdesc: name, first: 2) { name } }')).toEqual([
      { painted: [{ name: 'Running horses' }, { name: 'Red harbour' }] },
      { painted: [{ name: 'Red evening' }, { name: 'Quiet evening' }] },
      { painted: [{ name: 'Portrait of a horse' }] },
    ]);
  });

  it('refuses what has no order, also where there is nothing to sort', async () => {
    for (const key of ['tags', 'place', 'painted', 'unheard']) {
      await expect(ask(`q(func: uid(0x99), orderasc: ${key}) { uid }`)).rejects.toMatchObject({
        code: 'INVALID_QUERY',
      });
    }
  });
});

describe('@cascade', () => {
  it('drops nodes that lack a field, up to the roots', async () => {
    expect(await ask('q(func: type(Artist)) @cascade { name painted { name price shown { name } } }')).toEqual([
      {
        name: 'Ida',
        painted: [
          { name: 'Red harbour', price: 10.5, shown: { name: 'North house' } },
          { name: 'Blue harbour', price: 20, shown: { name: 'North house' } },
        ],
      },
      { name: 'Jon', painted: [{ name: 'Quiet evening', price: 7.25, shown: { name: 'South house' } }] },
    ]);
  });

  it('asks for named fields only', async () => {
    expect(await names('q(func: has(year)) @cascade(price) { n: uid price tags }')).toEqual(['0xa', '0xb', '0xd']);
  });

  it('asks for all with __all__', async () => {
    expect(await names('q(func: has(year)) @cascade(__all__) { n: uid price tags }')).toEqual(['0xa', '0xb']);
  });

  it('pages after it is done', async () => {
    expect(await names('q(func: has(year), first: 1, offset: 1) @cascade { n: uid price }')).toEqual(['0xb']);
    expect(await ask('q(func: uid(0x1)) @cascade { painted(offset: 1) { uid price } }')).toEqual([
      { painted: [{ uid: '0xb', price: 20 }] },
    ]);
  });

  it('stands on a level of its own', async () => {
    expect(await ask('q(func: uid(0x2, 0x3)) { name painted @cascade { price } }')).toEqual([
      { name: 'Jon', painted: [{ price: 7.25 }] },
      { name: 'Kim' },
    ]);
  });

  it('leaves its mark on variables', async () => {
    expect(
      await names('var(func: type(Artist)) @cascade { p as painted { price } } q(func: uid(p)) { n: uid }'),
    ).toEqual(['0xa', '0xb', '0xd']);
  });
});

describe('@ignorereflex', () => {
  it('leaves out what is above', async () => {
    expect(await ask('q(func: uid(0x1)) @ignorereflex { name knows { name knows { name } } }')).toEqual([
      { name: 'Ida', knows: [{ name: 'Jon', knows: [{ name: 'Kim' }] }, { name: 'Kim' }] },
    ]);
  });
});
