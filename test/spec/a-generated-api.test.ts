// The generated API over HTTP: what rules keep hidden stays hidden, whatever a request asks by.
import { createHash } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSchema, graphqlSync } from 'graphql';
import { startRemote } from '../remote.js';
import { startService, type TestService } from '../service.js';

const KEY = 'a key of at least thirty-two bytes, for HS256';
const mine = (type: string) => `query ($ME: String!) { query${type}(filter: { owner: { eq: $ME } }) { id } }`;

const SDL = `
type House { id: ID! name: String! @search(by: [hash]) rooms: [Room] @hasInverse(field: house) safe: Safe }
type Room { id: ID! name: String @search(by: [hash]) house: House safe: Safe }
type Safe @auth(query: { rule: "${mine('Safe')}" }) {
  id: ID!
  owner: String! @search(by: [hash])
  gold: Int! @search
}
# Service.Authorization {"Header": "X-Token", "Namespace": "app", "Algo": "HS256", "VerificationKey": "${KEY}"}`;

let s: TestService;
const token = (claims: Record<string, unknown>) =>
  new SignJWT({ app: claims }).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(KEY));

async function names(query: string, me?: string): Promise<string[]> {
  const { body } = await s.graphql(query, {}, me === undefined ? {} : { 'x-token': await token({ ME: me }) });
  expect(body.errors).toBeUndefined();
  return body.data.list.map((one: { name: string }) => one.name);
}

beforeAll(async () => {
  s = await startService();
  expect((await s.schema(SDL)).status).toBe(200);
  const house = (name: string, ann: number, ben: number) => `{
    name: "${name}"
    safe: { owner: "ann", gold: ${ann} }
    rooms: [{ name: "${name} hall", safe: { owner: "ben", gold: ${ben} } }, { name: "${name} attic", safe: { owner: "ann", gold: ${ann} } }]
  }`;
  const { body } = await s.graphql(
    `mutation { addHouse(input: [${house('a', 3, 10)}, ${house('b', 1, 30)}, ${house('c', 2, 20)}]) { numUids } }`,
    {},
    { 'x-token': await token({ ME: 'ann' }) },
  );
  expect(body.data).toEqual({ addHouse: { numUids: 18 } });
});
afterAll(() => s.close());

describe('rules of the nodes at an edge', () => {
  it('keep an order by their fields from telling what it may not', async () => {
    const query = '{ list: queryHouse(order: { safe: { desc: gold } }) { name } }';
    expect(await names(query, 'ann')).toEqual(['a', 'c', 'b']);
    expect(await names(query, 'ben')).toEqual(['a', 'b', 'c']);
    expect(await names(query)).toEqual(['a', 'b', 'c']);
    expect(await names('{ list: queryHouse(order: { safe: { asc: gold } }) { name } }', 'ann')).toEqual([
      'b',
      'c',
      'a',
    ]);
  });

  it('hold on every edge of a longer path, and in the order of nested lists', async () => {
    const query = '{ list: queryRoom(order: { house: { safe: { desc: gold } }, then: { asc: name } }) { name } }';
    const rooms = (...houses: string[]) => houses.flatMap((house) => [`${house} attic`, `${house} hall`]);
    expect(await names(query, 'ann')).toEqual(rooms('a', 'c', 'b'));
    expect(await names(query, 'ben')).toEqual(rooms('a', 'b', 'c'));
    expect(await names(query)).toEqual(rooms('a', 'b', 'c'));
    const nestedRooms = async (me: string) => {
      const nested =
        '{ queryHouse(filter: { name: { eq: "b" } }) { rooms(order: { safe: { desc: gold }, then: { desc: name } }) { name } } }';
      const { body } = await s.graphql(nested, {}, { 'x-token': await token({ ME: me }) });
      return body.data.queryHouse[0].rooms.map((room: { name: string }) => room.name);
    };
    expect(await nestedRooms('ann')).toEqual(['b attic', 'b hall']);
    expect(await nestedRooms('ben')).toEqual(['b hall', 'b attic']);
    expect(await nestedRooms('cat')).toEqual(['b hall', 'b attic']);
  });

  it('hold in nested filters of queries, aggregates, updates and deletes, negated ones too', async () => {
    const rich = 'filter: { safe: { gold: { ge: 2 } } }';
    expect((await names(`{ list: queryHouse(${rich}) { name } }`, 'ann')).sort()).toEqual(['a', 'c']);
    expect(await names(`{ list: queryHouse(${rich}) { name } }`, 'ben')).toEqual([]);
    expect(
      await names('{ list: queryHouse(filter: { not: { safe: { gold: { ge: 2 } } } }) { name } }', 'ben'),
    ).toHaveLength(3);
    const ask = async (text: string, me: string) =>
      (await s.graphql(text, {}, { 'x-token': await token({ ME: me }) })).body.data;
    expect(await ask(`{ aggregateHouse(${rich}) { count } }`, 'ann')).toEqual({ aggregateHouse: { count: 2 } });
    expect(await ask(`{ aggregateHouse(${rich}) { count } }`, 'ben')).toEqual({ aggregateHouse: { count: 0 } });
    const update = `mutation { updateHouse(input: { ${rich}, set: { name: "x" } }) { numUids } }`;
    expect(await ask(update, 'ben')).toEqual({ updateHouse: { numUids: 0 } });
    expect(await ask(`mutation { deleteHouse(${rich}) { numUids } }`, 'ben')).toEqual({ deleteHouse: { numUids: 0 } });
  });
});

