import { buildClientSchema, executeSync, getIntrospectionQuery, type IntrospectionQuery, parse } from 'graphql';
import { expect, it } from 'vitest';
import { createWorld } from '../../../test/support/api-world.js';

const SDL = `
  "a port, « named »" type Port { id: ID! name: String! @id kind: Kind @default(add: {value: "SEA"}) ships: [Ship!] @hasInverse(field: port) old: Int @deprecated(reason: "gone") }
  enum Kind { SEA RIVER @deprecated }
  interface Vessel { id: ID! port: Port }
  type Ship implements Vessel { length: Float @search }
  union Any = Port | Ship
  type Log { id: ID! about: [Any] }
`;

const WHOLE = getIntrospectionQuery({ specifiedByUrl: true, schemaDescription: true, inputValueDeprecation: true });

it.each([
  ['the whole, as tools ask for it', WHOLE, {}],
  [
    'one type, by a variable',
    'query ($n: String!) { a: __type(name: $n) { __typename name ...F } b: __type(name: "No") { name } } fragment F on __Type { fields(includeDeprecated: true) { name isDeprecated } again: fields { deprecationReason } }',
    { n: 'Port' },
  ],
  [
    'what is left out',
    'query ($no: Boolean = false) { __schema { queryType { name kind @skip(if: true) } types @include(if: $no) { name } } }',
    {},
  ],
])('introspection says what graphql-js says of the schema: %s', async (_, query, variables) => {
  const world = await createWorld(SDL);
  const { __schema: whole } = await world.data(WHOLE);
  const schema = buildClientSchema({ __schema: whole } as unknown as IntrospectionQuery);
  const expected = executeSync({ schema, document: parse(query), variableValues: variables }).data;
  for (const time of ['first', 'again'])
    expect([time, await world.data(query, variables)]).toEqual([time, { ...expected }]);
});

it('introspection tells defaults past 2^53, as the printed definitions do', async () => {
  const world = await createWorld(`type Query {
    near(from: Int64 = -9007199254740993, to: Int64 = 7): String @custom(http: {url: "http://127.0.0.1:9/?from=$from&to=$to", method: GET})
  }`);
  const { __type } = await world.data('{ __type(name: "Query") { fields { name args { name defaultValue } } } }');
  expect(__type.fields.find(({ name }) => `${name}` === 'near')?.args).toEqual([
    { name: 'from', defaultValue: '"-9007199254740993"' },
    { name: 'to', defaultValue: '7' },
  ]);
  expect(world.api.current()?.generated).toContain('near(from: Int64 = "-9007199254740993", to: Int64 = 7)');
});

const aliased = (count: number, of: string) => Array.from({ length: count }, (_, i) => `a${i}: ${of}`).join(' ');
const TYPES = 'types { name fields { name args { name } } }';

it('introspection is held to the bytes of an answer', async () => {
  const world = await createWorld(SDL, { limits: { answerBytes: 100_000 } });
  expect((await world.ask(`{ __schema { ${TYPES} } }`)).errors).toBeUndefined();
  const answer = await world.ask(`{ __schema { ${aliased(40, TYPES)} } }`);
  expect(answer.errors?.[0].extensions.code).toBe('LIMIT_EXCEEDED');
  expect((await world.ask('{ __typename }')).errors).toBeUndefined();
});
