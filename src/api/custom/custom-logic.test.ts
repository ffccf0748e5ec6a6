import { parse, print } from 'graphql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../base/index.js';
import type { CustomLogic } from '../execute/custom-logic.js';
import { createCustomLogic } from './create.js';
import { fieldCall, Remote, rootCall } from '../../../test/custom-remote.js';

let remote: Remote;
let logic: CustomLogic;

beforeEach(async () => {
  remote = new Remote();
  await remote.start();
  logic = createCustomLogic({ client: remote.client, limits: DEFAULT_LIMITS });
});
afterEach(() => remote.stop());

const MOVIES = `
  type Movie @remote { id: ID!  name: String  directors: [Director] @remoteResponse(name: "made_by") }
  type Director @remote { id: ID!  name(lang: String, size: Int): String  alive: Boolean }
  type Query {
    movies(id: ID!, name: String, num: Int): [Movie] @custom(http: {
      url: "REMOTE/movies/$id?name=$name&num=$num", method: GET,
      forwardHeaders: ["X-App-Token:app", "X-User"], secretHeaders: ["Authorization:token"] })
    movie(id: ID!): Movie @custom(http: {
      url: "REMOTE/graphql", method: POST, skipIntrospection: true, graphql: "query($id: ID!) { film(key: $id) }" })
  }
  type Mutation {
    rename(id: ID!, name: String): Movie @custom(http: {
      url: "REMOTE/movies/$id", method: PATCH, body: "{ movie: { id: $id, name: $name } }" })
  }
  # Service.Secret token "very-hidden"
`;

describe('a custom query over REST', () => {
  it('sends url and headers by their templates, and nothing else that came in', async () => {
    remote.answer = () => ({ json: [{ id: 1, name: 'A', extra: true }] });
    const loaded = remote.load(MOVIES);
    const headers = { app: 'a-token', 'x-user': '7', authorization: 'Bearer client', cookie: 'c' };
    const result = await logic.root(rootCall(loaded, '{ movies { id } }', { id: 'a b', num: null }, headers));
    expect(result).toEqual({ value: [{ id: 1, name: 'A', extra: true }], errors: [] });
    const [sent] = remote.received;
    expect([sent.method, sent.url, sent.body]).toEqual(['GET', '/movies/a%20b?num=', undefined]);
    expect(sent.headers).toMatchObject({
      'x-app-token': 'a-token',
      'x-user': '7',
      authorization: 'very-hidden',
      'content-type': 'application/json',
    });
    expect(sent.headers).not.toHaveProperty('cookie');
  });

  it('fills the body: null stays, absent is left out', async () => {
    const loaded = remote.load(MOVIES);
    await logic.root(rootCall(loaded, 'mutation { rename { id } }', { id: '1', name: null }));
    await logic.root(rootCall(loaded, 'mutation { rename { id } }', { id: '1' }));
    expect(remote.received.map(({ method, body }) => [method, body])).toEqual([
      ['PATCH', { movie: { id: '1', name: null } }],
      ['PATCH', { movie: { id: '1' } }],
    ]);
  });

  it('passes on the errors of a failure, and names the field in its own', async () => {
    const loaded = remote.load(MOVIES);
    const told = { message: 'told', path: ['Movies', 'name'], locations: [{ line: 5, column: 4 }] };
    remote.answer = () => ({ status: 400, json: { errors: [told] } });
    expect(await logic.root(rootCall(loaded, '{ movies { id } }', { id: '1' }))).toEqual({
      value: null,
      errors: [{ ...told, absolute: true }],
    });
    remote.answer = () => ({ status: 404, text: 'nothing' });
    const [failure] = (await logic.root(rootCall(loaded, '{ movies { id } }', { id: '1' }))).errors;
    expect(failure.message).toBe('custom query movies failed: the remote answered with status 404');
    expect(failure.extensions).toMatchObject({ code: 'REMOTE_FAILED', remoteStatus: 404 });
    remote.answer = () => ({ text: '<html>' });
    expect((await logic.root(rootCall(loaded, '{ movies { id } }', { id: '1' }))).errors[0].extensions?.['code']).toBe(
      'REMOTE_REPLY',
    );
  });

  it('is not evaluated without what its path needs', async () => {
    const loaded = remote.load(MOVIES);
    expect(await logic.root(rootCall(loaded, '{ movies { id } }', {}))).toEqual({ value: undefined, errors: [] });
    expect(remote.received).toEqual([]);
  });

  it('refuses values that leave their place in the path', async () => {
    const { errors } = await logic.root(rootCall(remote.load(MOVIES), '{ movies { id } }', { id: '..' }));
    expect(errors[0].extensions?.['code']).toBe('INVALID_VALUE');
    expect(remote.received).toEqual([]);
  });
});

