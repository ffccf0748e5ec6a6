import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/api-world.js';
import type { GraphChange } from '../graph/index.js';

const TYPES = `
  interface Named { name: String! }
  type City implements Named { size: Size people: Int heights: [Int!] sizes: [Size!] land: Land! streets: [Street!] @hasInverse(field: city) }
  type Land { name: String! cities: [City!] @hasInverse(field: land) rivers: [River!] @dgraph(pred: "~River.land") }
  type Street { city: City }
  type River { land: Land }
  enum Size { SMALL LARGE }`;

const text = (uid: number, predicate: string, value: string): GraphChange => ({
  op: 'setValue',
  uid,
  predicate,
  value: { type: 'string', value },
  lang: '',
});
const edge = (uid: number, predicate: string, object: number): GraphChange => ({
  op: 'setEdge',
  uid,
  predicate,
  object,
});

/** One city in one land, as GraphQL would have written it. */
const WHOLE = [
  text(1, 'service.type', 'City'),
  text(1, 'service.type', 'Named'),
  text(1, 'Named.name', 'Bern'),
  text(1, 'City.size', 'LARGE'),
  edge(1, 'City.land', 2),
  text(2, 'service.type', 'Land'),
  text(2, 'Land.name', 'Switzerland'),
  edge(2, 'Land.cities', 1),
  text(3, 'service.type', 'River'),
  edge(3, 'River.land', 2),
];

async function messages(changes: readonly GraphChange[]): Promise<readonly string[]> {
  const { api, graph } = await createWorld(TYPES);
  await graph.leaseUids(10);
  const transaction = await graph.begin();
  await transaction.stage(changes);
  await transaction.commit();
  return (await api.misfits()).map(({ message }) => message);
}

describe('what stored nodes do not have as the definitions say it', () => {
  it('is nothing where they are whole, without nodes, and without definitions', async () => {
    expect(await messages(WHOLE)).toEqual([]);
    const { api } = await createWorld(TYPES);
    expect(await api.misfits()).toEqual([]);
    expect(await (await createWorld()).api.misfits()).toEqual([]);
  });

  it('tells nodes that are not said to be of an interface', async () => {
    expect(await messages(WHOLE.filter((change) => !('value' in change && change.value?.value === 'Named')))).toEqual([
      'stored nodes of City are not said to be of Named, and what asks for Named passes over them: set their type Named too',
    ]);
  });

  it.each([
    ['Named.name', 'City.name: it is required, and stored nodes lack it: they answer NON_NULL for it'],
    ['Land.name', 'Land.name: it is required, and stored nodes lack it: they answer NON_NULL for it'],
    ['Land.cities', 'City.land: 0x1 leads to 0x2, which does not lead back by Land.cities'],
  ])('is told where %s is missing', async (predicate, message) => {
    expect(
      await messages(WHOLE.filter((change) => !('predicate' in change) || change.predicate !== predicate)),
    ).toEqual([message]);
  });

  it('is told where an edge lacks its other end, which is required', async () => {
    const changes = WHOLE.filter((change) => !('predicate' in change) || change.predicate !== 'City.land');
    expect(await messages(changes)).toEqual([
      'City.land: it is required, and stored nodes lack it: they answer NON_NULL for it',
      'Land.cities: 0x2 leads to 0x1, which does not lead back by City.land',
    ]);
  });

  it('is told where an enum does not have it', async () => {
    const changes = [...WHOLE, text(1, 'City.size', 'HUGE')];
    expect(await messages(changes)).toEqual([
      'City.size: stored nodes hold what Size does not have: they answer INVALID_VALUE for it',
    ]);
  });

  it.each(['City.people', 'City.heights'])('is told where %s has more than the 32 bits of Int', async (predicate) => {
    const people = (value: number): GraphChange => ({
      op: 'setValue',
      uid: 1,
      predicate,
      value: { type: 'int', value },
      lang: '',
    });
    expect(await messages([...WHOLE, people(2_147_483_647), people(-2_147_483_648)])).toEqual([]);
    for (const value of [2_147_483_648, -2_147_483_649]) {
      expect(await messages([...WHOLE, people(value)])).toEqual([
        `${predicate}: stored nodes hold numbers of more than 32 bits: they answer INVALID_VALUE for it, unless it is Int64`,
      ]);
    }
  });
});
