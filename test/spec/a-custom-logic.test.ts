// Section A of the specification: the directives, inputs, rules and errors of custom logic, against a real HTTP server.
import { buildSchema, graphql, graphqlSync } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../folder.js';
import { type Remote, startRemote } from '../remote.js';
import { startService, type TestService } from '../service.js';

let s: TestService;
let remote: Remote;
beforeAll(async () => {
  [s, remote] = await Promise.all([startService(), startRemote()]);
});
afterAll(() => Promise.all([s.close(), remote.close()]));
beforeEach(async () => {
  remote.clear();
  await s.alter('{"drop_all": true}');
});

/** Uploads a schema that must be accepted; R stands for the remote's address. */
async function upload(text: string): Promise<void> {
  const answer = await s.schema(text.replaceAll('$R', remote.url));
  expect(answer.body.errors ?? []).toEqual([]);
}

/** What an upload that must be refused says. */
async function refused(
  text: string,
): Promise<{ message: string; locations: unknown[]; extensions: { code: string; fix: string } }[]> {
  const answer = await s.schema(text.replaceAll('$R', remote.url));
  expect(answer.status).toBe(400);
  return answer.body.errors;
}

const COUNTRY =
  'type Country @remote { code: String! name: String capital: String @remoteResponse(name: "capital_city") }';