describe('a custom query over GraphQL', () => {
  const sentText = (): string => print(parse((remote.received[0].body as { query: string }).query));

  it("merges the client's selection into the given operation", async () => {
    remote.answer = () => ({ json: { data: { film: { id: '1', made_by: null } } } });
    const query = `query($size: Int) {
      a: movie { key: id ...F people: directors { n: name(size: $size, lang: "en") @include(if: true) } } }
      fragment F on Movie { directors { id alive @skip(if: true) } ... on Movie { id } }`;
    const result = await logic.root(rootCall(remote.load(MOVIES), query, { id: '1' }, {}, { size: 9 }));
    expect(result).toEqual({ value: { id: '1', made_by: null }, errors: [] });
    expect(sentText()).toBe(
      print(parse('query($id: ID!) { film(key: $id) { id made_by { id name(size: 9, lang: "en") } } }')),
    );
    expect((remote.received[0].body as { variables: unknown }).variables).toEqual({ id: '1' });
  });

  it('keeps the data beside the errors, whose paths become relative', async () => {
    const error = {
      message: 'half',
      path: ['film', 'name'],
      locations: [{ line: 1, column: 1 }],
      extensions: { a: 1 },
    };
    remote.answer = () => ({ json: { data: { film: { name: null } }, errors: [error] } });
    expect(await logic.root(rootCall(remote.load(MOVIES), '{ movie { name } }', { id: '1' }))).toEqual({
      value: { name: null },
      errors: [{ message: 'half', path: ['name'], extensions: { a: 1 } }],
    });
  });

  it('sends the defaults of our definitions for arguments that the client did not give', async () => {
    const films = MOVIES.replace(
      'lang: String, size: Int',
      'lang: String = "de", size: Int! = 7, tags: [String!] = ["x"]',
    );
    remote.answer = () => ({ json: { data: { film: {} } } });
    const query = 'query($none: String) { movie { directors { name(lang: $none, tags: null) } } }';
    await logic.root(rootCall(remote.load(films), query, { id: '1' }));
    expect(sentText()).toContain('name(tags: null, lang: "de", size: 7)');
  });

  it('sends the defaults of our inputs, however the client writes its value', async () => {
    const films = `${MOVIES.replace('alive: Boolean', 'alive(at: At): Boolean')} input At { year: Int = 7 in: [At!] }`;
    remote.answer = () => ({ json: { data: { film: {} } } });
    const query =
      'query($at: At) { movie { directors { a: alive(at: { in: [{ year: 1 }, {}] }) b: alive(at: $at) } } }';
    await logic.root(
      rootCall(remote.load(films), query, { id: '1' }, {}, { at: { in: [{ year: 1 }, { year: 7 }], year: 7 } }),
    );
    expect(sentText()).toContain('      alive(at: {year: 7, in: [{year: 1}, {year: 7}]})\n    }');
  });

  it('asks for one field with several arguments under aliases, each once', async () => {
    const films = MOVIES.replace('alive: Boolean', 'alive: Boolean name__2: Int');
    remote.answer = () => ({ json: { data: { film: {} } } });
    const query =
      '{ movie { directors { a: name(size: 1) b: name(size: 2) c: name(size: 1) d: name(size: 2) e: name } } }';
    await logic.root(rootCall(remote.load(films), query, { id: '1' }));
    expect(sentText()).toBe(
      print(
        parse(`query($id: ID!) { film(key: $id) { made_by {
          name(size: 1) name__2_: name(size: 2) name__3: name } } }`),
      ),
    );
  });
});

const USERS = `
  type Car @remote { id: ID!  name: String! }
  type User {
    id: ID!
    age: Int!
    city: String
    name: String @custom(http: { url: "REMOTE/name/$id?city=$city", method: GET })
    cars: [Car] @custom(http: { url: "REMOTE/cars", method: POST, mode: BATCH, body: "{ uid: $id, city: $city }" })
    car: Car @custom(http: { url: "REMOTE/graphql", method: POST, skipIntrospection: true,
      graphql: "query($id: ID!, $age: Int!) { car(id: $id, age: $age) }" })
    best: Car @custom(http: { url: "REMOTE/graphql", method: POST, skipIntrospection: true, mode: BATCH,
      graphql: "query($input: [UserInput]) { best(users: $input) }", body: "{ id: $id, age: $age }" })
  }
`;
const parents = [
  { id: '0x1', age: 1, city: 'Rome' },
  { id: '0x2', age: 2 },
  { id: '0x1', age: 1, city: 'Rome' },
  { id: '0x3' },
];

