import { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { type Clock, JsonWriter, makeLimits, systemClock } from '../../base/index.js';
import { contextOf, createWorld, type Tree, type World } from '../../../test/support/api-world.js';
import type { Operation } from '../operation.js';
import { Ahead } from './ahead.js';
import { writtenAhead } from './written-ahead.js';

const NODES = 1_000;
let world: World;
beforeAll(async () => {
  const sdl = `
    type P { key: String! @id n: Int @search big: Int64 f: Float missing: String }
    type Crowd { key: String! @id of: [One] }
    type One { key: String! crowd: Crowd }
    type Hub { key: String! @id spokes: [P] itself: Hub }
  `;
  world = await createWorld(sdl, { clock: alwaysLate(), operations: [rows, page, wide] });
  const input = Array.from({ length: NODES }, (_, i) => ({ key: `k${i}`, n: i, big: '9007199254740993', f: i / 2 }));
  await world.data('mutation ($input: [AddPInput!]!) { addP(input: $input) { numUids } }', { input });
  await world.data('mutation ($input: [AddHubInput!]!) { addHub(input: $input) { numUids } }', {
    input: [{ key: 'hub', spokes: input.map(({ key }) => ({ key })), itself: { key: 'hub' } }],
  });
});

const Row = new GraphQLObjectType({ name: 'Row', fields: { n: { type: GraphQLInt } } });
const Rows = new GraphQLList(Row);
const Page = new GraphQLObjectType({ name: 'Page', fields: { rows: { type: Rows } } });
const counted = { kind: 'query', args: { count: { type: new GraphQLNonNull(GraphQLInt) } } } as const;
const rowsOf = ({ count }: Readonly<Record<string, unknown>>) =>
  Array.from({ length: Number(count) }, (_, n) => ({ n }));
const rows: Operation = { ...counted, name: 'rows', type: Rows, run: async (args) => rowsOf(args) };
const page: Operation = { ...counted, name: 'page', type: Page, run: async (args) => ({ rows: rowsOf(args) }) };
/** more members than a call can have arguments */
const wide: Operation = {
  ...counted,
  name: 'wide',
  type: Page,
  run: async (args) => ({ ...Array.from({ length: 200_000 }, () => 0), rows: rowsOf(args) }),
};

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
  const turns: number[] = [];
  while (turns.length < 6) turns.push(await turnsOf(query));
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

it('lets others have their turn while the schema is introspected, however often a document asks for it', async () => {
  const asked = (count: number): string =>
    Array.from({ length: count }, (_, i) => `a${i}: types { fields { name } }`).join(' ');
  const one = await fewestTurnsOf(`{ __schema { ${asked(1)} } }`);
  expect(await turnsOf(`{ __schema { ${asked(80)} } }`)).toBeGreaterThan(one + 40);
});

it.each([
  ['a list', 'rows', ''],
  ['a list that an object holds', 'page', 'rows '],
])('lets others have their turn while what a function returned is written: %s', async (_, name, inside) => {
  const aliased = (query: string) => (inside ? query.replace('{ n }', '{ rows { n } }') : query);
  const few = await fewestTurnsOf(aliased(`{ ${name}(count: 500) { n } }`));
  expect(await turnsOf(aliased(`{ ${name}(count: 900) { n } }`))).toBeGreaterThan(few + 300);
});

it('writes what a function returned however many members it has', async () => {
  expect(await world.data('{ wide(count: 1) { rows { n } } }')).toEqual({ wide: { rows: [{ n: 0 }] } });
});

it('lets others have their turn while a payload is written', async () => {
  const update = (payload: string): string =>
    `mutation { updateP(input: { filter: {}, set: { missing: "x" } }) { ${payload} } }`;
  const few = await fewestTurnsOf(update('p(first: 250) { key }'));
  expect(await turnsOf(update('a: p { key } b: p { key } c: p { key }'))).toBeGreaterThan(few + 3);
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

it('gives what is written side by side the room of one answer', async () => {
  const limits = makeLimits({ answerBytes: 100_000 });
  const ahead = new Ahead({}, limits);
  const request = { engine: { limits }, run: {}, ahead } as unknown as Parameters<typeof writtenAhead>[0];
  const chunk = 'x'.repeat(1_000);
  let chunks = 0;
  const parts = Array.from({ length: 20 }, () =>
    writtenAhead(request, function* (out) {
      for (let i = 0; i < 90; i++) {
        yield;
        out.ascii(chunk);
        chunks++;
      }
      return true;
    }),
  );
  const [, ...others] = await Promise.all(parts);
  for (const { write } of others) expect(() => write(new JsonWriter())).toThrow(/answer exceeds/);
  expect(chunks).toBeLessThan(100 + 2 * parts.length);
});