describe('@cascade', () => {
  const SCHEMA = `
type Shop { name: String! @id city: String owner: Owner goods: [Good] }
type Owner { name: String! @id city: String }
type Good { code: String! @id name: String price: Float maker: Owner }`;
  let shops: TestService;
  const ask = async (query: string, variables: unknown = {}) => {
    const { body } = await shops.graphql(query, variables);
    expect(body.errors).toBeUndefined();
    return body.data.list;
  };
  const named = async (query: string, variables?: unknown) =>
    (await ask(query, variables)).map((one: { name: string }) => one.name);

  beforeAll(async () => {
    shops = await startService();
    expect((await shops.schema(SCHEMA)).status).toBe(200);
    const { body } = await shops.graphql(`mutation { addShop(input: [
      { name: "a", city: "Bern", owner: { name: "ann" }, goods: [{ code: "g1", name: "nail", price: 1 }, { code: "g2", price: 2 }] }
      { name: "b", owner: { name: "ben", city: "Basel" }, goods: [{ code: "g3", name: "saw", maker: { name: "cat" } }] }
      { name: "c" }
    ]) { numUids } }`);
    expect(body.data).toEqual({ addShop: { numUids: 9 } });
  });
  afterAll(() => shops.close());

  it('asks for the fields that it names, selected or not, of values, edges and ids', async () => {
    expect(await named('{ list: queryShop(order: { asc: name }) @cascade(fields: ["city"]) { name } }')).toEqual(['a']);
    expect(
      await named('{ list: queryShop(order: { asc: name }) @cascade(fields: ["owner", "goods"]) { name } }'),
    ).toEqual(['a', 'b']);
    expect(
      await named('{ list: queryShop(order: { asc: name }) @cascade(fields: ["name"]) { name city } }'),
    ).toHaveLength(3);
    const given = 'query ($f: [String]) { list: queryShop(order: { asc: name }) @cascade(fields: $f) { name } }';
    expect(await named(given, { f: ['city', 'owner'] })).toEqual(['a']);
    expect(await named(given, { f: ['owner'] })).toEqual(['a', 'b']);
    expect(await named(given, { f: null })).toEqual(['a', 'b', 'c']);
  });

  it('asks the same of the levels below, until one has its own', async () => {
    expect(
      await ask(
        '{ list: queryShop(order: { asc: name }) @cascade(fields: ["name"]) { name goods(order: { asc: code }) { code } } }',
      ),
    ).toEqual([
      { name: 'a', goods: [{ code: 'g1' }] },
      { name: 'b', goods: [{ code: 'g3' }] },
      { name: 'c', goods: [] },
    ]);
    expect(
      await ask(
        '{ list: queryShop(order: { asc: name }) @cascade(fields: ["owner"]) { name goods @cascade(fields: ["price"]) { code } } }',
      ),
    ).toEqual([
      { name: 'a', goods: [{ code: 'g1' }, { code: 'g2' }] },
      { name: 'b', goods: [] },
    ]);
    expect(await ask('{ list: queryShop @cascade { name goods { maker { name } } } }')).toEqual([
      { name: 'b', goods: [{ maker: { name: 'cat' } }] },
    ]);
  });

  it('cuts pages of what is left', async () => {
    expect(
      await named(
        '{ list: queryShop(order: { asc: name }, first: 1, offset: 1) @cascade(fields: ["owner"]) { name } }',
      ),
    ).toEqual(['b']);
  });

  it('refuses names that are no fields', async () => {
    const { body } = await shops.graphql('{ queryShop @cascade(fields: ["name", "town"]) { name } }');
    expect(body.errors[0]).toMatchObject({
      message: '@cascade names "town", which is no field of Shop.',
      locations: [{ line: 1, column: 39 }],
    });
    expect(body.data).toBeUndefined();
  });

  it.each([
    ['query ($f: [String]) { queryShop @cascade(fields: $f) { name } }', { f: ['name', 'town'] }, 'Shop'],
    ['query ($f: [String] = ["town"]) { queryShop @cascade(fields: $f) { name } }', {}, 'Shop'],
    ['query ($f: String) { queryShop @cascade(fields: ["name", $f]) { name } }', { f: 'town' }, 'Shop'],
    [
      'query ($f: [String]) { queryShop { ...S } } fragment S on Shop { goods @cascade(fields: $f) { name } }',
      { f: ['town'] },
      'Good',
    ],
    [
      'mutation ($f: [String]) { addOwner(input: [{ name: "dan" }]) { owner @cascade(fields: $f) { name } } }',
      { f: ['town'] },
      'Owner',
    ],
  ])('refuses them in variables too: %s', async (query, variables, type) => {
    const { body } = await shops.graphql(query, variables);
    expect(body.errors[0]).toMatchObject({
      message: `@cascade names "town", which is no field of ${type}.`,
      locations: [{ line: 1, column: query.lastIndexOf('$f') + 1 }],
    });
    expect(body.data).toBeUndefined();
    expect(await ask('{ list: queryOwner(filter: { name: { eq: "dan" } }) { name } }')).toEqual([]);
  });

  it('refuses any at an edge to a union, in requests and in rules', async () => {
    const zoo = (rule: string) => `
      type Zoo ${rule} { name: String! @id pets: [Pet] }
      type Cat { name: String! @id age: Int }
      type Dog { name: String! @id age: Int }
      union Pet = Cat | Dog`;
    const named = 'queryZoo { pets @cascade(fields: ["name", "age"]) { ... on Cat { name } } }';
    const service = await startService();
    const guarded = await service.schema(zoo(`@auth(query: { rule: ${JSON.stringify(`query { ${named} }`)} })`));
    const message = '@cascade names "name", and Pet is a union: it has no fields of its own.';
    expect(guarded.body.errors[0].message).toContain(message);
    expect((await service.schema(zoo(''))).status).toBe(200);
    const { body } = await service.graphql(`{ ${named} }`);
    const fix = 'Write @cascade without fields: it asks each node for what is selected of its type.';
    expect(body.errors[0]).toMatchObject({ message, extensions: { code: 'INVALID_GRAPHQL', fix } });
    expect(
      (await service.graphql(`{ ${named.replace('(fields: ["name", "age"])', '')} }`)).body.errors,
    ).toBeUndefined();
    await service.close();
  });

  it('looks at the variables of the operation that is asked for alone', async () => {
    const query = `
      query All { queryShop(order: { asc: name }) { name } }
      query Some($f: [String]) { queryShop(order: { asc: name }) { ...S } }
      query Other($f: [String]) { queryShop(order: { asc: name }, filter: { name: { in: $f } }) { name } }
      fragment S on Shop { goods @cascade(fields: $f) { name } }`;
    const asked = (operationName: string) =>
      shops.post('/graphql', JSON.stringify({ query, variables: { f: ['a'] }, operationName }), 'application/json');
    expect((await asked('Other')).body.data).toEqual({ queryShop: [{ name: 'a' }] });
    const some = await asked('Some');
    expect(some.body.errors[0].message).toBe('@cascade names "a", which is no field of Good.');
  });
});