describe('Directives and inputs', () => {
  it('@custom on a Query field: url, method and path parameters; the reply becomes the result', async () => {
    remote.on('/countries/DE', () => ({ body: { code: 'DE', name: 'Germany', capital_city: 'Berlin', extra: 1 } }));
    await upload(
      `${COUNTRY} type Query { country(code: String!): Country @custom(http: { url: "$R/countries/$code", method: GET }) }`,
    );
    const { body } = await s.graphql('{ country(code: "DE") { code name capital } }');
    expect(body).toMatchObject({ data: { country: { code: 'DE', name: 'Germany', capital: 'Berlin' } } });
    expect(body.errors).toBeUndefined();
    expect(remote.calls).toMatchObject([{ method: 'GET', url: '/countries/DE' }]);
  });

  it('@custom on a Mutation field: a body template', async () => {
    remote.on('/countries', (call) => ({ body: call.json().country }));
    await upload(`${COUNTRY} type Mutation { addCountryRemote(code: String!, name: String): Country
      @custom(http: { url: "$R/countries", method: "POST", body: "{ country: { code: $code, name: $name } }" }) }`);
    const { body } = await s.graphql('mutation { addCountryRemote(code: "FR", name: "France") { code name } }');
    expect(body.data).toEqual({ addCountryRemote: { code: 'FR', name: 'France' } });
    expect(remote.calls[0]).toMatchObject({ method: 'POST' });
    expect(remote.calls[0].json()).toEqual({ country: { code: 'FR', name: 'France' } });
  });

  it('both forms of the method, GET and "GET", are taken', async () => {
    remote.on('/n', () => ({ body: 5 }));
    await upload(
      `type Query { a: Int @custom(http: { url: "$R/n", method: GET }) b: Int @custom(http: { url: "$R/n", method: "GET" }) }`,
    );
    expect((await s.graphql('{ a b }')).body.data).toEqual({ a: 5, b: 5 });
  });

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`HTTPMethod ${method} is what the remote gets`, async () => {
      remote.on('/m', (call) => ({ body: JSON.stringify(call.method) }));
      await upload(`type Query { m: String @custom(http: { url: "$R/m", method: ${method} }) }`);
      expect((await s.graphql('{ m }')).body.data).toEqual({ m: method });
    });
  }

  it('@custom on a type field: once a distinct object in mode SINGLE', async () => {
    remote.on('/age/*', (call) => ({ body: call.url.endsWith('Ann') ? 31 : 42 }));
    await upload(
      'type Person { name: String! @id age: Int @custom(http: { url: "$R/age/$name", method: GET, mode: SINGLE }) }',
    );
    await s.graphql('mutation { addPerson(input: [{ name: "Ann" }, { name: "Ben" }]) { numUids } }');
    const { body } = await s.graphql('{ queryPerson(order: { asc: name }) { name age } }');
    expect(body.data).toEqual({
      queryPerson: [
        { name: 'Ann', age: 31 },
        { name: 'Ben', age: 42 },
      ],
    });
    expect(remote.calls).toHaveLength(2);
  });

  it('what several aliases of a request read of a remote is asked for once', async () => {
    remote.on('/age/*', (call) => (call.url.endsWith('Ann') ? { body: 31 } : { status: 404, body: '"nobody"' }));
    remote.on('/made', () => ({ body: '"made"' }));
    remote.on('/graphql', () => ({ body: { data: { pet: { name: 'Rex', kind: 'dog' } } } }));
    await upload(`
      type Pet @remote { name: String kind: String }
      type Person { name: String! @id
        age: Int @custom(http: { url: "$R/age/$name", method: GET })
        made: String @custom(http: { url: "$R/made", method: POST, body: "{ name: $name }" })
        pet: Pet @custom(http: { url: "$R/graphql", method: POST, skipIntrospection: true, graphql: "query ($name: String!) { pet(of: $name) }" }) }
      type Query { age(name: String!): Int @custom(http: { url: "$R/age/$name", method: GET }) }
      type Mutation { renew(name: String!): Int @custom(http: { url: "$R/age/$name", method: GET }) }`);
    const calls = (url: string) => remote.calls.filter((call) => call.url === url).length;
    await s.graphql('mutation { addPerson(input: [{ name: "Ann" }, { name: "Bob" }]) { numUids } }');
    const { body } = await s.graphql(`{
      queryPerson(order: { asc: name }) { name age again: age made once: made pet { name } same: pet { name } kind: pet { kind } }
      other: getPerson(name: "Ann") { age }
      age(name: "Ann") alias: age(name: "Ann") }`);
    expect(body.data).toMatchObject({
      queryPerson: [
        {
          age: 31,
          again: 31,
          made: 'made',
          once: 'made',
          pet: { name: 'Rex' },
          same: { name: 'Rex' },
          kind: { kind: 'dog' },
        },
        { age: null, again: null },
      ],
      other: { age: 31 },
      age: 31,
      alias: 31,
    });
    expect(body.errors.map((error: { path: unknown }) => error.path)).toEqual([
      ['queryPerson', 1, 'age'],
      ['queryPerson', 1, 'again'],
    ]);
    // the field's call, and the query's
    expect(calls('/age/Ann')).toBe(2);
    expect(calls('/made')).toBe(4);
    expect(calls('/graphql')).toBe(4);
    remote.clear();
    remote.on('/age/*', () => ({ body: 32 }));
    expect((await s.graphql('{ a: getPerson(name: "Ann") { age } }')).body.data).toEqual({ a: { age: 32 } });
    expect(calls('/age/Ann')).toBe(1);
    const set =
      'updatePerson(input: { filter: { name: { eq: "Ann" } }, set: { name: "Ann" } }) { person { age again: age } }';
    await s.graphql(`mutation { first: renew(name: "Ann") second: renew(name: "Ann") one: ${set} two: ${set} }`);
    expect(calls('/age/Ann')).toBe(5);
  });

  it('what several aliases of a request read in mode BATCH is one call, where a GraphQL query reads it', async () => {
    remote.on('/pets', (call) => ({
      body: {
        data: { pets: call.json().variables.of.map(({ name }: { name: string }) => ({ name, age: name.length })) },
      },
    }));
    remote.on('/made', (call) => ({ body: call.json().map(({ name }: { name: string }) => name.length) }));
    await upload(`
      type Pet @remote { name: String age: Int }
      type Person { name: String! @id
        made: Int @custom(http: { url: "$R/made", method: POST, mode: BATCH, body: "{ name: $name }" })
        pet: Pet @custom(http: { url: "$R/pets", method: POST, mode: BATCH, skipIntrospection: true, body: "{ name: $name }", graphql: "query ($of: [In]) { pets(of: $of) }" }) }`);
    await s.graphql('mutation { addPerson(input: [{ name: "Ann" }, { name: "Bobby" }]) { numUids } }');
    const { body } =
      await s.graphql(`{ queryPerson(order: { asc: name }) { pet { name } same: pet { x: name } age: pet { age } made once: made }
      again: queryPerson(order: { asc: name }) { pet { name } } getPerson(name: "Ann") { pet { name } } }`);
    expect(body.data.queryPerson[1]).toEqual({
      pet: { name: 'Bobby' },
      same: { x: 'Bobby' },
      age: { age: 5 },
      made: 5,
      once: 5,
    });
    expect(body.data.getPerson).toEqual({ pet: { name: 'Ann' } });
    const sent = (url: string) => remote.calls.filter((call) => call.url === url).map((call) => call.json());
    // the names of two, the ages of two, the name of one
    expect(
      sent('/pets')
        .map(({ variables }) => variables.of.length)
        .sort(),
    ).toEqual([1, 2, 2]);
    expect(sent('/made')).toHaveLength(2);
  });

  it('mode BATCH sends one call with a list', async () => {
    remote.on('/ages', (call) => ({ body: call.json().map((p: { name: string }) => (p.name === 'Ann' ? 31 : 42)) }));
    await upload(
      'type Person { name: String! @id age: Int @custom(http: { url: "$R/ages", method: POST, mode: BATCH, body: "{ name: $name }" }) }',
    );
    await s.graphql('mutation { addPerson(input: [{ name: "Ann" }, { name: "Ben" }]) { numUids } }');
    const { body } = await s.graphql('{ queryPerson(order: { asc: name }) { name age } }');
    expect(body.data).toEqual({
      queryPerson: [
        { name: 'Ann', age: 31 },
        { name: 'Ben', age: 42 },
      ],
    });
    expect(remote.calls).toHaveLength(1);
  });

  it('mode BATCH sends one call for all types of an interface, and each item answers its own node', async () => {
    remote.on('/label', (call) => ({ body: call.json().map(({ n }: { n: string }) => `label ${n}`) }));
    await upload(`
      interface Named { name: String! @id
        label: String @custom(http: { url: "$R/label", method: POST, mode: BATCH, body: "{ n: $name }" }) }
      type Cat implements Named { lives: Int }
      type Dog implements Named { tricks: Int }`);
    await s.graphql(`mutation { addCat(input: [{ name: "a" }, { name: "c" }]) { numUids }
      addDog(input: [{ name: "b" }, { name: "d" }]) { numUids } }`);
    const ask = async (text: string) => {
      remote.calls.length = 0;
      const { body } = await s.graphql(text);
      return { answer: body.data.queryNamed, sent: remote.calls.map((call) => call.json().length) };
    };
    const labels = ['a', 'b', 'c', 'd'].map((name) => ({ name, label: `label ${name}` }));
    expect(await ask('{ queryNamed(order: { asc: name }) { name label } }')).toEqual({ answer: labels, sent: [4] });
    // an alias of one type's own is another question
    const { answer, sent } = await ask('{ queryNamed(order: { asc: name }) { label ... on Dog { own: label } } }');
    expect(answer[1]).toEqual({ label: 'label b', own: 'label b' });
    expect(sent.sort()).toEqual([2, 4]);
  });

  it('forwardHeaders are copied from the incoming request; others are not', async () => {
    remote.on('/h', () => ({ body: '"ok"' }));
    await upload(
      'type Query { h: String @custom(http: { url: "$R/h", method: GET, forwardHeaders: ["X-App-Token", "Remote-Name:Local-Name"] }) }',
    );
    await s.graphql('{ h }', undefined, { 'X-App-Token': 'tok', 'Local-Name': 'renamed', 'X-Private': 'no' });
    expect(remote.calls[0].headers).toMatchObject({ 'x-app-token': 'tok', 'remote-name': 'renamed' });
    expect(remote.calls[0].headers).not.toHaveProperty('x-private');
  });

  it('secretHeaders add declared secrets: `<header_name>:<secret_name>`', async () => {
    remote.on('/h', () => ({ body: '"ok"' }));
    await upload(`type Query { h: String @custom(http: { url: "$R/h", method: GET, secretHeaders: ["X-Key:my_key", "other"] }) }
      # Service.Secret my_key "pl4nted-s3cret"
      # Service.Secret   other   bare`);
    await s.graphql('{ h }');
    expect(remote.calls[0].headers).toMatchObject({ 'x-key': 'pl4nted-s3cret', other: 'bare' });
  });

  it('a GraphQL remote gets the operation; data.<field> is the result', async () => {
    remote.on('/graphql', (call) => ({
      body: { data: { country: { code: call.json().variables.id, name: 'Germany' } } },
    }));
    await upload(`${COUNTRY} type Query { remoteCountry(id: ID!): Country
      @custom(http: { url: "$R/graphql", method: POST, graphql: "query($id: ID!) { country(code: $id) }", skipIntrospection: true }) }`);
    const { body } = await s.graphql('{ remoteCountry(id: "DE") { code label: name } }');
    expect(body.data).toEqual({ remoteCountry: { code: 'DE', label: 'Germany' } });
    expect(remote.calls).toHaveLength(1);
    expect(remote.calls[0].json().query).toMatch(/country\(code: ?\$id\) ?\{/);
  });

  it('a whole number past 2^53 goes to a field of a GraphQL remote with all its digits', async () => {
    remote.on('/graphql', () => ({ body: { data: { country: { founded: 'long ago' } } } }));
    await upload(`type Country @remote { founded(since: Int64): String } type Query { country: Country
      @custom(http: { url: "$R/graphql", method: POST, graphql: "query { country }", skipIntrospection: true }) }`);
    const { body } = await s.graphql('query ($since: Int64) { country { founded(since: $since) } }', {
      since: '9007199254740993',
    });
    expect(body).toMatchObject({ data: { country: { founded: 'long ago' } } });
    expect(remote.calls[0].json().query).toContain('founded(since: "9007199254740993")');
  });

  it('a stored type of a GraphQL remote is asked for with the arguments that its edges have here', async () => {
    remote.on('/g', () => ({ body: { data: { star: { near: [{ name: 'b' }] } } } }));
    await upload(`type Star { id: ID! name: String @search near: [Star] }
      type Query { star: Star @custom(http: { url: "$R/g", method: POST, skipIntrospection: true, graphql: "query { star }" }) }`);
    const query = `query ($n: Int) { star { near(first: $n, filter: { name: { anyofterms: "b" } }, order: { desc: name }) { name } } }`;
    expect((await s.graphql(query, { n: 1 })).body.data).toEqual({ star: { near: [{ name: 'b' }] } });
    expect(remote.calls.at(-1)?.json().query.replace(/\s+/g, ' ')).toBe(
      '{ star { near(first: 1, filter: {name: {anyofterms: "b"}}, order: {desc: name}) { name } } }',
    );
  });

  it('one field of a GraphQL remote may be asked for with several arguments', async () => {
    const schema = buildSchema('type P { pic(size: Int!): String parts: [P!] } type Query { p: P }');
    const pic = ({ size }: { size: number }) => `pic ${size}`;
    const rootValue = { p: { pic, parts: [{ pic }] } };
    remote.on('/g', (call) => ({ body: graphqlSync({ schema, source: call.json().query, rootValue }) }));
    remote.on('/r', () => ({ body: { pic: 'one for all' } }));
    await upload(`type P @remote { pic(size: Int!): String parts: [P!] }
      type Query { p: P @custom(http: { url: "$R/g", method: POST, graphql: "query { p }" })
        r: P @custom(http: { url: "$R/r", method: GET }) }`);
    const { body } = await s.graphql(`{ p { s: pic(size: 1) parts { m: pic(size: 2) ...F } ...F } r { ...F } }
      fragment F on P { l: pic(size: 3) t: pic(size: 1) }`);
    expect(body.errors).toBeUndefined();
    expect(body.data).toEqual({
      p: { s: 'pic 1', parts: [{ m: 'pic 2', l: 'pic 3', t: 'pic 1' }], l: 'pic 3', t: 'pic 1' },
      r: { l: 'one for all', t: 'one for all' },
    });
  });

  it('members of a union may ask different things of the members below a field that both have', async () => {
    const sdl = `type A { next: U! code: String! } type B { next: U! code: Int! } union U = A | B type Query { us: [U] }`;
    const [a, b] = [
      { __typename: 'A', code: 'a' },
      { __typename: 'B', code: 7 },
    ];
    remote.on('/g', async (call) => ({
      body: await graphql({
        schema: buildSchema(sdl),
        source: call.json().query,
        rootValue: {
          us: [
            { ...a, next: a },
            { ...b, next: b },
          ],
        },
      }),
    }));
    await upload(`type A @remote { next: U! code: String! } type B @remote { next: U! code: Int! } union U @remote = A | B
      type Query { us: [U] @custom(http: { url: "$R/g", method: POST, graphql: "query { us }" }) }`);
    const { body } = await s.graphql(`{ us {
      ... on A { next { ... on A { code } } }
      ... on B { next { ... on B { number: code } } } } }`);
    expect(body).toMatchObject({ data: { us: [{ next: { code: 'a' } }, { next: { number: 7 } }] } });
    expect(body.errors).toBeUndefined();
  });

  it('members of a union may have fields of one name and different types', async () => {
    const schema =
      buildSchema(`type A { code: String! next(at: Int): [U] n: Int! } type B { code: String next(at: Int): U n: Int }
      union U = A | B type Query { us: [U] }`);
    const a = { __typename: 'A', code: () => 'a', n: 1 };
    const b = {
      __typename: 'B',
      code: () => new Error('no code'),
      next: ({ at }: { at: number }) => (at === 1 ? a : null),
    };
    remote.on('/g', async (call) => ({
      body: await graphql({ schema, source: call.json().query, rootValue: { us: [{ ...a, next: [b, a] }, b] } }),
    }));
    await upload(`type A @remote { code: String! next(at: Int): [U] n: Int } type B @remote { code: String next(at: Int): U n: Int }
      union U @remote = A | B
      type Query { us: [U] @custom(http: { url: "$R/g", method: POST, graphql: "query { us }" }) }`);
    const { body } = await s.graphql(`{ us {
      ... on A { n is: code below: next { ... on A { code } ... on B { maybe: code } } }
      ... on B { n maybe: code one: next(at: 1) { ...C } two: next(at: 2) { ...C } } } }
      fragment C on A { code }`);
    expect(body.data).toEqual({
      us: [
        { n: 1, is: 'a', below: [{ maybe: null }, { code: 'a' }] },
        { n: null, maybe: null, one: { code: 'a' }, two: null },
      ],
    });
    expect(body.errors.map(({ path }: { path: unknown }) => path)).toEqual([
      ['us', 0, 'below', 0, 'maybe'],
      ['us', 1, 'maybe'],
    ]);
  });

  it('introspection is asked at upload, with introspectionHeaders, unless skipIntrospection is true', async () => {
    remote.on('/graphql', () => ({ status: 500, body: '{}' }));
    const schema = (
      skip: string,
    ) => `${COUNTRY} type Query { c(id: ID!): Country @custom(http: { url: "$R/graphql", method: POST,
      graphql: "query($id: ID!) { country(code: $id) }", introspectionHeaders: ["x-secret"]${skip} }) }
      # Service.Secret x-secret "intro"`;
    const errors = await refused(schema(''));
    expect(errors[0].message).toMatch(/introspect/i);
    expect(remote.calls[0].headers).toMatchObject({ 'x-secret': 'intro' });
    expect(remote.calls[0].body).toMatch(/__schema|__type/);
    remote.clear();
    await upload(schema(', skipIntrospection: true'));
    expect(remote.calls).toHaveLength(0);
  });

  it('a dql argument is a query text that returns remote types', async () => {
    await upload(
      `type Person { name: String! @search(by: [exact]) age: Int }
      type Stat @remote { name: String count: Int }
      type Query { older(than: Int!): [Stat] @custom(dql: """
        query older($than: int) { var(func: type(Person)) @filter(gt(Person.age, $than)) { a as Person.age }
          older(func: uid(a), orderasc: val(a)) { name: Person.name count: val(a) } }
      """) }`.replace('gt(Person.age, $than)', 'has(Person.age)'),
    );
    await s.graphql('mutation { addPerson(input: [{ name: "Ann", age: 31 }, { name: "Ben", age: 42 }]) { numUids } }');
    expect((await s.graphql('{ older(than: 1) { name count } }')).body.data).toEqual({
      older: [
        { name: 'Ann', count: 31 },
        { name: 'Ben', count: 42 },
      ],
    });
  });

  it('a dql text that could never be answered is refused at upload, where the mistake stands', async () => {
    const good = 'type Query { all: [Stat] @custom(dql: "{ all(func: has(name)) { name } }") }';
    await upload(`type Stat @remote { name: String } ${good}`);
    const errors = await refused(`type Stat @remote { name: String }
type Query {
  older(than: Int!): [Stat] @custom(dql: """
    query older($than: int) {
      older(func: gt(age, $than) { name }
    }
  """)
  named(name: String): [Stat] @custom(dql: "query q($other: string) { named(func: eq(name, $other)) { name } }")
  other: [Stat] @custom(dql: "{ others(func: has(name)) { name } }")
}`);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^@custom on Query.older: dql: expected/),
      expect.stringMatching(/^@custom on Query.named: dql: .*\$name, which the query does not declare/),
      expect.stringMatching(/^@custom on Query.other: dql: no block is named other/),
    ]);
    expect(errors.flatMap(({ locations }) => locations)).toEqual([
      { line: 5, column: 34 },
      { line: 8, column: 45 },
      { line: 9, column: 30 },
    ]);
    for (const { extensions } of errors) expect(extensions).toMatchObject({ code: 'INVALID_SDL', rule: 'custom-dql' });
    expect(errors.every(({ extensions }) => extensions.fix !== '')).toBe(true);
    expect((await s.graphql('{ all { name } }')).body).toMatchObject({ data: { all: [] } });

    const peer = await startService({ compat: 'dgraph' });
    const other =
      'type Stat @remote { name: String } type Query { other: [Stat] @custom(dql: "{ q(func: has(name)) { name } }") }';
    expect((await peer.schema(other)).body.errors).toBeUndefined();
    await peer.close();
  });

  it('arguments of a dql text may stand wherever its variables may', async () => {
    await upload(`type Stat @remote { name: String } type Query {
      some(id: ID!, re: String!, many: Int!, deep: Int, go: Boolean, n: Float, near: String): [Stat] @custom(dql: """
        query some($id: string!, $re: string, $many: int, $deep: int, $go: bool, $n: float, $near: float32vector) {
          var(func: uid($id)) @recurse(depth: $deep, loop: $go) { knows }
          var(func: similar_to(vector, $many, $near)) { a as age b as math(a + $n) }
          some(func: regexp(name, $re), first: $many, after: $id) @filter(uid_in(knows, $id) AND eq(val(b), $n)) { name }
        }
      """) }`);
  });
});

