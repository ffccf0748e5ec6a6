import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultNames, dgraphNames } from '../../base/index.js';
import { readModel } from '../../sdl/index.js';
import { checkRemotes } from './check-remote.js';
import { Remote } from '../../../test/custom-remote.js';

let remote: Remote;
beforeEach(async () => {
  remote = new Remote();
  await remote.start();
});
afterEach(() => remote.stop());

const THEIRS = `
  type Country { code: String  name: String!  states: [State] }
  type State { code: String }
  input CountryInput { code: String!  name: String  states: [StateInput!]  size: Int = 1 }
  input StateInput { code: String! }
  input UserInput { id: ID!  age: Int! }
  type Query {
    country(code: ID!, size: Int! = 1): Country!
    countries(filter: CountryInput!): [Country!]!
    names(users: [UserInput]): [String]
    numbers(ids: [Int]): [String]
  }`;
const OURS = `
  type Country @remote { code: String  name: String }
  input CountryInput { code: String!  states: [StateInput!] }
  input StateInput { code: String! }`;

const query = (field: string, graphql: string, more = ''): string =>
  `${OURS} type Query { ${field} @custom(http: { url: "REMOTE/graphql", method: POST, graphql: "${graphql}" ${more} }) }`;

async function mismatches(sdl: string, dgraph = false): Promise<string[]> {
  const { model } = remote.load(sdl, dgraph);
  const found = await checkRemotes(model, remote.client, dgraph ? dgraphNames : defaultNames);
  for (const error of found)
    expect(error).toMatchObject({ code: 'INVALID_SDL', position: { line: expect.any(Number) as number } });
  return found.map((error) => error.message.replace(/^@custom on [\w.]+: /, ''));
}

