import { describe, expect, it } from 'vitest';
import { useGallery } from '../../../test/gallery.js';
import { openDql } from '../../../test/open-dql.js';
import { defaultNames, dgraphNames, type Names } from '../../base/index.js';

const { ask } = useGallery();

describe('facets', () => {
  it('of edges show in the node that the edge leads to', async () => {
    expect(await ask('q(func: uid(0x1, 0xa)) { knows @facets { name } shown @facets { name } }')).toEqual([
      {
        knows: [
          { name: 'Jon', 'knows|close': true, 'knows|how': 'school days', 'knows|since': 2001 },
          { name: 'Kim', 'knows|since': 1999 },
        ],
      },
      { shown: { name: 'North house', 'shown|wall': 3 } },
    ]);
  });

  it('can be chosen and renamed', async () => {
    expect(await ask('q(func: uid(0x1)) { friends: knows @facets(year: since, close) { name } }')).toEqual([
      {
        friends: [
          { name: 'Jon', 'friends|close': true, year: 2001 },
          { name: 'Kim', year: 1999 },
        ],
      },
    ]);
  });

  it('of list members show by the place of the member', async () => {
    const [{ tags, ...facets }] = (await ask('q(func: uid(0xa)) { tags @facets }')) as [{ tags: string[] }];
    expect(facets).toEqual({ 'tags|by': { [tags.indexOf('sea')]: 'Ida' } });
  });

  it('filter edges and list members', async () => {
    expect(await ask('q(func: uid(0x1)) { knows @facets(ge(since, 2000)) { name } }')).toEqual([
      { knows: [{ name: 'Jon' }] },
    ]);
    expect(await ask('q(func: uid(0x1)) { knows @facets(not eq(close, true)) { name } }')).toEqual([
      { knows: [{ name: 'Kim' }] },
    ]);
    expect(await ask('q(func: uid(0x1)) { knows @facets(eq(close, true) or lt(since, 2000)) { name } }')).toEqual([
      { knows: [{ name: 'Jon' }, { name: 'Kim' }] },
    ]);
    expect(await ask('q(func: uid(0x1, 0x2)) { knows @facets(allofterms(how, "days school")) { name } }')).toEqual([
      { knows: [{ name: 'Jon' }] },
    ]);
    expect(await ask('q(func: uid(0xa)) { tags @facets(eq(by, "Ida")) }')).toEqual([{ tags: ['sea'] }]);
    expect(await ask('q(func: uid(0x1)) { count(knows) @facets(ge(since, 2000)) }')).toEqual([{ 'count(knows)': 1 }]);
  });

  it('order edges, those without last', async () => {
    expect(await ask('q(func: uid(0x1, 0x3)) { knows @facets(orderasc: since) { uid } }')).toEqual([
      {
        knows: [
          { uid: '0x3', 'knows|since': 1999 },
          { uid: '0x2', 'knows|since': 2001 },
        ],
      },
      { knows: [{ uid: '0x1', 'knows|since': 1999 }, { uid: '0x4' }] },
    ]);
  });

  it('order no edge away where a node, or a whole predicate, has none', async () => {
    expect(await ask('q(func: uid(0x1)) { painted @facets(orderdesc: since) { uid } }')).toEqual([
      { painted: [{ uid: '0xa' }, { uid: '0xb' }, { uid: '0xc' }] },
    ]);
    const own = await openDql({ schema: 'to: [uid] .' });
    await own.mutate(
      '{ set { <0x1> <to> <0x3> .\n<0x1> <to> <0x4> .\n<0x2> <to> <0x3> .\n<0x2> <to> <0x4> (w=1) . } }',
    );
    for (const page of ['', '(first: 2)', '(first: -2)']) {
      expect(await own.query(`{ q(func: uid(0x1, 0x2)) { to ${page} @facets(orderasc: w) { uid } } }`), page).toEqual({
        q: [{ to: [{ uid: '0x3' }, { uid: '0x4' }] }, { to: [{ uid: '0x4', 'to|w': 1 }, { uid: '0x3' }] }],
      });
    }
    await own.close();
  });

  it('become variables, added up where several edges meet', async () => {
    expect(await ask('var(func: uid(0x1, 0x2)) { knows @facets(s as since) } q(func: uid(s)) { name val(s) }')).toEqual(
      [
        { name: 'Jon', 'val(s)': 2001 },
        { name: 'Kim', 'val(s)': 1999 + 2010 },
      ],
    );
    expect(await ask('q(func: uid(0x1)) { knows @facets(s as since) first: min(val(s)) }')).toEqual([
      { knows: [{ 'knows|since': 2001 }, { 'knows|since': 1999 }], first: 1999 },
    ]);
  });

  it('become variables of lists of values too, added up; the peer takes those of the first value', async () => {
    const asked = '{ var(func: has(tag)) { tag @facets(k as n) } q(func: uid(k)) { uid val(k) } }';
    const opened = async (names: Names) => {
      const own = await openDql({ schema: 'tag: [string] .', names });
      await own.mutate('{ set { <0x1> <tag> "x" (n=1) .\n<0x1> <tag> "y" (n=2) .\n<0x1> <tag> "z" (n=4) . } }');
      return own;
    };
    const [own, peer] = [await opened(defaultNames), await opened(dgraphNames)];
    expect(await own.query(asked)).toEqual({ q: [{ uid: '0x1', 'val(k)': 7 }] });
    const { q } = (await peer.query(asked)) as { q: { 'val(k)': number }[] };
    expect([1, 2, 4]).toContain(q[0]['val(k)']);
    await own.mutate('{ set { <0x2> <tag> "x" (n="a") .\n<0x2> <tag> "y" (n="b") . } }');
    await expect(own.query(asked)).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      message: 'several values of one node have a facet n that is no number, and a variable holds one value for a node',
    });
    await Promise.all([own.close(), peer.close()]);
  });

  it('stay with their edges when these are filtered, ordered and paged', async () => {
    expect(await ask('q(func: uid(0x1)) { knows(orderdesc: name, first: 1) @facets(since) { name } }')).toEqual([
      { knows: [{ name: 'Kim', 'knows|since': 1999 }] },
    ]);
    expect(await ask('q(func: uid(0x1)) { knows(offset: 1) @facets(since) @filter(has(name)) { name } }')).toEqual([
      { knows: [{ name: 'Kim', 'knows|since': 1999 }] },
    ]);
  });
});
