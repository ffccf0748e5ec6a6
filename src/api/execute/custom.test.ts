import { describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../../test/support/api-world.js';
import { defaultNames, dgraphNames } from '../../base/index.js';
import type { CustomFieldCall, CustomLogic, CustomResult, CustomRootCall } from './custom-logic.js';

const SDL = `
  type Star { id: ID! name: String! @id mass: Float
    spectrum: String @custom(http: {url: "http://sky.example/$name", method: GET})
    planets: [Planet] @custom(http: {url: "http://sky.example/planets?of=$id&m=$mass", method: GET})
    twin: Star @custom(http: {url: "http://sky.example/twin/$name", method: GET})
    near: [Star] }
  type Planet @remote { name: String! radius: Int moons: [Moon!] }
  type Moon @remote { name: String! cold: Boolean }
  type Query {
    planet(name: String!): Planet @custom(http: {url: "http://sky.example/planet/$name", method: GET})
    planets: [Planet] @custom(http: {url: "http://sky.example/planets", method: GET})
    brightest: Star @custom(http: {url: "http://sky.example/brightest", method: GET})
  }
  type Mutation {
    name(it: String!): Planet @custom(http: {url: "http://sky.example/name/$it", method: PUT})
  }
`;

/** Custom logic that answers from two functions and remembers what it was asked. */
class Sky implements CustomLogic {
  readonly asked: (CustomFieldCall | CustomRootCall)[] = [];
  rootAnswer: (call: CustomRootCall) => CustomResult = () => ({ value: null, errors: [] });
  fieldAnswer: (parent: Readonly<Record<string, unknown>>, call: CustomFieldCall) => CustomResult = () => ({
    value: null,
    errors: [],
  });

  async root(call: CustomRootCall): Promise<CustomResult> {
    this.asked.push(call);
    return this.rootAnswer(call);
  }

  async fields(call: CustomFieldCall): Promise<readonly CustomResult[]> {
    this.asked.push(call);
    return call.parents.map((parent) => this.fieldAnswer(parent, call));
  }
}

async function observe(names = defaultNames): Promise<{ sky: Sky; world: World }> {
  const sky = new Sky();
  const world = await createWorld(SDL, { custom: sky, names });
  await world.data(
    'mutation { addStar(input: [{name: "Sol", mass: 1, near: [{name: "Tau", mass: 0.8}]}, {name: "Dim"}]) { numUids } }',
  );
  return { sky, world };
}

describe('custom fields', () => {
  it('of a mutation that was tried again hold up no other one', async () => {
    const sky = new Sky();
    const world = await createWorld(SDL, { custom: sky });
    const many = 8;
    let arrived = 0;
    let release: () => void = () => undefined;
    const all = new Promise<void>((done) => {
      release = done;
    });
    sky.fields = async ({ parents }) => {
      if (++arrived === many) release();
      await all;
      return parents.map(() => ({ value: 'G', errors: [] }));
    };
    // all want the same key, so that all but one run again
    const text = 'mutation { addStar(input: [{name: "Sol"}], upsert: true) { star { spectrum } } }';
    const answers = await Promise.all(Array.from({ length: many }, () => world.data(text)));
    expect(answers).toEqual(Array.from({ length: many }, () => ({ addStar: { star: [{ spectrum: 'G' }] } })));
  });

  it('are asked once a field, with the siblings that they need', async () => {
    const { sky, world } = await observe();
    sky.fieldAnswer = (parent, { field }) =>
      field.name === 'spectrum'
        ? { value: `of ${String(parent.name)}`, errors: [] }
        : { value: [{ name: 'p', radius: '7' }], errors: [] };
    const { queryStar } = await world.data(
      '{ queryStar(order: {asc: name}) { spectrum planets { radius } near { s: spectrum } } }',
    );
    expect(queryStar).toEqual([
      { spectrum: 'of Dim', planets: [{ radius: 7 }], near: [] },
      { spectrum: 'of Sol', planets: [{ radius: 7 }], near: [{ s: 'of Tau' }] },
      { spectrum: 'of Tau', planets: [{ radius: 7 }], near: [] },
    ]);
    expect(sky.asked).toHaveLength(3);
    const needs = sky.asked.find((call) => call.field.name === 'planets') as CustomFieldCall;
    expect(needs.parents.map((parent) => parent.mass)).toEqual([1, 0.8, undefined]);
    expect(needs.parents.every((parent) => /^0x/.test(String(parent.id)))).toBe(true);
  });

  it('are null where their call failed; their siblings stay', async () => {
    const { sky, world } = await observe();
    sky.fieldAnswer = (parent) =>
      parent.name === 'Sol' ? { value: null, errors: [{ message: 'clouds' }] } : { value: 'G', errors: [] };
    const answer = await world.ask('{ queryStar(order: {asc: name}, first: 2) { name spectrum } }');
    expect(answer.data?.queryStar).toEqual([
      { name: 'Dim', spectrum: 'G' },
      { name: 'Sol', spectrum: null },
    ]);
    expect(answer.errors).toMatchObject([{ message: 'clouds', path: ['queryStar', 1, 'spectrum'] }]);
  });

  it.each([defaultNames, dgraphNames])('are null, lists too, where one call for all of them failed', async (names) => {
    const { sky, world } = await observe(names);
    sky.fieldAnswer = (parent) => ({
      value: null,
      errors: parent.mass === undefined ? [{ message: 'clouds' }] : [],
      alsoFailed: true,
    });
    const { data, errors } = await world.ask('{ queryStar(order: {asc: name}, first: 2) { planets { name } } }');
    expect(data?.queryStar).toEqual([{ planets: null }, { planets: null }]);
    expect(errors).toMatchObject([{ message: 'clouds', path: ['queryStar', 0, 'planets'] }]);
  });

  it('are answered in stages inside what custom fields returned, and fail at their own path', async () => {
    const { sky, world } = await observe();
    sky.fieldAnswer = (parent, { field }) => {
      if (field.name === 'twin') return { value: { name: `${String(parent.name)}'` }, errors: [] };
      return parent.name === "Tau''"
        ? { value: null, errors: [{ message: 'clouds' }] }
        : { value: `of ${String(parent.name)}`, errors: [] };
    };
    const { data, errors } = await world.ask(
      '{ queryStar(order: {asc: name}) { twin { ...of twin { ...of } } } } fragment of on Star { name spectrum }',
    );
    expect(data?.queryStar[1]).toEqual({
      twin: { name: "Sol'", spectrum: "of Sol'", twin: { name: "Sol''", spectrum: "of Sol''" } },
    });
    expect(data?.queryStar[2].twin.twin).toEqual({ name: "Tau''", spectrum: null });
    expect(errors).toMatchObject([{ message: 'clouds', path: ['queryStar', 2, 'twin', 'twin', 'spectrum'] }]);
    expect(sky.asked).toHaveLength(4);
  });

  it('are answered inside what a custom query returned', async () => {
    const { sky, world } = await observe();
    sky.rootAnswer = () => ({ value: { id: '0x5', name: 'Vega', extra: 1 }, errors: [] });
    sky.fieldAnswer = (parent) => ({ value: `A of ${String(parent.name)}`, errors: [] });
    expect((await world.data('{ brightest { name spectrum } }')).brightest).toEqual({
      name: 'Vega',
      spectrum: 'A of Vega',
    });
  });
});

describe('custom mutations', () => {
  const TWO =
    'mutation { a: name(it: "x") { name } b: addStar(input: [{name: "x"}]) { numUids } c: name(it: "y") { name } }';

  it('counts nothing of what was not read from the store, and says so', async () => {
    const { sky, world } = await observe();
    sky.rootAnswer = () => ({ value: { name: 'Sol', near: [{ name: 'Tau' }] }, errors: [] });
    const text = '{ brightest { name near { many: nearAggregate { count } } } }';
    const { data, errors } = await world.ask(text);
    expect(data).toEqual({ brightest: { name: 'Sol', near: [{ many: null }] } });
    expect(errors).toEqual([
      {
        message: 'nearAggregate is counted from stored nodes, and this object was not read from the store',
        path: ['brightest', 'near', 0, 'many'],
        locations: [{ line: 1, column: 27 }],
        extensions: {
          code: 'REMOTE_REPLY',
          fix: 'Ask for near and count what comes, or query the stored node by its key.',
        },
      },
    ]);
    // a remote that counts by itself is believed
    sky.rootAnswer = () => ({ value: { name: 'Sol', near: [{ nearAggregate: { count: 3 } }] }, errors: [] });
    expect(await world.data(text)).toEqual({ brightest: { name: 'Sol', near: [{ many: { count: 3 } }] } });
  });

  it('end what follows them in a request when nothing came of them', async () => {
    const { sky, world } = await observe();
    sky.rootAnswer = () => ({ value: null, errors: [{ message: 'clouds' }] });
    const answer = await world.ask(TWO);
    expect(answer.data).toEqual({ a: null, b: null, c: null });
    expect(answer.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['a'], 'REMOTE_FAILED'],
      [['b'], 'NOT_EXECUTED'],
      [['c'], 'NOT_EXECUTED'],
    ]);
    expect(sky.asked).toHaveLength(1);
  });

  it('go on after one whose remote gave a value beside its errors, or null without any', async () => {
    const { sky, world } = await observe();
    const answers: CustomResult[] = [
      { value: { name: 'x' }, errors: [{ message: 'clouds' }] },
      { value: null, errors: [] },
    ];
    sky.rootAnswer = () => answers.shift() as CustomResult;
    expect((await world.ask(TWO)).data).toEqual({ a: { name: 'x' }, b: { numUids: 1 }, c: null });
  });
});