describe('Rules for custom logic', () => {
  it('1. fields in the path of a url must be non-null; in query parameters they may be nullable', async () => {
    const [error] = await refused(
      'type Query { a(id: String): String @custom(http: { url: "$R/x/$id", method: GET }) }',
    );
    expect(error.message).toMatch(/id/);
    expect(error.extensions.fix).toBeTruthy();
    expect(error.locations).toHaveLength(1);
    await upload('type Query { a(id: String): String @custom(http: { url: "$R/x?id=$id", method: GET }) }');
  });

  it('2. only scalars may be used in url and body templates', async () => {
    const input = 'input P { a: String } ';
    expect(
      await refused(`${input} type Query { a(p: P!): String @custom(http: { url: "$R/x/$p", method: GET }) }`),
    ).not.toHaveLength(0);
    expect(
      await refused(
        `${input} type Query { a(p: P!): String @custom(http: { url: "$R/x", method: POST, body: "{ p: $p }" }) }`,
      ),
    ).not.toHaveLength(0);
  });

  it('3. body keys are alphanumeric, and constants are not allowed', async () => {
    for (const body of ['{ a_b: $id }', '{ a: 5 }', '{ a: \\"x\\" }', '{ a: true }']) {
      expect(
        await refused(
          `type Query { a(id: String): String @custom(http: { url: "$R/x", method: POST, body: "${body}" }) }`,
        ),
      ).not.toHaveLength(0);
    }
  });

  it('4. null: a body gets null and a url an empty string; absent: nothing is added', async () => {
    remote.on('/x', () => ({ body: '"ok"' }));
    await upload(`type Query {
      u(a: String, b: Int): String @custom(http: { url: "$R/x?a=$a&b=$b", method: GET })
      b(a: String, b: Int): String @custom(http: { url: "$R/x", method: POST, body: "{ a: $a, b: $b }" }) }`);
    await s.graphql('{ u(a: null, b: 1) }');
    await s.graphql('{ u(b: 2) }');
    await s.graphql('{ b(a: null, b: 1) }');
    await s.graphql('{ b(b: 2) }');
    expect(remote.calls.map((call) => call.url)).toEqual(['/x?a=&b=1', '/x?b=2', '/x', '/x']);
    expect(remote.calls.slice(2).map((call) => call.json())).toEqual([{ a: null, b: 1 }, { b: 2 }]);
  });

  it('4. an argument that is no time of its type never leaves', async () => {
    remote.on('/t', () => ({ body: 1 }));
    await upload(
      `type Query { t(at: DateTime, of: [DateTime!]): Int @custom(http: { url: "$R/t?at=$at", method: GET }) }`,
    );
    for (const [text, path] of [
      ['t(at: "soon")', '"soon"'],
      ['t(of: ["2020", "late"])', '"late"'],
    ]) {
      const { body } = await s.graphql(`{ ${text} }`);
      const message = `custom query t failed: ${path} is not a date or time`;
      expect(body).toMatchObject({ data: { t: null }, errors: [{ message, extensions: { code: 'INVALID_VALUE' } }] });
    }
    expect(remote.calls).toHaveLength(0);
    expect((await s.graphql('{ t(at: "2020-01-01", of: null) }')).body.data).toEqual({ t: 1 });
  });

  it('4. an argument that is larger than any number never leaves', async () => {
    remote.on('/f', () => ({ body: 1 }));
    await upload('type Query { f(x: Float): Int @custom(http: { url: "$R/f?x=$x", method: GET }) }');
    for (const query of ['{ f(x: 1e400) }', 'query ($x: Float = -1e400) { f(x: $x) }']) {
      const { errors } = (await s.graphql(query)).body;
      expect(errors).toMatchObject([{ message: expect.stringMatching(/1e400.*larger than 1.8e308/) }]);
    }
    expect(remote.calls).toEqual([]);
  });

  it('5. templates refer to arguments or fields as $<name>; an unknown one is refused', async () => {
    const [error] = await refused(
      'type Query { a(id: String): String @custom(http: { url: "$R/x?i=$other", method: GET }) }',
    );
    expect(error.message).toMatch(/other/);
  });

  it('6. a custom field needs an identifier, takes no arguments, depends on no other custom field', async () => {
    const custom = '@custom(http: { url: "$R/x?n=$name", method: GET })';
    expect(await refused(`type A { name: String f: String ${custom} }`)).not.toHaveLength(0);
    expect(await refused(`type A { id: ID! name: String f(x: Int): String ${custom} }`)).not.toHaveLength(0);
    expect(
      await refused(
        `type A { id: ID! name: String @custom(http: { url: "$R/x?i=$id", method: GET }) f: String ${custom} }`,
      ),
    ).not.toHaveLength(0);
  });

  it('7. @custom cannot be used inside a remote type', async () => {
    expect(
      await refused(
        'type A @remote { id: ID! f: String @custom(http: { url: "$R/x?i=$id", method: GET }) } type B { id: ID! }',
      ),
    ).not.toHaveLength(0);
  });

  it('8. nothing is generated for remote types, and every type must be defined', async () => {
    await upload(
      `${COUNTRY} type Query { c: Country @custom(http: { url: "$R/c", method: GET }) } type Stored { name: String }`,
    );
    const { body } = await s.graphql('{ __schema { queryType { fields { name } } mutationType { fields { name } } } }');
    const fields = [...body.data.__schema.queryType.fields, ...body.data.__schema.mutationType.fields].map(
      (f: { name: string }) => f.name,
    );
    expect(fields).toContain('queryStored');
    expect(fields.filter((name: string) => /Country/.test(name))).toEqual([]);
    expect(await refused('type Query { c: Nowhere @custom(http: { url: "$R/c", method: GET }) }')).not.toHaveLength(0);
  });

  it('9. undeclared reply fields are dropped, only requested ones are returned', async () => {
    remote.on('/c', () => ({ body: { code: 'X', name: 'Y', secretField: 1 } }));
    await upload(`${COUNTRY} type Query { c: Country @custom(http: { url: "$R/c", method: GET }) }`);
    expect((await s.graphql('{ c { name } }')).body.data).toEqual({ c: { name: 'Y' } });
  });

  it('10. fields that a url needs are fetched though the client did not ask for them', async () => {
    remote.on('/by/*', (call) => ({ body: JSON.stringify(`from ${call.url}`) }));
    await upload(
      'type Person { id: ID! nick: String! full: String @custom(http: { url: "$R/by/$nick", method: GET }) }',
    );
    await s.graphql('mutation { addPerson(input: [{ nick: "zed" }]) { numUids } }');
    expect((await s.graphql('{ queryPerson { full } }')).body.data).toEqual({
      queryPerson: [{ full: 'from /by/zed' }],
    });
  });
});

