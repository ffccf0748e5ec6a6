import { beforeAll, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../base/index.js';
import { contextOf, createWorld, type Tree, type World } from '../../../test/support/api-world.js';

const NODES = 1_000;
let world: World;
beforeAll(async () => {
  const sdl = `
    type P { key: String! @id n: Int @search big: Int64 f: Float missing: String }
    type Crowd { key: String! @id of: [One] }
    type One { key: String! crowd: Crowd }
    type Hub { key: String! @id spokes: [P] itself: Hub }
  `;
  world = await createWorld(sdl, { clock: alwaysLate() });
  const input = Array.from({ length: NODES }, (_, i) => ({ key: `k${i}`, n: i, big: '9007199254740993', f: i / 2 }));
  await world.data('mutation ($input: [AddPInput!]!) { addP(input: $input) { numUids } }', { input });
  await world.data('mutation ($input: [AddHubInput!]!) { addHub(input: $input) { numUids } }', {
    input: [{ key: 'hub', spokes: input.map(({ key }) => ({ key })), itself: { key: 'hub' } }],
  });
});

/** Whenever it is asked, somebody else should have had a turn already. */
function alwaysLate(): Clock {
  let now = 0;
  return { ...systemClock, wall: () => systemClock.wall(), monotonic: () => (now += 10) };
}

/** How many turns of the event loop others had. */
async function turnsOf(query: string, variables?: object): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await world.data(query, variables);
  isOver = true;
  return turns;
}

/** The same at rest: a machine that is busy with something else adds some. */
async function fewestTurnsOf(query: string): Promise<number> {
  const turns = [await turnsOf(query), await turnsOf(query), await turnsOf(query)];
  return Math.min(...turns);
}

it('lets others have their turn while many values are aggregated', async () => {
  const many = Array.from({ length: 50 }, (_, i) => `a${i}: nMax`).join(' ');
  const one = await fewestTurnsOf('{ aggregateP { nMax } }');
  expect(await turnsOf(`{ aggregateP { ${many} } }`)).toBeGreaterThan(one + 49 * 2);
});

it('lets others have their turn while a long list is written', async () => {
  const few = await fewestTurnsOf('{ queryP(first: 250) { key } }');
  expect(await turnsOf('{ queryP { key } }')).toBeGreaterThan(few + 2);
});

it('lets others have their turn while the lists under one node are written', async () => {
  const hub = (fields: string): string => `{ getHub(key: "hub") { ${fields} } }`;
  const few = await fewestTurnsOf(hub('spokes(first: 250) { key }'));
  expect(await turnsOf(hub('spokes { key }'))).toBeGreaterThan(few + 2);
  expect(await turnsOf(hub('itself { spokes { key } }'))).toBeGreaterThan(few + 2);
});

it('lets others have their turn between many root fields', async () => {
  const roots = (count: number, field: (i: number) => string): string =>
    `{ ${Array.from({ length: count }, (_, i) => `a${i}: ${field(i)}`).join(' ')} }`;
  const few = await fewestTurnsOf(roots(60, () => '__typename'));
  expect(await turnsOf(roots(200, () => '__typename'))).toBeGreaterThan(few + 2);
  const answer = await world.data(roots(70, (i) => `getP(key: "k${i}") { n }`));
  expect(Object.entries(answer)).toEqual(Array.from({ length: 70 }, (_, n) => [`a${n}`, { n }]));
});

it('lets others have their turn while a payload is written', async () => {
  const update = (payload: string): string =>
    `mutation { updateP(input: { filter: {}, set: { missing: "x" } }) { ${payload} } }`;
  const few = await fewestTurnsOf(update('p(first: 250) { key }'));
  expect(await turnsOf(update('p { key }'))).toBeGreaterThan(few + 1);
});

it('lets others have their turn while a large change is worked out', async () => {
  const add = (count: number): Promise<number> => {
    const of = Array.from({ length: count }, (_, i) => ({ key: String(i) }));
    const text = 'mutation ($input: [AddCrowdInput!]!) { addCrowd(input: $input) { numUids } }';
    return turnsOf(text, { input: [{ key: String(count), of }] });
  };
  const few = [await add(50), await add(51), await add(52)];
  expect(await add(NODES)).toBeGreaterThan(Math.min(...few) + 12);
});

it('writes what stands under the nodes of a long list as it does alone', async () => {
  const fields = 'key spokes(order: { asc: n }) { key missing } itself { key } spokesAggregate { count nSum }';
  const alone = await world.data(`{ getHub(key: "hub") { ${fields} } }`);
  const [few] = (await world.data(`{ queryHub { ${fields.replace('order:', 'first: 2, order:')} } }`)).queryHub;
  expect(alone.getHub.spokes).toHaveLength(NODES);
  expect({ ...alone.getHub, spokes: alone.getHub.spokes.slice(0, 2) }).toEqual(few);
  expect((await world.data(`{ queryHub { ${fields} } }`)).queryHub).toEqual([alone.getHub]);
});

it('aggregates many values as it does few', async () => {
  const { aggregateP } = await world.data('{ aggregateP { count nMin nMax nSum nAvg fSum fMax keyMin keyMax } }');
  expect(aggregateP).toEqual({
    count: NODES,
    nMin: 0,
    nMax: NODES - 1,
    nSum: (NODES * (NODES - 1)) / 2,
    nAvg: (NODES - 1) / 2,
    fSum: (NODES * (NODES - 1)) / 4,
    fMax: (NODES - 1) / 2,
    keyMin: 'k0',
    keyMax: 'k999',
  });
  const { body } = await world.api.execute({ query: '{ aggregateP { bigSum } }' }, contextOf());
  expect(body.toString()).toContain(`"bigSum":${9_007_199_254_740_993n * BigInt(NODES)}`);
});

it('puts long lists beside other fields, in the order asked for', async () => {
  const data = await world.data('{ all: queryP(order: {asc: n}) { n } two: queryP(first: 2, order: {desc: n}) { n } }');
  expect(Object.keys(data)).toEqual(['all', 'two']);
  expect(data.all.map(({ n }: Tree) => Number(n))).toEqual(Array.from({ length: NODES }, (_, i) => i));
  expect(data.two).toEqual([{ n: NODES - 1 }, { n: NODES - 2 }]);
});

it('makes an item of a long list null that lacks what it must have, and says which', async () => {
  const strict = await createWorld('type Q { n: Int! @id needed: String }');
  const input = Array.from({ length: NODES }, (_, n) => (n === 600 ? { n } : { n, needed: 'x' }));
  await strict.data('mutation ($input: [AddQInput!]!) { addQ(input: $input) { numUids } }', { input });
  await strict.api.updateSchema('type Q { n: Int! @id needed: String! }');
  const { data, errors } = await strict.ask('{ queryQ { n needed } }');
  expect(errors?.map(({ path }) => path)).toEqual([['queryQ', 600, 'needed']]);
  expect(data?.queryQ[600]).toBeNull();
  expect(data?.queryQ[601]).toEqual({ n: 601, needed: 'x' });
});