describe('custom queries', () => {
  it('are completed by their types, with aliases and without what was not asked', async () => {
    const { sky, world } = await observe();
    sky.rootAnswer = ({ args }) => ({
      value: { name: args.name, radius: 3, moons: [{ name: 'm', cold: 0 }], more: true },
      errors: [],
    });
    expect((await world.data('{ it: planet(name: "X") { who: name moons { name cold } } }')).it).toEqual({
      who: 'X',
      moons: [{ name: 'm', cold: false }],
    });
  });

  it('propagate what is missing or of another shape', async () => {
    const { sky, world } = await observe();
    const answerTo = async (value: unknown) => {
      sky.rootAnswer = () => ({ value, errors: [] });
      return world.ask('{ planets { name radius moons { name } } }');
    };
    expect((await answerTo([{ radius: 1 }, { name: 'b' }])).data).toEqual({
      planets: [null, { name: 'b', radius: null, moons: null }],
    });
    const moonless = await answerTo([{ name: 'a', moons: [{ name: 'm' }, {}] }]);
    expect(moonless.data).toEqual({ planets: [{ name: 'a', radius: null, moons: null }] });
    expect(moonless.errors).toMatchObject([{ path: ['planets', 0, 'moons', 1, 'name'] }]);
    const one = await answerTo({ name: 'a' });
    expect(one).toMatchObject({
      data: { planets: null },
      errors: [{ message: expect.stringMatching(/one item .* list was expected/) }],
    });
    const wrong = await answerTo([{ name: 'a', radius: 'wide' }]);
    expect(wrong.data).toEqual({ planets: [{ name: 'a', radius: null, moons: null }] });
    expect(wrong.errors).toMatchObject([
      { path: ['planets', 0, 'radius'], message: expect.stringMatching(/'wide' .* Int/) },
    ]);
    expect((await answerTo(null)).data).toEqual({ planets: null });
  });
});

