import { describe, expect, it } from 'vitest';
import { useGallery } from '../../../test/gallery.js';

const gallery = useGallery();
const { ask } = gallery;

describe('@groupby', () => {
  it.each([
    '@groupby(secret) { count(uid) }',
    '@groupby(name) { max(secret) }',
    '@groupby(name, secret) { count(uid) }',
  ])('never shows the hash of a password: %s', async (groups) => {
    await expect(ask(`q(func: type(Artist)) ${groups}`)).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      message: 'secret is a password: no group shows it',
    });
  });

  it('groups roots by values: small groups first, then by key', async () => {
    expect(await ask('q(func: has(year)) @groupby(year) { count(uid) dear: max(price) }')).toEqual([
      {
        '@groupby': [
          { year: 1992, count: 1, dear: 20 },
          { year: 2001, count: 1, dear: 7.25 },
          { year: 2003, count: 1 },
          { year: 1990, count: 2, dear: 10.5 },
        ],
      },
    ]);
  });

  it('groups the edges of each node, by several keys, with names of its own', async () => {
    expect(await ask('q(func: uid(0x1, 0x2)) { painted @groupby(house: shown, year) { n: count(uid) } }')).toEqual([
      {
        painted: [
          {
            '@groupby': [
              { house: '0x14', year: 1990, n: 1 },
              { house: '0x14', year: 1992, n: 1 },
            ],
          },
        ],
      },
      { painted: [{ '@groupby': [{ house: '0x15', year: 2001, n: 1 }] }] },
    ]);
  });

  it('takes each pair of several edges, of the members that have both keys', async () => {
    expect(await ask('q(func: uid(0x1, 0x2, 0x3)) @groupby(knows, painted) { count(uid) }')).toEqual([
      {
        '@groupby': [
          { knows: '0x1', painted: '0xf', count: 1 },
          { knows: '0x2', painted: '0xa', count: 1 },
          { knows: '0x2', painted: '0xb', count: 1 },
          { knows: '0x2', painted: '0xc', count: 1 },
          { knows: '0x3', painted: '0xa', count: 1 },
          { knows: '0x3', painted: '0xb', count: 1 },
          { knows: '0x3', painted: '0xc', count: 1 },
          { knows: '0x3', painted: '0xd', count: 1 },
          { knows: '0x3', painted: '0xe', count: 1 },
          { knows: '0x4', painted: '0xf', count: 1 },
        ],
      },
    ]);
  });

  it('takes each node for itself by its uid, alone and beside other keys', async () => {
    expect(await ask('q(func: has(year), first: 2) @groupby(uid) { count(uid) y: max(year) }')).toEqual([
      {
        '@groupby': [
          { uid: '0xa', count: 1, y: 1990 },
          { uid: '0xb', count: 1, y: 1992 },
        ],
      },
    ]);
    expect(await ask('q(func: uid(0x1)) { painted @groupby(year, work: uid) { count(uid) } }')).toEqual([
      {
        painted: [
          {
            '@groupby': [
              { year: 1990, work: '0xa', count: 1 },
              { year: 1990, work: '0xc', count: 1 },
              { year: 1992, work: '0xb', count: 1 },
            ],
          },
        ],
      },
    ]);
    const counted =
      'var(func: type(Artist)) { knows @groupby(uid) { n as count(uid) } } q(func: uid(n)) { uid val(n) }';
    expect(await ask(counted)).toEqual([
      { uid: '0x1', 'val(n)': 1 },
      { uid: '0x2', 'val(n)': 1 },
      { uid: '0x3', 'val(n)': 1 },
      { uid: '0x4', 'val(n)': 1 },
    ]);
  });

  it('keeps members of an ordered row apart as those of any other', async () => {
    const ordered = 'q(func: uid(0x1)) { painted(orderdesc: year) @groupby(year) { count(uid) dear: max(price) } }';
    expect(await ask(ordered)).toEqual(await ask(ordered.replace('(orderdesc: year)', '')));
  });

  it('stands beside the same edge in one list, whichever comes first', async () => {
    const groups = {
      '@groupby': [
        { year: 1992, count: 1 },
        { year: 1990, count: 2 },
      ],
    };
    const nodes = [{ price: 10.5 }, { price: 20 }];
    const both = ['painted @groupby(year) { count(uid) }', 'painted { price }'];
    for (const fields of [both, [...both].reverse()]) {
      expect(await ask(`q(func: uid(0x1, 0x4)) { name ${fields.join(' ')} }`)).toEqual([
        { name: 'Ida', painted: [groups, ...nodes] },
      ]);
    }
    expect(await ask(`q(func: uid(0x1)) { ${both[0]} painted @filter(eq(name, "Nobody")) { price } }`)).toEqual([
      { painted: [groups] },
    ]);
    await expect(ask(`q(func: uid(0x1)) { ${both[0]} ${both[0]} }`)).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('gives variables over all rows together', async () => {
    expect(
      await ask(
        'var(func: type(Artist)) { painted @groupby(shown) { c as count(uid) } } q(func: uid(c)) { name val(c) }',
      ),
    ).toEqual([
      { name: 'North house', 'val(c)': 2 },
      { name: 'South house', 'val(c)': 1 },
    ]);
  });

  it('shows nothing where nothing has the key', async () => {
    expect(await gallery.dql.query('{ q(func: uid(0x1)) @groupby(year) { count(uid) } }')).toEqual({});
    expect(await ask('q(func: uid(0x3)) { name painted @groupby(year) { count(uid) } }')).toEqual([{ name: 'Kim' }]);
  });

  it('refuses lists as keys, and variables that belong to no node', async () => {
    await expect(ask('q(func: uid(0xa)) @groupby(tags) { count(uid) }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      position: { line: 1 },
    });
    await expect(
      ask('var(func: has(year)) @groupby(year) { c as count(uid) } q(func: uid(c)) { uid }'),
    ).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('orders many groups by how many members they have, then by each key, and shows what belongs to each', async () => {
    const rows = Array.from({ length: 5_000 }, (_, i) => ({ note: `${(i * 7_919) % 4_800}`, page: i % 7 }));
    const lines = rows.map(
      ({ note, page }, i) => `<${0x2000 + i}> <folio> "${note}" .\n<${0x2000 + i}> <page> "${page}"^^<xs:int> .`,
    );
    await gallery.dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
    const pagesOf = new Map<string, number[]>();
    for (const { note, page } of rows) pagesOf.set(note, [...(pagesOf.get(note) ?? []), page]);
    const byNote = [...pagesOf]
      .map(([note, pages]) => ({ folio: note, count: pages.length, 'max(page)': Math.max(...pages) }))
      .sort((a, b) => a.count - b.count || (a.folio < b.folio ? -1 : 1));
    const counts = byNote.map(({ folio, count }) => ({ folio, count }));
    const all = 'q(func: has(folio))';
    expect(await ask(`${all} @groupby(folio) { count(uid) }`)).toEqual([{ '@groupby': counts }]);
    expect(await ask(`${all} @groupby(folio) { count(uid) max(page) }`)).toEqual([{ '@groupby': byNote }]);
    const pairs = [...pagesOf]
      .flatMap(([note, pages]) => pages.map((page) => ({ page, folio: note, count: 1 })))
      .sort((a, b) => a.page - b.page || (a.folio < b.folio ? -1 : 1));
    expect(await ask(`${all} @groupby(page, folio) { count(uid) }`)).toEqual([{ '@groupby': pairs }]);
  });
});
