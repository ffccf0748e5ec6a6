import { beforeAll, describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../../test/support/api-world.js';
import { defaultNames as names, makeLimits, systemClock as clock } from '../../base/index.js';
import type { HttpClient } from '../../outbound/index.js';
import { createCustomLogic } from '../custom/index.js';
import { runCustomDql } from './custom-dql.js';

const SDL = `
  interface Beast { id: ID! name: String! @id }
  type Bear implements Beast @dgraph(type: "ursus") { den: Point weight: Int64 }
  type Owl implements Beast { call: String @dgraph(pred: "call@fr") range: Polygon marks: [String] far: [Bear] spots: String @custom(http: {url: "http://a.example/$id", method: GET}) }
  union Any = Bear | Owl
  type Census @remote { far: [Int64!] none: [Int] }
  type Sums @remote { label: String most: Int64 least: Int64 parts: [Sums!] }
  type Grouped @remote { label: String groups: [Sums!] @remoteResponse(name: "@groupby") parts: [Grouped!] }
  type Query {
    beasts: [Beast] @custom(dql: "{ beasts(func: type(Beast), orderasc: Beast.name) { service.type id: uid name: Beast.name den: ursus.den weight: ursus.weight range: Owl.range far: Owl.far { den: ursus.den } } }")
    one: Any @custom(dql: "{ one(func: type(ursus)) { service.type name: Beast.name } }")
    plain: [Owl] @custom(dql: "{ plain(func: type(Owl)) { uid Beast.name call@fr Owl.far { uid ursus.den } } }")
    total: Int! @custom(dql: "{ total(func: type(Beast)) { count(uid) } }")
    names: [String!] @custom(dql: "{ names(func: type(Beast), orderasc: Beast.name) { Beast.name } }")
    marks: [String] @custom(dql: "{ marks(func: type(Owl)) { Owl.marks } }")
    both: String @custom(dql: "{ both(func: type(Owl)) { Beast.name call@fr } }")
    census: Census @custom(dql: "{ census(func: type(Owl)) { far: Owl.far { ursus.weight } } }")
    sums: Sums @custom(dql: "{ var(func: type(ursus)) { w as ursus.weight n as Beast.name } sums() { most: max(val(w)) least: min(val(w)) label: min(val(n)) } }")
    each: [Sums!] @custom(dql: "{ var(func: type(ursus)) { w as ursus.weight } each() { most: max(val(w)) least: min(val(w)) } }")
    groups: [Sums!] @custom(dql: "{ groups(func: type(Beast)) @groupby(label: Beast.name) { most: count(uid) } }")
    below: [Sums!] @custom(dql: "{ below(func: type(Owl)) { label: Beast.name parts: Owl.far @groupby(label: Beast.name) { most: count(uid) } } }")
    around: [Grouped!] @custom(dql: "{ around(func: type(Beast)) @groupby(label: Beast.name) { most: count(uid) } }")
    aroundOne: Grouped @custom(dql: "{ aroundOne(func: type(Beast)) @groupby(label: Beast.name) { most: count(uid) } }")
    aroundBelow: [Grouped!] @custom(dql: "{ aroundBelow(func: type(Owl)) { label: Beast.name parts: Owl.far @groupby(label: Beast.name) { most: count(uid) } } }")
    bare: [Beast] @custom(dql: "{ bare(func: type(Beast), orderasc: Beast.name) { name: Beast.name } }")
  }`;

describe('what custom queries in the graph language answer', () => {
  let world: World;
  const limits = makeLimits();

  beforeAll(async () => {
    const runDql: NonNullable<Parameters<typeof createCustomLogic>[0]['runDql']> = (text, call) =>
      runCustomDql(text, call, { names, clock, limits });
    world = await createWorld(SDL, { custom: createCustomLogic({ client: {} as HttpClient, limits, runDql }) });
    await world.data(`mutation {
      addBear(input: [{name: "a", den: {longitude: 2, latitude: 1}, weight: "9007199254740993"}]) { numUids }
      addOwl(input: [{name: "b", call: "hou", marks: ["x", "y"], far: [{name: "a"}], range: {coordinates: [{points: [
        {longitude: 0, latitude: 0}, {longitude: 1, latitude: 0}, {longitude: 1, latitude: 1}, {longitude: 0, latitude: 0}]}]}}]) { numUids }
    }`);
  });

  it('takes the one value of each node for a scalar', async () => {
    const answer = await world.data('{ total names marks census { far none } }');
    expect(answer).toEqual({
      total: 2,
      names: ['a', 'b'],
      marks: expect.arrayContaining(['x', 'y']),
      census: { far: [Number('9007199254740993')], none: [] },
    });
    const { errors } = await world.ask('{ both }');
    expect(errors).toMatchObject([{ path: ['both'], extensions: { code: 'INVALID_VALUE' } }]);
  });

  it('gives aggregates as one object, and groups as the items of a list', async () => {
    const { sums, each, groups, below } = await world.data(
      '{ sums { most least label } each { most least } groups { label most } below { label parts { label most } } }',
    );
    const weight = Number('9007199254740993');
    expect(sums).toEqual({ most: weight, least: weight, label: 'a' });
    expect(each).toEqual([
      { most: weight, least: null },
      { most: null, least: weight },
    ]);
    expect(groups).toEqual([
      { label: 'a', most: 1 },
      { label: 'b', most: 1 },
    ]);
    expect(below).toEqual([{ label: 'b', parts: [{ label: 'a', most: 1 }] }]);
  });

  it('keeps the object around groups where the type names its key', async () => {
    const { around, aroundOne, aroundBelow } = await world.data(`{
      around { groups { label most } }
      aroundOne { groups { label most } }
      aroundBelow { label groups { most } parts { groups { label most } } } }`);
    const groups = [
      { label: 'a', most: 1 },
      { label: 'b', most: 1 },
    ];
    expect(around).toEqual([{ groups }]);
    expect(aroundOne).toEqual({ groups });
    expect(aroundBelow).toEqual([{ label: 'b', groups: [], parts: [{ groups: [groups[0]] }] }]);
  });

  it('shows places as the generated types do, at any depth', async () => {
    const { beasts } = await world.data(
      '{ beasts { ... on Bear { den { latitude longitude } } ... on Owl { range { coordinates { points { longitude } } } far { den { latitude } } } } }',
    );
    expect(beasts).toEqual([
      { den: { latitude: 1, longitude: 2 } },
      {
        range: { coordinates: [{ points: [0, 1, 1, 0].map((longitude) => ({ longitude })) }] },
        far: [{ den: { latitude: 1 } }],
      },
    ]);
  });

  it('tells the types of an interface and of a union apart by the stored types that were asked for', async () => {
    const { beasts, one } = await world.data('{ beasts { __typename name } one { __typename ... on Beast { name } } }');
    expect(beasts.map((beast) => beast.__typename)).toEqual(['Bear', 'Owl']);
    expect(one).toEqual({ __typename: 'Bear', name: 'a' });
  });

  it("needs no type for an interface's own fields, and misses it for others", async () => {
    const { bare } = await world.data('{ bare { ... { ...own } } } fragment own on Beast { name }');
    expect(bare).toEqual([{ name: 'a' }, { name: 'b' }]);
    for (const asked of ['__typename', '... on Owl { name }']) {
      const { data, errors } = await world.ask(`{ bare { name ${asked} } }`);
      expect(data).toEqual({ bare: [null, null] });
      expect(errors?.map((error) => error.extensions.code)).toEqual(['REMOTE_REPLY', 'REMOTE_REPLY']);
    }
  });

  it('finds what has no alias by its predicate, at any depth', async () => {
    const { plain } = await world.data('{ plain { id name call far { id den { latitude } } } }');
    expect(plain).toEqual([
      {
        id: expect.stringMatching(/^0x/),
        name: 'b',
        call: 'hou',
        far: [{ id: expect.stringMatching(/^0x/), den: { latitude: 1 } }],
      },
    ]);
  });

  it('keeps every digit of a long integer', async () => {
    const { body } = await world.api.execute(
      { query: '{ beasts { ... on Bear { weight } } }' },
      { requestId: 'r', headers: {}, signal: new AbortController().signal, extensions: {} },
    );
    expect(body.toString()).toContain('"weight":9007199254740993');
  });
});