describe('persisted queries', () => {
  it('by a hash that is not known yet are answered 200 with the code that clients send the text after', async () => {
    const query = '{ queryHouse { name } }';
    const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') } };
    const send = (body: object) => s.post('/graphql', JSON.stringify(body), 'application/json');
    const first = await send({ extensions });
    expect(first.status).toBe(200);
    expect(first.body.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect((await send({ query, extensions })).body.data.queryHouse).toHaveLength(3);
    expect((await send({ extensions })).body.data.queryHouse).toHaveLength(3);
    expect((await send({ extensions: {} })).status).toBe(400);
  });
});

describe('an upload over stored data', () => {
  const BEFORE = `
type Author { name: String! @id rank: String best: Book books: [Book] @hasInverse(field: author) empty: Int }
type Book { id: ID! title: String! author: Author }
type Never { a: Int }`;
  const AFTER = `
type Author { name: String! @id best: Essay }
type Essay { id: ID! title: String }`;
  const TOLD = [
    { type: 'Book', message: 'nodes of Book stay stored (type Book), and nothing reaches them' },
    {
      type: 'Author',
      field: 'rank',
      message: 'Author.rank: its values stay stored (predicate Author.rank), and nothing reaches them',
    },
    {
      type: 'Author',
      field: 'best',
      message: 'Author.best: it leads to Essay now; edges to nodes of Book stay stored',
    },
    {
      type: 'Author',
      field: 'books',
      message: 'Author.books: its values stay stored (predicate Author.books), and nothing reaches them',
    },
  ];
  let own: TestService;
  beforeAll(async () => {
    own = await startService();
    expect((await own.schema(BEFORE)).body).toEqual({ data: { code: 'Success', message: 'Done' } });
    const { body } = await own.graphql(
      'mutation { addAuthor(input: [{ name: "ann", rank: "first", best: { title: "b" }, books: [{ title: "c" }] }]) { numUids } }',
    );
    expect(body.data).toEqual({ addAuthor: { numUids: 3 } });
  });
  afterAll(() => own.close());

  it('says what of it nothing reaches any more, before and when it happens, and keeps it', async () => {
    const checked = await own.post('/admin/schema/validate', AFTER, 'text/plain');
    expect(checked.body).toEqual({
      data: { code: 'Success', message: 'Schema is valid' },
      extensions: { unreachable: TOLD },
    });
    expect((await own.schema(AFTER)).body.extensions).toEqual({ unreachable: TOLD });
    expect((await own.schema(BEFORE)).body).toEqual({ data: { code: 'Success', message: 'Done' } });
    const { body } = await own.graphql('{ getAuthor(name: "ann") { rank best { title } books { title } } }');
    expect(body.data).toEqual({ getAuthor: { rank: 'first', best: { title: 'b' }, books: [{ title: 'c' }] } });
    const update =
      'mutation ($s: String!) { updateGQLSchema(input: { set: { schema: $s } }) { gqlSchema { schema } } }';
    const admin = JSON.stringify({ query: update, variables: { s: AFTER } });
    expect((await own.post('/admin', admin, 'application/json')).body.extensions).toEqual({ unreachable: TOLD });
    expect((await own.schema(BEFORE)).status).toBe(200);
  });

  it('says which queries in the graph language read types past their rules', async () => {
    const ruled = await startService();
    const sdl = `
      type Draft @auth(query: { rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }) { id: ID! owner: String text: String }
      interface Sealed @auth(query: { rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }) { id: ID! seal: String }
      type Letter implements Sealed { to: String }
      type Note { id: ID! text: String drafts: [Draft] any: [Paper] }
      union Paper = Letter | Note
      type Shown @remote { text: String }
      type Query {
        drafts: [Draft] @custom(dql: "{ drafts(func: has(Note.text)) { text: Note.text } }")
        papers: [Paper] @custom(dql: "{ papers(func: has(Note.text)) { text: Note.text } }")
        shown(of: String!): [Shown] @custom(dql: "query q($of: string) { shown(func: has(Note.text)) @filter(eq(Note.text, $of)) { Note.drafts { text: Draft.text } } }")
        seals: [Shown] @custom(dql: "{ var(func: has(Note.text)) { s as Sealed.seal } seals() { text: max(val(s)) } }")
        counted: [Shown] @custom(dql: "{ counted(func: type(Letter)) { text: count(uid) } }")
        all: [Shown] @custom(dql: "{ all(func: has(Note.text)) { text: Note.text Note.any { expand(_all_) } } }")
        notes: [Note] @custom(dql: "{ notes(func: type(Note)) { text: Note.text } }")
      }`;
    const told = [
      ['drafts', ['Draft']],
      ['papers', ['Letter']],
      ['shown', ['Draft']],
      ['seals', ['Sealed', 'Letter']],
      ['counted', ['Letter']],
      ['all', ['Letter']],
    ].map(([field, types]) => ({
      field,
      types,
      message: `Query.${String(field)} reads ${(types as string[]).join(', ')} past the rules of @auth: a dql text answers whoever may call its field`,
    }));
    const checked = await ruled.post('/admin/schema/validate', sdl, 'text/plain');
    expect(checked.body.errors).toBeUndefined();
    expect(checked.body.extensions).toEqual({ unguarded: told });
    expect((await ruled.schema(sdl)).body.extensions).toEqual({ unguarded: told });
    const open = sdl.replaceAll('query: { rule', 'add: { rule');
    expect((await ruled.post('/admin/schema/validate', open, 'text/plain')).body.extensions).toBeUndefined();
    await ruled.close();
  });

  it('says which stored nodes cannot be read as it wants them', async () => {
    const enums = (values: string) =>
      `enum Rank { ${values} } type Mark { id: ID! rank: Rank ranks: [Rank!] note: String }`;
    const marks = await startService();
    await marks.schema(enums('HIGH LOW'));
    await marks.graphql('mutation { addMark(input: [{ rank: HIGH, ranks: [HIGH, LOW] }]) { numUids } }');
    const unreachable = async (text: string) => {
      const { body } = await marks.post('/admin/schema/validate', text, 'text/plain');
      return (body.extensions?.unreachable ?? []).map((one: { message: string }) => one.message);
    };
    expect(await unreachable(enums('HIGH LOW NONE'))).toEqual([]);
    expect(await unreachable(enums('HIGH NONE'))).toEqual([
      'Mark.ranks: stored nodes hold what Rank has no more (LOW): they answer INVALID_VALUE for it',
    ]);
    const lacking = (field: string) =>
      `Mark.${field}: it is required now, and stored nodes lack it: they answer NON_NULL for it`;
    const required = enums('HIGH LOW').replace('note: String', 'note: String! day: DateTime! days: [DateTime!]!');
    expect(await unreachable(required)).toEqual([lacking('note'), lacking('day')]);
    expect(await unreachable(enums('HIGH LOW').replace('rank: Rank', 'rank: Rank!'))).toEqual([]);
    const counted = enums('HIGH LOW').replace('note: String', 'note: String hits: Int64');
    await marks.schema(counted);
    await marks.graphql('mutation { addMark(input: [{ hits: "2147483648" }]) { numUids } }');
    const shorter = await unreachable(counted.replace('Int64', 'Int'));
    expect(shorter).toEqual([expect.stringMatching(/^Mark\.hits: stored nodes hold numbers of more than 32 bits/)]);
    await marks.close();
  });

  it('says which stored nodes know nothing of a new interface or of the other end of their edges', async () => {
    const own = await startService();
    const types = (inverse = '', named = '', type = 'type Home { town: String guests: [Guest] }') =>
      `type Guest ${named} { name: String home: Home ${inverse} } ${type}`;
    await own.schema(types());
    const remarks = async (text: string) => {
      const { body } = await own.post('/admin/schema/validate', text, 'text/plain');
      expect(body.errors).toBeUndefined();
      return (body.extensions?.unreachable ?? []).map((one: { message: string }) => one.message);
    };
    const paired = types('@hasInverse(field: guests)');
    const named = types(
      '',
      'implements Named',
      'type Home { town: String guests: [Guest] } interface Named { age: Int }',
    );
    expect([await remarks(paired), await remarks(named)]).toEqual([[], []]);
    await own.graphql('mutation { addGuest(input: [{ name: "ann", home: { town: "Bern" } }]) { numUids } }');
    expect(await remarks(paired)).toEqual([
      'Guest.home: stored edges do not lead back: Home.guests does not show them until an update sets them again',
    ]);
    expect(await remarks(types('@hasInverse(field: visits)').replace('guests', 'visits'))).toHaveLength(1);
    expect(await remarks(named)).toEqual([
      'stored nodes of Guest are not said to be of Named, and what asks for Named passes over them: set their type Named too',
    ]);
    await own.schema(paired);
    await own.graphql('mutation { updateGuest(input: { filter: {}, set: { home: { town: "Basel" } } }) { numUids } }');
    expect(await remarks(paired)).toEqual([]);
    await own.json({ query: '{ v as var(func: type(Guest)) }', set: { uid: 'uid(v)', 'service.type': 'Named' } });
    expect(await remarks(named.replace('home: Home', 'home: Home @hasInverse(field: guests)'))).toEqual([]);
    await own.close();
  });

  it('writes both ends of an edge from before its @hasInverse when an update sets the very same one again', async () => {
    const own = await startService();
    const types = (inverse = '') =>
      `type Guest { id: ID! home: Home ${inverse} } type Home { town: String! @id guests: [Guest] }`;
    await own.schema(types());
    const added = await own.graphql('mutation { addGuest(input: [{ home: { town: "Bern" } }]) { guest { id } } }');
    const { id } = added.body.data.addGuest.guest[0];
    await own.schema(types('@hasInverse(field: guests)'));
    const homes = async () => (await own.graphql('{ queryHome { guests { id } } }')).body.data.queryHome;
    expect(await homes()).toEqual([{ guests: [] }]);
    const again =
      'mutation ($id: [ID!]) { updateGuest(input: { filter: { id: $id }, set: { home: { town: "Bern" } } }) { numUids } }';
    await own.graphql(again, { id: [id] });
    expect(await homes()).toEqual([{ guests: [{ id }] }]);
    await own.close();
  });

  it('that the data refuses names the field, its place and the fix, when it is checked too, and changes nothing', async () => {
    const text = BEFORE.replace('rank: String', '\n  rank: Int');
    const refused = await own.schema(text);
    expect(refused.status).toBe(400);
    const checked = await own.post('/admin/schema/validate', text, 'text/plain');
    expect([checked.status, checked.body]).toEqual([400, refused.body]);
    const single = await own.post('/admin/schema/validate', BEFORE.replace('[Book]', 'Book'), 'text/plain');
    expect(single.body.errors).toMatchObject([
      { message: expect.stringContaining('Author.books'), extensions: { code: 'INVALID_SCHEMA' } },
    ]);
    expect(refused.body.errors).toEqual([
      {
        message: expect.stringContaining('Author.rank'),
        locations: [{ line: 3, column: 3 }],
        extensions: { code: 'INVALID_SCHEMA', fix: expect.any(String), rule: 'stored-data' },
      },
    ]);
    expect((await own.get('/admin/schema')).body).toBe(BEFORE);
  });
});

describe('an upload with mistakes of every kind', () => {
  it('lists them at once, each with line, column, rule and fix, and nothing that only follows from another', async () => {
    const remote = await startRemote();
    const theirs = buildSchema('type Country { code: String! } type Query { country(code: ID!): Country }');
    remote.on('/gql', (call) => ({ body: graphqlSync({ schema: theirs, source: call.json().query }) }));
    const call = (operation: string) =>
      `@custom(http: { url: "${remote.url}/gql", method: POST, graphql: "${operation}" })`;
    const before = (await s.get('/admin/schema')).body;
    const { status, body } = await s.schema(`
type Post @auth(
  query: { rule: "query { queryPost { titel } }" }
  delete: { rule: "query { queryPost { writer { name } } }" }
) {
  title: String! @search(by: [nothing])
  text: String
  writer: Writer
}
type Country @remote { code: String! name: String }
type Query {
  country(id: ID!): Country ${call('query ($id: ID!) { country(code: $id) }')}
  land(id: ID!): Country ${call('query ($id: ID!) { land(code: $id) }')}
}`);
    expect(status).toBe(400);
    const told = body.errors.map(
      (error: { message: string; locations: { line: number }[]; extensions: { rule: string; fix: string } }) =>
        `${error.locations[0].line} ${error.extensions.rule}: ${error.message}${error.extensions.fix ? '' : ' (no fix)'}`,
    );
    expect(told).toEqual([
      expect.stringMatching(/^3 auth-query: .*"titel"/),
      expect.stringMatching(/^6 search: .*nothing/),
      expect.stringMatching(/^8 known-type: .*Writer/),
      expect.stringMatching(/^12 .*Country has no field name/),
      expect.stringMatching(/^13 .*land/),
    ]);
    expect((await s.get('/admin/schema')).body).toBe(before);
    await remote.close();
  });
});

describe('numbers in variables', () => {
  it('of a Float may be whole and past 2^53, as JSON writes those of a program', async () => {
    expect((await s.schema('type Star { name: String! @id mass: Float @search at: Point @search }')).status).toBe(200);
    const add = 'mutation ($stars: [AddStarInput!]!) { addStar(input: $stars) { numUids } }';
    const stars = [
      { name: 'sun', mass: 1.989e20 },
      { name: 'dust', mass: -9007199254740992 },
    ];
    expect((await s.graphql(add, { stars })).body).toMatchObject({ data: { addStar: { numUids: 2 } } });
    const heavy = 'query ($from: Float!) { queryStar(filter: { mass: { ge: $from } }) { name mass } }';
    const { body } = await s.graphql(heavy, { from: 123456789012345680000 });
    expect(body.data).toEqual({ queryStar: [{ name: 'sun', mass: 1.989e20 }] });
    expect((await s.graphql(heavy, { from: '12' })).body.errors[0].message).toMatch(/Float cannot represent/);
  });
});