describe('Errors, custom logic', () => {
  it('a custom query that fails at its endpoint: error appended to errors', async () => {
    remote.on('/down', () => ({ status: 503, body: 'no' }));
    remote.on('/up', () => ({ body: '"up"' }));
    await upload(
      'type Query { down: String @custom(http: { url: "$R/down", method: GET }) up: String @custom(http: { url: "$R/up", method: GET }) }',
    );
    const { body, status } = await s.graphql('{ down up }');
    expect(status).toBe(200);
    expect(body.data).toEqual({ down: null, up: 'up' });
    expect(body.errors).toMatchObject([
      {
        message: expect.stringContaining('down'),
        path: ['down'],
        locations: [{ line: 1, column: 3 }],
        extensions: { code: expect.any(String) },
      },
    ]);
  });

  it.each<[string, { status?: number; body: unknown }, string]>([
    ['a status of no right', { status: 401, body: '' }, 'secretHeaders'],
    ['a status of no place', { status: 404, body: '' }, 'the url and the method'],
    ['a status of its own failure', { status: 503, body: '' }, 'log'],
    ['any other status', { status: 400, body: '' }, 'what the url and the body send'],
    ['a list for one item', { body: [{ code: 'X' }] }, 'as a list'],
    ['a scalar for an object', { body: '7' }, 'as a scalar'],
    ['a value of another type', { body: { code: {} } }, 'Return a value of String'],
    ['a reply without what is required', { body: {} }, 'without "!"'],
  ])('%s says what to do', async (_, reply, fix) => {
    remote.on('/c', () => reply);
    await upload(`${COUNTRY} type Query { c: Country @custom(http: { url: "$R/c", method: POST }) }`);
    const { body } = await s.graphql('{ c { code } }');
    expect(body).toMatchObject({ data: { c: null }, errors: [{ extensions: { fix: expect.stringContaining(fix) } }] });
  });

  it('one item for a list, a batch of another length and a value that leads out of the path say what to do', async () => {
    remote.on('/list', () => ({ body: { code: 'X' } }));
    remote.on('/batch', () => ({ body: [] }));
    await upload(`${COUNTRY} type Query { l: [Country] @custom(http: { url: "$R/list", method: GET })
      p(at: String!): Int @custom(http: { url: "$R/in/$at", method: GET }) }
      type U { id: ID! n: Int b: Int @custom(http: { url: "$R/batch", method: POST, mode: BATCH, body: "{id: $id}" }) }`);
    await s.graphql('mutation { addU(input: [{ n: 1 }]) { numUids } }');
    const { body } = await s.graphql('{ l { code } p(at: "..") queryU { b } }');
    const told = body.errors.map((one: { extensions: { fix: string } }) => one.extensions.fix).sort();
    expect(told).toEqual([
      expect.stringMatching(/^Answer a list with one item for each/),
      expect.stringMatching(/^Define the field without brackets/),
      expect.stringMatching(/^Give a value that does not lead out/),
    ]);
  });

  it('paths of errors that lead nowhere, however long, are passed on or left', async () => {
    const path = ['c', ...Array.from({ length: 100_000 }, () => 0)];
    remote.on('/g', () => ({ body: { data: { c: { code: null } }, errors: [{ message: 'long', path }] } }));
    await upload(`${COUNTRY} type Query { c: Country @custom(http: {
      url: "$R/g", method: POST, skipIntrospection: true, graphql: "query { c }" }) }`);
    const { body } = await s.graphql('{ c { code } }');
    expect(body.errors.map(({ message }: { message: string }) => message.slice(0, 12))).toEqual([
      'long',
      'Non-nullable',
    ]);
  });

  it('a text is a Boolean where it says which: others are errors', async () => {
    const values = ['true', 'False', '1', '0', 'no', 'maybe', '', 0, 3];
    remote.on('/flags', () => ({ body: values.map((on) => ({ on })) }));
    await upload(`type Flag @remote { on: Boolean }
      type Query { flags: [Flag] @custom(http: { url: "$R/flags", method: GET }) }`);
    const { body } = await s.graphql('{ flags { on } }');
    const shown = body.data.flags.map(({ on }: { on: unknown }) => on);
    expect(shown).toEqual([true, false, true, false, null, null, null, false, true]);
    expect(body.errors.map(({ path }: { path: unknown[] }) => path[1])).toEqual([4, 5, 6]);
  });

  it('what a GraphQL remote says is wrong stands at the field as the client asked for it', async () => {
    const schema = buildSchema(
      'type P { pic(size: Int): String sub: P } type Query { p: P ps(of: [PIn]): [P] } input PIn { id: ID }',
    );
    const pic = ({ size }: { size?: number }) => (size === 1 ? 'small' : Promise.reject(new Error(`no ${size}`)));
    const root = { p: { pic, sub: { pic } }, ps: [{ pic }, { pic }] };
    const answer = async ({ query, variables }: { query: string; variables: Record<string, unknown> }) =>
      graphql({ schema, source: query, rootValue: root, variableValues: variables });
    remote.on('/g', async (call) => ({ body: await answer(call.json()) }));
    const http = (text: string, more = '') =>
      `@custom(http: { url: "$R/g", method: POST, skipIntrospection: true, graphql: "${text}"${more} })`;
    await upload(`type P @remote { picture(size: Int): String @remoteResponse(name: "pic") sub: P }
      type U { id: ID! name: String! p: P ${http('query($of: [PIn]) { ps(of: $of) }', ', mode: BATCH, body: "{id: $id}"')} }
      type Query { p: P ${http('query { p }')} }`);
    await s.graphql('mutation { addU(input: [{ name: "a" }, { name: "b" }]) { numUids } }');
    const paths = async (query: string) =>
      (await s.graphql(query)).body.errors.map(({ path }: { path: unknown }) => path).sort();
    expect(await paths('{ a: p { below: sub { b: picture(size: 1) c: picture(size: 2) } d: picture } }')).toEqual([
      ['a', 'below', 'c'],
      ['a', 'd'],
    ]);
    expect(await paths('{ queryU { x: p { y: picture(size: 3) } } }')).toEqual([
      ['queryU', 0, 'x', 'y'],
      ['queryU', 1, 'x', 'y'],
    ]);
  });

  describe('a GraphQL remote that is asked for one object under several aliases', () => {
    const sdl = 'type P { pic(size: Int): String name: String age: Int sub: P must: Int! } type Query { p: P }';
    const sub = { pic: ({ size }: { size: number }) => `pic ${size}`, name: 'n', age: 7, must: 1 };
    const ask = async (query: string, root: unknown) => {
      remote.on('/g', async (call) => ({
        body: await graphql({ schema: buildSchema(sdl), source: call.json().query, rootValue: root }),
      }));
      await upload(`type P @remote { pic(size: Int): String name: String age: Int sub: P must: Int! }
        type Query { p: P @custom(http: { url: "$R/g", method: POST, skipIntrospection: true, graphql: "query { p }" }) }`);
      return (await s.graphql(query)).body;
    };

    it('answers each by what it asks for itself, though they use the same aliases below', async () => {
      const query =
        '{ p { sub { x: name y: pic(size: 1) } b: sub { x: age y: pic(size: 2) } c: sub { x: name z: pic(size: 1) } } }';
      expect(await ask(query, { p: { sub } })).toMatchObject({
        data: {
          p: { sub: { x: 'n', y: 'pic 1' }, b: { x: 7, y: 'pic 2' }, c: { x: 'n', z: 'pic 1' } },
        },
      });
      const sent = remote.calls.at(-1)?.json().query.replace(/\s+/g, ' ');
      expect(sent).toContain('sub { name pic(size: 1) } sub__2: sub { age pic(size: 2) }');
    });

    it('tells what is wrong at each of them that asks for it, once', async () => {
      const failing = { name: 'n', age: () => Promise.reject(new Error('no age')) };
      const { data, errors } = await ask('{ p { sub { name } b: sub { a: age } c: sub { age } } }', {
        p: { sub: failing },
      });
      expect(data).toEqual({ p: { sub: { name: 'n' }, b: { a: null }, c: { age: null } } });
      expect(errors.map(({ path, message }: { path: unknown; message: string }) => [path, message])).toEqual([
        [['p', 'b', 'a'], 'no age'],
        [['p', 'c', 'age'], 'no age'],
      ]);
      const { errors: shared } = await ask('{ p { sub { name } b: sub { must } } }', { p: { sub: { must: null } } });
      expect(shared.map(({ path }: { path: unknown }) => path)).toEqual([
        ['p', 'sub'],
        ['p', 'b', 'must'],
      ]);
      const lacking = await ask('{ p { sub { must } } }', { p: { sub: { must: null } } });
      expect(lacking.data).toEqual({ p: { sub: null } });
      expect(lacking.errors).toHaveLength(1);
    });

    it('tells it at as many of them as it can tell, however many there are and however deep they stand', async () => {
      const failing: Record<string, unknown> = { age: () => Promise.reject(new Error('no age')) };
      failing['sub'] = () => failing;
      const told = async (query: string): Promise<unknown[][]> => {
        const { errors } = await ask(query, { p: failing });
        return errors.map(({ path }: { path: unknown[] }) => path);
      };
      const all = (count: number, name: string) => Array.from({ length: count }, (_, i) => `a${i}: ${name}`).join(' ');
      const flat = await told(`{ p { ${all(100, 'age')} } }`);
      expect(flat).toEqual(Array.from({ length: 65 }, (_, i) => ['p', `a${i}`]));
      // each of thirty leads to thirty
      const nested = await told(`{ p { ${all(30, `sub { ${all(30, 'age')} }`)} } }`);
      expect(nested.length).toBeLessThan(100);
      expect(nested[0]).toEqual(['p', 'a0', 'a0']);
      expect(new Set(nested.map(String)).size).toBe(nested.length);
      const deep = await told(`{ p { ${'x: sub { '.repeat(90)} y: age ${'}'.repeat(90)} } }`);
      expect(deep).toEqual([['p', ...Array.from({ length: 90 }, () => 'x'), 'y']]);
    });

    it('tells in mode BATCH, too, what is wrong at each alias and each item that asks for it', async () => {
      const failing = { name: 'n', sub: { name: 'm', age: () => Promise.reject(new Error('no age')) } };
      const schema = buildSchema(
        'type P { name: String age: Int sub: P } input In { id: ID } type Query { ps(of: [In]): [P] }',
      );
      remote.on('/g', async (call) => {
        const { query: source, variables } = call.json();
        const rootValue = { ps: [{ name: 'n', sub: { age: 1 } }, failing] };
        return { body: await graphql({ schema, source, variableValues: variables, rootValue }) };
      });
      await upload(`type P @remote { name: String age: Int sub: P } type U { id: ID! n: Int p: P @custom(http: { url: "$R/g", method: POST,
        skipIntrospection: true, mode: BATCH, body: "{ id: $id }", graphql: "query ($of: [In]) { ps(of: $of) }" }) }`);
      await s.graphql('mutation { addU(input: [{ n: 1 }, { n: 2 }]) { numUids } }');
      const { body } = await s.graphql(
        '{ queryU { a: p { b: sub { age } c: sub { d: age } e: sub { name } } f: p { sub { age } } } }',
      );
      expect(body.data.queryU[1]).toEqual({
        a: { b: { age: null }, c: { d: null }, e: { name: 'm' } },
        f: { sub: { age: null } },
      });
      expect(body.errors.map(({ path }: { path: unknown[] }) => path.slice(1)).sort()).toEqual([
        [1, 'a', 'b', 'age'],
        [1, 'a', 'c', 'd'],
        [1, 'f', 'sub', 'age'],
      ]);
    });

    it('has one error where it left something non-null out of what it answered beside it', async () => {
      remote.on('/g', () => ({
        body: { data: { p: { must: null } }, errors: [{ message: 'no must', path: ['p', 'must'] }] },
      }));
      await upload(`type P @remote { must: Int! }
        type Query { p: P @custom(http: { url: "$R/g", method: POST, skipIntrospection: true, graphql: "query { p }" }) }`);
      const { body } = await s.graphql('{ p { must } }');
      expect(body.data).toEqual({ p: null });
      expect(body.errors).toMatchObject([{ message: 'no must', path: ['p', 'must'] }]);
      expect(body.errors).toHaveLength(1);
    });
  });

  it('a custom field of an interface is answered for nodes that are of none of its types, too', async () => {
    remote.on('/note/*', ({ url }) => ({ body: JSON.stringify(url.slice(6)) }));
    await upload(`interface Thing { id: ID! name: String! note: String @custom(http: { url: "$R/note/$name", method: GET }) }
      type Tool implements Thing { use: Int } type Box { id: ID! things: [Thing] }`);
    await s.rdf(`{ set { _:a <service.type> "Thing" . _:a <Thing.name> "a" . _:b <service.type> "Tool" . _:b <service.type> "Thing" .
      _:b <Thing.name> "b" . _:c <service.type> "Box" . _:c <Box.things> _:a . _:c <Box.things> _:b . } }`);
    const notes = [{ note: 'a' }, { note: 'b' }];
    const { body } = await s.graphql('{ queryThing(order: { asc: name }) { note } queryBox { things { note } } }');
    expect(body.data).toEqual({ queryThing: notes, queryBox: [{ things: notes }] });
  });

  it('a custom field that fails is null with an error; other fields still resolve', async () => {
    remote.on('/age/Ann', () => ({ body: 31 }));
    await upload('type Person { name: String! @id age: Int @custom(http: { url: "$R/age/$name", method: GET }) }');
    await s.graphql('mutation { addPerson(input: [{ name: "Ann" }, { name: "Ben" }]) { numUids } }');
    const { body } = await s.graphql('{ queryPerson(order: { asc: name }) { name age } }');
    expect(body.data).toEqual({
      queryPerson: [
        { name: 'Ann', age: 31 },
        { name: 'Ben', age: null },
      ],
    });
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].path.slice(0, 1)).toEqual(['queryPerson']);
  });

  it('a reply without a non-null field: GraphQL error propagation', async () => {
    remote.on('/c', () => ({ body: { name: 'no code' } }));
    await upload(`${COUNTRY} type Query { c: Country @custom(http: { url: "$R/c", method: GET }) }`);
    const { body } = await s.graphql('{ c { name code } }');
    expect(body.data).toEqual({ c: null });
    expect(body.errors[0].path).toEqual(['c', 'code']);
  });

  it('a list that the reply lacks is no empty list: null, or propagation where it is non-null', async () => {
    remote.on('/c', () => ({ body: { a: 'x', grid: [[1], null] } }));
    await upload(`type L @remote { a: String loose: [String!] tight: [String!]! grid: [[Int]] }
      type Query { l: L @custom(http: { url: "$R/c", method: GET }) }`);
    expect((await s.graphql('{ l { a loose grid } }')).body.data).toEqual({
      l: { a: 'x', loose: null, grid: [[1], null] },
    });
    const { body } = await s.graphql('{ l { a tight } }');
    expect(body).toMatchObject({ data: { l: null }, errors: [{ path: ['l', 'tight'] }] });
  });

  it('an item of a type that is not defined, and one without its type: null, with what to do about it', async () => {
    remote.on('/r', () => ({ body: [{ __typename: 'A', n: 1 }, { __typename: 'C', n: 2 }, { n: 3 }] }));
    await upload(`type A @remote { n: Int } type B @remote { n: Int } union U @remote = A | B
      type Query { us: [U] @custom(http: { url: "$R/r", method: GET }) }`);
    const { body } = await s.graphql('{ us { ... on A { n } ... on B { n } } }');
    expect(body.data).toEqual({ us: [{ n: 1 }, null, null] });
    expect(body.errors).toMatchObject([
      {
        message: 'the type C of an item is none of U here',
        path: ['us', 1],
        extensions: { fix: 'Define C as one of its types.' },
      },
      {
        message: 'the type of an item of U is not known',
        path: ['us', 2],
        extensions: { fix: 'Return __typename with it.' },
      },
    ]);
  });

  it('an item of a type that is not defined answers what is asked of its interface alone', async () => {
    remote.on('/r', () => ({
      body: [{ __typename: 'A', n: 1 }, { __typename: 'C', n: 2 }, { __typename: 'Other', n: 3 }, { __typename: 'C' }],
    }));
    await upload(`interface I @remote { n: Int } type A implements I @remote { a: Int } type B implements I @remote { b: Int }
      type Other @remote { n: Int } type Query { is: [I] @custom(http: { url: "$R/r", method: GET }) }`);
    const { body } = await s.graphql('{ is { n ... on I { m: n } } }');
    expect(body.data).toEqual({ is: [{ n: 1, m: 1 }, { n: 2, m: 2 }, null, null] });
    expect((await s.graphql('{ is { n @skip(if: true) } }')).body.data.is[1]).toEqual({});
    // what is known of it would not be all that is asked
    for (const more of ['__typename', '... on A { a }']) {
      expect((await s.graphql(`{ is { n ${more} } }`)).body.data.is[1]).toBeNull();
    }
  });

  it.each([
    ['', '{ is { n } }', [{ n: 1 }, { n: 2 }]],
    [
      '',
      '{ is { m: n sub { n } } }',
      [
        { m: 1, sub: null },
        { m: 2, sub: { n: 3 } },
      ],
    ],
    ['', '{ is { n ... on A { a } } }', [{ n: 1, a: 7 }, null]],
    // nothing is known of what its interface has there
    [', skipIntrospection: true', '{ is { n } }', [{ n: 1 }, null]],
  ])('so do items of a GraphQL remote, which is asked so that they can%s: %s', async (more, query, expected) => {
    const schema = buildSchema(`interface I { n: Int sub: I } type A implements I { n: Int sub: I a: Int }
      type B implements I { n: Int sub: I } type C implements I { n: Int sub: I } type Query { is: [I] }`);
    const is = [
      { __typename: 'A', n: 1, a: 7 },
      { __typename: 'C', n: 2, sub: { __typename: 'C', n: 3 } },
    ];
    remote.on('/g', async (call) => {
      const { query: source } = call.json() as { query: string };
      return { body: await graphql({ schema, source, rootValue: { is } }) };
    });
    await upload(`interface I @remote { n: Int sub: I } type A implements I @remote { a: Int } type B implements I @remote
      type Query { is: [I] @custom(http: { url: "$R/g", method: POST, graphql: "query { is }"${more} }) }`);
    expect((await s.graphql(query)).body.data).toEqual({ is: expected });
  });

  describe('custom fields below what a remote returned', () => {
    const sdl = `type Star { id: ID! name: String! @id mass: Int
        glow: String @custom(http: { url: "$R/glow/$name?m=$mass", method: GET })
        moons: [Star] @custom(http: { url: "$R/moons/$name", method: GET })
        rank: Int @custom(http: { url: "$R/rank", method: POST, mode: BATCH, body: "{ name: $name }" }) }
      interface I @remote { n: Int star: Star rows: [[Star]] }
      type A implements I @remote { a: Int } type B implements I @remote { other: Star }
      interface Lone @remote { star: Star } type Only implements Lone @remote { x: Int } union U @remote = Only
      interface K { id: ID! name: String! @id glow: String @custom(http: { url: "$R/glow/$name", method: GET }) friend: K }
      type KA implements K { ka: Int } type KB implements K { kb: Int }
      type Query { is: [I] @custom(http: { url: "$R/is", method: GET }) ks: [K] @custom(http: { url: "$R/ks", method: GET })
        lone: Lone @custom(http: { url: "$R/lone", method: GET }) u: U @custom(http: { url: "$R/lone", method: GET }) }`;
    const data = async (query: string) => {
      remote.on('/is', () => ({
        body: [
          { __typename: 'A', star: { name: 'a', mass: 1 }, rows: [[{ name: 'b' }], null] },
          { __typename: 'Elsewhere', star: { name: 'c', mass: null }, rows: [[null, { name: 'd' }]] },
          { star: { name: 'e' } },
        ],
      }));
      remote.on('/lone', () => ({ body: { star: { name: 'a' } } }));
      const friend = { __typename: 'KB', name: 'f' };
      remote.on('/ks', () => ({
        body: [
          { name: 'k', friend },
          { __typename: 'KA', name: 'l' },
          { __typename: 'Elsewhere', name: 'm' },
        ],
      }));
      remote.on('/glow/*', ({ url }) => ({ body: JSON.stringify(url.slice(6)) }));
      remote.on('/moons/*', ({ url }) => ({ body: [{ name: `moon of ${url.slice(7)}` }] }));
      remote.on('/rank', (call) => ({ body: call.json().map(({ name }: { name: string }) => name.length) }));
      await upload(sdl);
      return (await s.graphql(query)).body;
    };

    it('are answered where an item is completed as its interface', async () => {
      const { data: answer, errors } = await data(
        '{ is { star { glow rank } rows { glow moons { name rank glow } } } }',
      );
      const rows = (name: string) => ({
        glow: name,
        moons: [{ name: `moon of ${name}`, rank: 9, glow: `moon%20of%20${name}` }],
      });
      expect(errors).toBeUndefined();
      expect(answer.is).toEqual([
        { star: { glow: 'a?m=1', rank: 1 }, rows: [[rows('b')], null] },
        { star: { glow: 'c?m=', rank: 1 }, rows: [[null, rows('d')]] },
        { star: { glow: 'e', rank: 1 }, rows: null },
      ]);
      expect(remote.calls.filter(({ url }) => url === '/rank')[0].json()).toEqual(
        ['a', 'c', 'e'].map((name) => ({ name })),
      );
    });

    it.each([
      ['{ lone { star { glow rank } } }', 'lone'],
      ['{ u { ... on Only { star { glow rank } } } }', 'u'],
      ['{ u { ... on Lone { star { glow rank } } } }', 'u'],
    ])('are answered where an item can be of one type only: %s', async (query, key) => {
      expect((await data(query)).data).toEqual({ [key]: { star: { glow: 'a', rank: 1 } } });
    });

    it('of an interface are answered for an item of whatever type', async () => {
      const { data: answer, errors } = await data('{ ks { glow friend { glow } } }');
      expect(errors).toBeUndefined();
      expect(answer.ks).toEqual([
        { glow: 'k', friend: { glow: 'f' } },
        { glow: 'l', friend: null },
        { glow: 'm', friend: null },
      ]);
    });

    it('are told their siblings as values of their types', async () => {
      remote.on('/stars', () => ({
        body: [
          { code: 7, mass: '5', seen: '2020', far: '9007199254740993', lit: 'TRUE' },
          { code: 'b', mass: { no: 'number' }, seen: 'soon' },
        ],
      }));
      remote.on('/note', (call) => ({ body: call.json().map(() => 'noted') }));
      await upload(`type Star { code: String! @id mass: Int seen: DateTime far: Int64 lit: Boolean note: String @custom(http: { url: "$R/note",
          method: POST, mode: BATCH, body: "{ code: $code, mass: $mass, seen: $seen, far: $far, lit: $lit }" }) }
        type Query { stars: [Star] @custom(http: { url: "$R/stars", method: GET }) }`);
      const { body } = await s.graphql('{ stars { note } }');
      expect(body.data).toEqual({ stars: [{ note: 'noted' }, { note: 'noted' }] });
      expect(remote.calls.at(-1)?.json()).toEqual([
        { code: '7', mass: 5, seen: '2020-01-01T00:00:00Z', far: '9007199254740993', lit: true },
        { code: 'b', mass: null, seen: null },
      ]);
    });

    it('are asked for all that each place asks of them beside a fragment that several have', async () => {
      const schema = buildSchema(
        'type R { id: ID name: String } type Query { r(name: ID!): R rs(in: [In]): [R] } input In { name: ID }',
      );
      const found = ({ name }: { name: string }) => ({ id: name, name: `n ${name}` });
      const root = { r: found, rs: ({ in: names }: { in: { name: string }[] }) => names.map(found) };
      remote.on('/g', async (call) => {
        const { query: source, variables } = call.json();
        return { body: await graphql({ schema, source, variableValues: variables, rootValue: root }) };
      });
      remote.on('/stars', () => ({ body: [{ name: 'y', near: { name: 'x' } }] }));
      const http = (text: string, more = '') =>
        `@custom(http: { url: "$R/g", method: POST, skipIntrospection: true, graphql: "${text}"${more} })`;
      await upload(`type R @remote { id: ID name: String } type Query { stars: [Star] @custom(http: { url: "$R/stars", method: GET }) }
        type Star { name: String! @id near: Star one: R ${http('query ($name: ID!) { r(name: $name) }')}
          each: R ${http('query ($in: [In]) { rs(in: $in) }', ', mode: BATCH, body: "{ name: $name }"')} }`);
      const { body } = await s.graphql(`{ stars { a: near { ...S } b: near { ...S one { id } each { id } } } }
        fragment S on Star { one { name } each { name } }`);
      const both = { name: 'n x', id: 'x' };
      expect(body.data.stars).toEqual([
        { a: { one: { name: 'n x' }, each: { name: 'n x' } }, b: { one: both, each: both } },
      ]);
    });
  });

  it('a reply with extra fields: ignored', async () => {
    remote.on('/c', () => ({ body: { code: 'A', more: { and: ['more'] } } }));
    await upload(`${COUNTRY} type Query { c: Country @custom(http: { url: "$R/c", method: GET }) }`);
    expect((await s.graphql('{ c { code } }')).body).toMatchObject({ data: { c: { code: 'A' } } });
  });

  it('a non-null field that a template needs is absent: the call is not evaluated', async () => {
    await upload(
      'type Person { id: ID! nick: String! full: String @custom(http: { url: "$R/by/$nick", method: GET }) }',
    );
    await s.rdf('{ set { _:p <service.type> "Person" . } }');
    const { body } = await s.graphql('{ queryPerson { id full } }');
    expect(body.data.queryPerson).toMatchObject([{ full: null }]);
    expect(remote.calls).toHaveLength(0);
  });
});