describe('a custom field', () => {
  it('is asked for once for each distinct parent', async () => {
    remote.answer = ({ url }) => ({ json: `at ${url}` });
    const results = await logic.fields(fieldCall(remote.load(USERS), 'User', '{ name }', parents));
    expect(results.map(({ value }) => value)).toEqual([
      'at /name/0x1?city=Rome',
      'at /name/0x2',
      'at /name/0x1?city=Rome',
      'at /name/0x3',
    ]);
    expect(remote.received).toHaveLength(3);
  });

  it('fails by itself: other parents are answered', async () => {
    remote.answer = ({ url }) => (url.includes('0x2') ? { status: 500, text: 'x' } : { json: 'ok' });
    const results = await logic.fields(fieldCall(remote.load(USERS), 'User', '{ name }', parents.slice(0, 2)));
    expect(results[0]).toEqual({ value: 'ok', errors: [] });
    expect(results[1].value).toBeNull();
    expect(results[1].errors[0].message).toMatch(/^custom field User.name failed/);
  });

  it('goes out at most so many times at once', async () => {
    let [now, most] = [0, 0];
    const client = {
      send: async () => {
        most = Math.max(most, ++now);
        await new Promise(setImmediate);
        now--;
        return { status: 200, body: Buffer.from('1') };
      },
      close: async () => {},
    };
    const many = Array.from({ length: 20 }, (_, i) => ({ id: `0x${i}` }));
    const limited = createCustomLogic({ client, limits: { outboundConcurrency: 3 } });
    expect(await limited.fields(fieldCall(remote.load(USERS), 'User', '{ name }', many))).toHaveLength(20);
    expect(most).toBe(3);
  });

  it('sends one list in BATCH mode', async () => {
    remote.answer = ({ body }) => ({ json: (body as { uid: string }[]).map(({ uid }) => [{ id: uid }]) });
    const results = await logic.fields(fieldCall(remote.load(USERS), 'User', '{ cars { id } }', parents));
    expect(remote.received.map(({ body }) => body)).toEqual([
      [{ uid: '0x1', city: 'Rome' }, { uid: '0x2' }, { uid: '0x3' }],
    ]);
    expect(results.map(({ value }) => value)).toEqual([
      [{ id: '0x1' }],
      [{ id: '0x2' }],
      [{ id: '0x1' }],
      [{ id: '0x3' }],
    ]);
  });

  it.each<[string, unknown]>([
    ['one item', { id: '1' }],
    ['too few', [1]],
  ])('wants a list of the same length in BATCH mode, not %s', async (_, json) => {
    remote.answer = () => ({ json });
    const results = await logic.fields(fieldCall(remote.load(USERS), 'User', '{ cars { id } }', parents.slice(0, 2)));
    expect(results.map(({ value, errors, alsoFailed }) => [value, errors.length, alsoFailed])).toEqual([
      [null, 1, true],
      [null, 0, true],
    ]);
    expect(results[0].errors[0].message).toMatch(/custom field User.cars failed: a list of 2 items was expected/);
  });

  it('is not evaluated where a non-null sibling is missing', async () => {
    remote.answer = () => ({ json: { data: { car: { id: 1, name: 'c' } } } });
    const results = await logic.fields(fieldCall(remote.load(USERS), 'User', '{ car { name } }', parents));
    expect(results[3]).toEqual({ value: undefined, errors: [] });
    expect(remote.received).toHaveLength(2);
    expect(remote.received[0].body).toEqual({
      query: 'query ($id: ID!, $age: Int!) {\n  car(id: $id, age: $age) {\n    name\n  }\n}',
      variables: { id: '0x1', age: 1 },
    });
  });

  it('is evaluated without a sibling for which the operation has a default', async () => {
    remote.answer = ({ body }) => ({
      json: { data: { near: JSON.stringify((body as { variables: unknown }).variables) } },
    });
    const loaded = remote.load(`type Spot { id: ID! within: Int
      near: String @custom(http: {url: "REMOTE/graphql", method: POST, skipIntrospection: true,
        graphql: "query($id: ID!, $within: Int! = 5) { near(of: $id, within: $within) }"}) }`);
    const results = await logic.fields(
      fieldCall(loaded, 'Spot', '{ near }', [{ id: '0x1' }, { id: '0x2', within: 7 }]),
    );
    expect(results.map(({ value }) => value)).toEqual(['{"id":"0x1"}', '{"id":"0x2","within":7}']);
  });

  it('puts errors of a GraphQL batch at the items that their paths name', async () => {
    const errors = [{ message: 'second', path: ['best', 1, 'name'] }, { message: 'all' }];
    remote.answer = () => ({ json: { data: { best: [{ name: 'x' }, null] }, errors } });
    const results = await logic.fields(fieldCall(remote.load(USERS), 'User', '{ best { name } }', parents.slice(0, 2)));
    expect((remote.received[0].body as { variables: unknown }).variables).toEqual({
      input: [
        { id: '0x1', age: 1 },
        { id: '0x2', age: 2 },
      ],
    });
    expect(results).toEqual([
      { value: { name: 'x' }, errors: [{ message: 'all' }] },
      { value: null, errors: [{ message: 'second', path: ['name'] }] },
    ]);
  });
});

describe('a custom query in the graph language', () => {
  const DQL = `type Result @remote { name: String }
    type Query { top(first: Int): [Result] @custom(dql: "query q($first: int) { top(func: has(n), first: $first) { name: n } }") }`;

  it('is the block of its name', async () => {
    const local = createCustomLogic({
      client: remote.client,
      limits: DEFAULT_LIMITS,
      runDql: (text, call) => Promise.resolve({ top: [{ name: `${text.slice(0, 7)} ${String(call.args['first'])}` }] }),
    });
    const result = await local.root(rootCall(remote.load(DQL), '{ top { name } }', { first: 2 }));
    expect(result).toEqual({ value: [{ name: 'query q 2' }], errors: [] });
  });
});
