import { beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../../../test/support/api-world.js';
import { defaultNames, dgraphNames } from '../../../base/index.js';

const SDL = `
  type Shop { name: String! @id @search(by: [hash, term]) at: Point @search open: Boolean @search
    sells: [Thing] @hasInverse(field: shop) first: Owner }
  type Thing { code: Int! @id @search colour: String @search(by: [hash]) shop: Shop }
  type Person { name: String! @id @search(by: [hash]) }
  type Firm { number: Int! @id @search }
  union Owner = Person | Firm
`;

describe('the filter of a mutation', () => {
  let world: World;
  const open = async (names = defaultNames) => {
    world = await createWorld(SDL, { names });
    await world.data(`mutation { addShop(input: [
      { name: "a", open: true, sells: [{ code: 1, colour: "red" }, { code: 2 }] }, { name: "b" }]) { numUids } }`);
  };
  beforeEach(() => open());
  const left = async () => (await world.data('{ queryThing(order: { asc: code }) { code } }')).queryThing;

  it.each([
    ['a variable that was left out', 'query: [Int!]', 'filter: { code: { in: $query } }', 'filter.code'],
    ['null for a test', '', 'filter: { code: { in: null } }', 'filter.code.in'],
    ['null for a field', '', 'filter: { code: null, colour: { eq: "red" } }', 'filter.code'],
    ['a list of no conditions', '', 'filter: { or: [] }', 'filter.or'],
    ['an empty condition among others', '', 'filter: { and: [{ colour: { eq: "red" } }, {}] }', 'filter.and[1]'],
    ['not of nothing', '', 'filter: { not: {} }', 'filter.not'],
    ['no field that it should have', '', 'filter: { has: [] }', 'filter.has'],
    ['nothing behind an edge', '', 'filter: { shop: { name: {} } }', 'filter.shop.name'],
  ])('refuses %s', async (_, variable, filter, place) => {
    const declared = variable === '' ? '' : `($${variable})`;
    const answer = await world.ask(`mutation ${declared} { deleteThing(${filter}) { numUids } }`);
    expect(answer.errors).toEqual([
      expect.objectContaining({ message: `${place} tests nothing, so that more of Thing would be changed` }),
    ]);
    expect(answer.errors?.[0].extensions).toMatchObject({ code: 'INVALID_VALUE' });
    expect(await left()).toHaveLength(2);
  });

  it('is held to it in updates, their steps, and along a cascade', async () => {
    const refused = async (mutation: string, place: string) =>
      expect((await world.ask(`mutation { ${mutation} { numUids } }`)).errors?.[0].message).toContain(
        `${place} tests nothing`,
      );
    await refused('updateThing(input: { filter: { code: { ge: null } }, set: { colour: "red" } })', 'filter.code.ge');
    await refused(
      'updateShop(input: { filter: {}, nested: { sells: { filter: { code: {} }, set: { colour: "red" } } } })',
      'filter.code',
    );
    await refused('deleteShop(filter: {}, cascade: { sells: { filter: { colour: null } } })', 'filter.colour');
    await refused('deleteShop(filter: { at: { near: null } })', 'filter.at.near');
    await refused('deleteShop(filter: { first: { firmFilter: { number: {} } } })', 'filter.first.firmFilter.number');
    expect(await world.data('{ queryShop { name } queryThing { code colour } }')).toMatchObject({
      queryShop: [{ name: 'a' }, { name: 'b' }],
    });
  });

  it('may be empty as a whole, ask for what has no value, and for nothing that is there', async () => {
    const gone = async (filter: string) =>
      (await world.data(`mutation { deleteThing(filter: ${filter}) { numUids } }`)).deleteThing.numUids;
    expect(await gone('{ code: { in: [] } }')).toBe(0);
    expect(await gone('{ and: [{ shop: {} }, { colour: { eq: null } }] }')).toBe(1);
    expect(await left()).toEqual([{ code: 1 }]);
    expect(await gone('{}')).toBe(1);
    expect(
      await world.data('mutation { updateShop(input: { filter: { open: true }, set: { name: "c" } }) { numUids } }'),
    ).toEqual({ updateShop: { numUids: 1 } });
  });

  it('is read without such parts where the peer is asked for', async () => {
    await open(dgraphNames);
    const removed = await world.data(
      'mutation ($of: [Int]) { deleteThing(filter: { code: { in: $of } }) { numUids } }',
    );
    expect(removed).toEqual({ deleteThing: { numUids: 2 } });
  });
});