describe('definitions are compared with what their remotes offer', () => {
  beforeEach(() => remote.serve(THEIRS));

  it.each([
    ['an operation', query('one(id: ID!): Country!', 'query($id: ID!) { country(code: $id) }')],
    ['a nullable result', query('one(id: ID!): Country', 'query($id: ID!) { country(code: $id) }')],
    ['an input', query('many(in: CountryInput!): [Country!]', 'query($in: CountryInput!) { countries(filter: $in) }')],
  ])('%s that fits', async (_, sdl) => {
    expect(await mismatches(sdl)).toEqual([]);
  });

  it.each<[string, string, string[]]>([
    ['no such operation', query('a: Country', '{ land }'), ['the remote has no query land']],
    [
      'no mutations',
      `${OURS} type Query { b: Country @custom(http: { url: "REMOTE/b", method: GET }) }
       type Mutation { a: Country @custom(http: { url: "REMOTE/graphql", method: POST, graphql: "mutation { land }" }) }`,
      ['the remote has no mutations'],
    ],
    [
      'arguments',
      query('a(id: ID!): Country', 'query($id: ID!) { country(kode: $id) }'),
      ['country of the remote needs the argument code', 'country of the remote has no argument kode'],
    ],
    [
      'the type of an argument, and the result, at once',
      query('a(id: Int!): [Country]', 'query($id: Int!) { country(code: $id) }'),
      [
        "$id is Int!, but the remote's argument code is ID!",
        'country of the remote gives Country!, where [Country] is expected',
      ],
    ],
    [
      'fields of an input, nested',
      query('a(in: CountryInput!): [Country]', 'query($in: CountryInput!) { countries(filter: $in) }')
        .replace('input StateInput { code: String! }', 'input StateInput { code: Int!  more: Int }')
        .replace('input CountryInput { code: String!', 'input CountryInput { code: String '),
      [
        '$in: CountryInput.code does not fit CountryInput.code of the remote',
        '$in: StateInput.code does not fit StateInput.code of the remote',
        "$in: the remote's input StateInput has no field more",
      ],
    ],
    [
      'fields of a result',
      query('a(id: ID!): Country', 'query($id: ID!) { country(code: $id) }').replace(
        'name: String',
        'name: Int  flag: String',
      ),
      ['Country.name does not fit Country.name of the remote', "the remote's type Country has no field flag"],
    ],
    [
      'the name of the result',
      query('a(id: ID!): Land', 'query($id: ID!) { country(code: $id) }').concat(' type Land @remote { code: String }'),
      ['country of the remote gives Country!, where Land is expected'],
    ],
  ])('%s', async (_, sdl, expected) => {
    expect(await mismatches(sdl)).toEqual(expected);
  });

  describe('in what only a closer look finds', () => {
    const MORE = `
      enum Size { SMALL LARGE }
      input Box { size: Size!  count: Int = 1 }
      interface Thing { name: String }
      type Chair implements Thing { name: String  legs(of: Size!, more: Int): Int }
      type Table implements Thing { name: String }
      union Any = Chair | Table
      type Query { thing: Thing  any: Any  chair(size: Size, box: Box, sizes: [Size!]): Chair  boxes(in: [Box]): [String] }`;
    beforeEach(() => remote.serve(MORE));
    const chair = (text: string, more: string): string =>
      `${more} type Query { one: Chair @custom(http: { url: "REMOTE/graphql", method: POST, graphql: "${text}" }) }`;
    const CHAIR = 'type Chair @remote { name: String }';

    it.each<[string, string, string[]]>([
      [
        'arguments of fields that fit',
        chair('{ chair }', 'enum Size { SMALL } type Chair @remote { legs(of: Size!): Int }'),
        [],
      ],
      [
        'a needed argument of a field',
        chair('{ chair }', 'type Chair @remote { legs: Int }'),
        ['Chair.legs of the remote needs the argument of'],
      ],
      [
        'other arguments of a field',
        chair(
          '{ chair }',
          'enum Size { SMALL HUGE } type Chair @remote { legs(of: Size!, more: String, most: Int): Int }',
        ),
        [
          "the remote's enum Size has no value HUGE",
          "argument more of Chair.legs does not fit the remote's",
          'Chair.legs of the remote has no argument most',
        ],
      ],
      ['literals that fit', chair('{ chair(size: SMALL, box: { size: LARGE }, sizes: [SMALL]) }', CHAIR), []],
      [
        'literals',
        chair('{ chair(size: HUGE, box: { count: 2 }, sizes: [null]) }', CHAIR),
        [
          "HUGE is no Size, which the remote's argument size is",
          "{count: 2} is no Box, which the remote's argument box is",
          "[null] is no [Size!], which the remote's argument sizes is",
        ],
      ],
      [
        'values of an enum',
        `${CHAIR} enum Size { SMALL HUGE } type Query { one(size: Size): Chair
          @custom(http: { url: "REMOTE/graphql", method: POST, graphql: "query($size: Size) { chair(size: $size) }" }) }`,
        ["$size: the remote's enum Size has no value HUGE"],
      ],
      [
        'members of an interface and of a union',
        `interface Thing @remote { name: String } type Stool implements Thing @remote { height: Int }
         type Chair implements Thing @remote { back: Int } union Any @remote = Chair | Stool
         type Query { thing: Thing @custom(http: { url: "REMOTE/graphql", method: POST, graphql: "{ thing }" })
           any: Any @custom(http: { url: "REMOTE/graphql", method: POST, graphql: "{ any }" }) }`,
        [
          "the remote's Thing is never a Stool",
          "the remote's type Chair has no field back",
          "the remote's Any is never a Stool",
          "the remote's type Chair has no field back",
        ],
      ],
      [
        'what a batch sends',
        `type User { id: ID!  big: Boolean  boxed: String @custom(http: { url: "REMOTE/graphql", method: POST, mode: BATCH,
          graphql: "query($in: [Box]) { boxes(in: $in) }", body: "{ size: $id, count: $big }" }) }`,
        ["$big is Boolean, but count of the remote's input Box is Int"],
      ],
    ])('%s', async (_, sdl, expected) => {
      expect(await mismatches(sdl)).toEqual(expected);
      expect(await mismatches(sdl, true)).toEqual([]);
    });
  });

  it('asks each remote once, with its secrets', async () => {
    const both = `${query(
      'a(id: ID!): Country',
      'query($id: ID!) { country(code: $id) }',
      'introspectionHeaders: ["X-Key:key"]',
    ).replace(
      /}$/,
      'b(id: ID!): Country @custom(http: { url: "REMOTE/graphql", method: POST, graphql: "query($id: ID!) { country(code: $id) }", introspectionHeaders: ["X-Key:key"] }) }',
    )}\n# Service.Secret key "hidden"\n`;
    expect(await mismatches(both)).toEqual([]);
    expect(remote.received).toHaveLength(1);
    expect(remote.received[0].headers['x-key']).toBe('hidden');
  });

  it('asks nothing where introspection is skipped', async () => {
    expect(await mismatches(query('a: Country', '{ land }', 'skipIntrospection: true'))).toEqual([]);
    expect(remote.received).toEqual([]);
  });

  it('asks nothing with a secret whose variable is missing', async () => {
    const text = `${query('a: Country', '{ land }', 'introspectionHeaders: ["X-Key:key"]')}\n# Service.Secret key "{{KEY}}"`;
    const { model, errors } = readModel(text.replace('REMOTE', remote.base), {
      names: defaultNames,
      variables: { environment: {} },
    });
    expect(errors.map((error) => error.code)).toEqual(['MISSING_VARIABLE']);
    expect(model && (await checkRemotes(model, remote.client, defaultNames))).toEqual([]);
    expect(remote.received).toEqual([]);
  });

  it('tells what a remote says against being asked, without secrets', async () => {
    remote.answer = ({ headers }) => ({
      status: 400,
      json: { errors: [{ message: `no introspection for ${String(headers['x-key'])}` }] },
    });
    const text = `${query('a: Country', '{ land }', 'introspectionHeaders: ["X-Key:key"]')}\n# Service.Secret key "hidden"`;
    expect(await mismatches(text)).toEqual([
      `introspection failed: ${remote.base}/graphql did not answer introspection with a schema: no introspection for {{key}}`,
    ]);
  });

  it.each([
    { types: [null] },
    { types: [{ name: 'Query', fields: [{ name: 'land' }] }] },
    { types: [{ name: 'Query', fields: [{ name: 'land', args: null, type: { kind: 'SCALAR' } }] }] },
    {},
  ])('refuses an answer that is no schema: %j', async (more) => {
    remote.answer = () => ({ json: { data: { __schema: { queryType: { name: 'Query' }, ...more } } } });
    expect(await mismatches(query('a: Country', '{ land }'))).toEqual([
      expect.stringMatching(/did not answer introspection with a schema$/) as string,
    ]);
  });

  it('tells that a remote cannot be asked', async () => {
    remote.answer = () => ({ status: 500, text: 'no' });
    expect(await mismatches(query('a: Country', '{ land }'))).toEqual([
      expect.stringMatching(/^introspection failed: .*status 500/) as string,
    ]);
  });
});