describe('Secrets', () => {
  const WHO = (value: string) => `# Service.Secret who "${value}"
    type Query { who: String @custom(http: { url: "$R/who", method: GET, secretHeaders: ["X-Key:who"] }) }`;

  it('may come from the environment, which decides anew at each start, and are not stored', async () => {
    remote.on('/who', (call) => ({ body: JSON.stringify(call.headers['x-key']) }));
    const data = testFolder();
    const types = WHO('Bearer {{TOKEN}}').replace('$R', remote.url);
    const first = await startService({ data, environment: { APP_WHO_TOKEN: 'pl4nted-one' } });
    expect((await first.schema(types)).body.errors).toBeUndefined();
    expect((await first.graphql('{ who }')).body.data).toEqual({ who: 'Bearer pl4nted-one' });
    expect(first.service.core.api.current()?.text).toBe(types);
    await first.close();

    const second = await startService({ data, environment: { APP_WHO_TOKEN: 'pl4nted-two' } });
    expect((await second.graphql('{ who }')).body.data).toEqual({ who: 'Bearer pl4nted-two' });
    await second.close();

    const third = startService({ data, environment: {} });
    await expect(third).rejects.toMatchObject({
      errors: [
        {
          code: 'MISSING_VARIABLE',
          message: 'the secret who needs the variable APP_WHO_TOKEN',
          fix: expect.stringContaining('Set APP_WHO_TOKEN in the environment'),
          position: { source: 'the stored type definitions', line: 1 },
        },
      ],
    });
  });

  it('an upload that needs a variable that is not set is refused, and what was served stays', async () => {
    remote.on('/who', (call) => ({ body: JSON.stringify(call.headers['x-key']) }));
    await upload(WHO('fixed'));
    expect(await refused(WHO('{{TOKEN}}'))).toMatchObject([
      { message: 'the secret who needs the variable APP_WHO_TOKEN', extensions: { code: 'MISSING_VARIABLE' } },
    ]);
    expect((await s.graphql('{ who }')).body.data).toEqual({ who: 'fixed' });
  });

  it('are not told by a remote that repeats them in its errors', async () => {
    const told = (call: { headers: Record<string, unknown> }) =>
      `the token ${String(call.headers['authorization']).slice('Bearer '.length)} is wrong`;
    remote.on('/who', (call) => ({
      status: 401,
      body: { errors: [{ message: told(call), extensions: { is: told(call) } }] },
    }));
    await upload(`# Service.Secret who "Bearer pl4nt\\"ed"
      type T { id: ID! name: String who: String @custom(http: { url: "$R/who?n=$name", method: GET, secretHeaders: ["Authorization:who"] }) }
      type Query { who: String @custom(http: { url: "$R/who", method: GET, secretHeaders: ["Authorization:who"] }) }`);
    await s.graphql('mutation { addT(input: [{ name: "a" }]) { numUids } }');
    const { body } = await s.graphql('{ who queryT { who } }');
    const error = { message: 'the token {{who}} is wrong', extensions: { is: 'the token {{who}} is wrong' } };
    expect(body.errors).toMatchObject([error, error]);
  });

  it('are never exposed: not in introspection, SDL, errors, health or metrics', async () => {
    const secret = 'pl4nted-s3cret-value';
    remote.on('/h', () => ({ status: 500, body: 'no' }));
    await upload(`type Query { h: String @custom(http: { url: "$R/h", method: GET, secretHeaders: ["X-Key:my_key"] }) }
      # Service.Secret my_key "${secret}"`);
    const outputs = await Promise.all([
      s.graphql('{ h }'),
      s.graphql('{ __schema { types { name description fields { name description } } } }'),
      s.post('/admin', JSON.stringify({ query: '{ getGQLSchema { schema generatedSchema } }' }), 'application/json'),
      s.get('/admin/schema'),
      s.get('/health'),
      s.get('/metrics'),
      s.schema(`type Query { h: Nope @custom(http: { url: "$R", method: GET, secretHeaders: ["X-Key:my_key"] }) }
        # Service.Secret my_key "${secret}"`),
    ]);
    for (const output of outputs) expect(JSON.stringify(output.body)).not.toContain(secret);
  });
});