describe('times of a reply', () => {
  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [253402300799, '9999-12-31T23:59:59Z'],
    ['2018-10-10', '2018-10-10T00:00:00Z'],
    [253402300800, null],
    [1e30, null],
    [2.5, null],
  ])('take seconds and texts of the years 0 to 9999: %j', async (value, expected) => {
    const sky = new Sky();
    sky.rootAnswer = () => ({ value: { at: value }, errors: [] });
    const world = await createWorld(
      `type Dawn @remote { at: DateTime }
       type Query { dawn: Dawn @custom(http: {url: "http://sky.example/dawn", method: GET}) }`,
      { custom: sky },
    );
    const { data, errors } = await world.ask('{ dawn { at } }');
    expect(data).toEqual({ dawn: { at: expected } });
    expect(errors?.length ?? 0).toBe(expected === null ? 1 : 0);
  });
});

describe('custom fields of an entity', () => {
  const SHIP = `
    extend type Ship @key(fields: "id") { id: String! @id @external mass: Int @external tons: Int64 @external
      berth: String @search
      fee: Int @requires(fields: "mass tons")
        @custom(http: {url: "http://port.example/fee", method: POST, body: "{id: $id, mass: $mass, tons: $tons}"}) }`;
  const ASK = 'query Ask($all: [_Any!]!) { _entities(representations: $all) { ... on Ship { berth fee } } }';

  async function port(): Promise<{ sky: Sky; world: World }> {
    const sky = new Sky();
    sky.fieldAnswer = ({ mass }) => ({ value: typeof mass === 'number' ? mass * 2 : null, errors: [] });
    const world = await createWorld(SHIP, { custom: sky });
    await world.data('mutation { addShip(input: [{id: "a", berth: "A1"}, {id: "b"}]) { numUids } }');
    return { sky, world };
  }

  it('are told the fields that they require, as the gateway gives them', async () => {
    const { sky, world } = await port();
    const { _entities } = await world.data(ASK, {
      all: [
        { __typename: 'Ship', id: 'b', mass: 7 },
        { __typename: 'Ship', id: 'none', mass: 1 },
        { __typename: 'Ship', id: 'a', mass: 5, berth: 'elsewhere' },
      ],
    });
    expect(_entities).toEqual([{ berth: null, fee: 14 }, null, { berth: 'A1', fee: 10 }]);
    const { parents } = sky.asked[0] as CustomFieldCall;
    expect(parents).toEqual([
      { id: 'a', mass: 5 },
      { id: 'b', mass: 7 },
    ]);
    const literal = await world.data(
      '{ _entities(representations: [{__typename: "Ship", id: "a", mass: 4}]) { ... on Ship { fee } } }',
    );
    expect(literal._entities).toEqual([{ fee: 8 }]);
    expect((await world.data('{ queryShip(filter: {berth: {anyofterms: "A1"}}) { fee } }')).queryShip).toEqual([
      { fee: null },
    ]);
  });

  it('are told each what its own representation says, where two of one key differ', async () => {
    const { world } = await port();
    const all = [7, 5, 7].map((mass) => ({ __typename: 'Ship', id: 'a', mass, tons: '9007199254740993' }));
    const { _entities } = await world.data(ASK, { all: [...all, { __typename: 'Ship', id: 'b', mass: 1 }] });
    expect(_entities.map(({ fee }) => fee)).toEqual([14, 10, 14, 2]);
  });

  it('are not asked with a value of another type', async () => {
    const { sky, world } = await port();
    const answer = await world.ask(ASK, { all: [{ __typename: 'Ship', id: 'a', mass: { deep: 1 } }] });
    expect(answer.errors?.[0]).toMatchObject({
      message: expect.stringMatching(/a representation of Ship: mass: Int cannot represent/),
      extensions: { code: 'INVALID_GRAPHQL' },
    });
    expect(sky.asked).toEqual([]);
  });
});