describe('a batch', () => {
  beforeEach(() => remote.serve(THEIRS));
  const user = (graphql: string, body: string): string =>
    `type User { id: ID!  age: Int!  name: String @custom(http: { url: "REMOTE/graphql", method: POST, mode: BATCH,
      graphql: "${graphql}", body: "${body}" }) }`;

  it.each<[string, string, string[]]>([
    ['that fits', user('query($in: [UserInput]) { names(users: $in) }', '{ id: $id, age: $age }'), []],
    [
      'of something else than objects',
      user('query($in: [Int]) { numbers(ids: $in) }', '{ id: $id }'),
      ["BATCH sends a list of objects, but the remote's argument ids is [Int]"],
    ],
    [
      'with another body',
      user('query($in: [UserInput]) { names(users: $in) }', '{ id: $id, years: $age }'),
      [
        "the remote's input UserInput needs age, which the body lacks",
        "the body has years, which the remote's input UserInput lacks",
      ],
    ],
  ])('%s', async (_, sdl, expected) => {
    expect(await mismatches(sdl)).toEqual(expected);
  });

  it('may name either keys or variables under compatibility', async () => {
    remote.serve(THEIRS.replace('input UserInput { id: ID!', 'input UserInput { tid: ID!'));
    const sdl = user('query($in: [UserInput]) { names(users: $in) }', '{ id: $tid, age: $age }').replace(
      '{ id: ID!',
      '{ tid: ID!',
    );
    expect(await mismatches(sdl, true)).toEqual([]);
    expect(await mismatches(sdl)).toHaveLength(2);
  });
});
