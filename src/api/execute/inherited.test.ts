// Fields may be named as what every object of JavaScript inherits: a race has a constructor.
import { describe, expect, it } from 'vitest';
import { createWorld } from '../../../test/support/api-world.js';
import type { CustomLogic } from './custom-logic.js';

const SDL = `
  type Race { name: String! @id constructor: String @search(by: [hash]) valueOf: Int toString: [String!] hasOwnProperty: Team }
  type Team { constructor: String! @id races: [Race] @hasInverse(field: hasOwnProperty) }
  type Query {
    lap: Race @custom(http: {url: "http://f.example/lap", method: GET})
    named(toString: String): Race @custom(dql: "query q($toString: string) { named(func: eq(Race.constructor, $toString)) { name: Race.name } }")
  }
`;
const custom: CustomLogic = {
  root: ({ field, args }) =>
    Promise.resolve({ value: field.name === 'lap' ? { name: 'Monza' } : { name: typeof args.toString }, errors: [] }),
  fields: () => Promise.resolve([]),
};
const ADD =
  'mutation ($input: [AddRaceInput!]!, $more: Boolean = true) { addRace(input: $input, upsert: $more) { race { name constructor valueOf toString hasOwnProperty { constructor } } } }';
const NOTHING = { constructor: null, valueOf: null, toString: [], hasOwnProperty: null };

describe('fields that are named as what every object inherits', () => {
  it('have no value where none is given, by variables as by literals', async () => {
    const world = await createWorld(SDL, { custom });
    const { addRace } = await world.data(ADD, { input: [{ name: 'Spa' }] });
    expect(addRace.race).toEqual([{ name: 'Spa', ...NOTHING }]);
    const set =
      'mutation ($set: RacePatch) { updateRace(input: {filter: {}, set: $set}) { race { constructor valueOf } } }';
    expect((await world.data(set, { set: { valueOf: 3 } })).updateRace.race).toEqual([
      { constructor: null, valueOf: 3 },
    ]);
    const found = 'query ($filter: RaceFilter) { queryRace(filter: $filter) { name } }';
    expect((await world.data(found, { filter: { name: { eq: 'Spa' } } })).queryRace).toEqual([{ name: 'Spa' }]);
    expect((await world.data('{ lap { name constructor valueOf hasOwnProperty { constructor } } }')).lap).toEqual({
      name: 'Monza',
      constructor: null,
      valueOf: null,
      hasOwnProperty: null,
    });
    expect((await world.data('{ named { name } }')).named).toEqual({ name: 'undefined' });
  });

  it('hold what they are given, and mistakes in them are told', async () => {
    const world = await createWorld(SDL, { custom });
    const race = {
      name: 'Spa',
      constructor: 'Lotus',
      valueOf: 7,
      toString: ['a'],
      hasOwnProperty: { constructor: 'T' },
    };
    expect((await world.data(ADD, { input: [race] })).addRace.race).toEqual([race]);
    expect(
      (await world.data('query ($c: String!) { getTeam(constructor: $c) { races { constructor } } }', { c: 'T' }))
        .getTeam,
    ).toEqual({
      races: [{ constructor: 'Lotus' }],
    });
    const { errors } = await world.ask(ADD, { input: [{ name: 'x', valueOf: 'no' }] });
    expect(errors?.map(({ message }) => message)).toEqual([expect.stringContaining('input[0].valueOf')]);
  });
});
