// One stored form: a data directory that was written in one mode opens in the other, with everything that was declared in it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../cli/command.js';
import { startService, type TestService } from '../service.js';

let folder: ReturnType<typeof scratch>;
let remote: Server;
const opened: TestService[] = [];
beforeEach(async () => {
  folder = scratch();
  remote = createServer((request, reply) => {
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ name: request.headers['x-token'] ?? 'none' }));
  });
  await new Promise<void>((listening) => remote.listen(0, '127.0.0.1', listening));
});
afterEach(async () => {
  for (const service of opened.splice(0).reverse()) await service.close();
  remote.close();
  folder.remove();
});

async function service(options: Parameters<typeof startService>[0] = {}): Promise<TestService> {
  const started = await startService({ data: folder.path('data'), ...options });
  opened.push(started);
  return started;
}

const definitions = (word: 'Dgraph' | 'Service') => `
type Person { id: ID! name: String! @search(by: [exact]) }
type Told @remote { name: String }
type Query {
  told: Told @custom(http: {
    url: "http://127.0.0.1:${(remote.address() as AddressInfo).port}/", method: GET, secretHeaders: ["x-token:token"]
  })
}
"""not a declaration: # Dgraph.Secret other value"""
type Noted { id: ID! text: String }
# ${word}.Secret token "the value"
#${word}.Allow-Origin "http://page.example"
`;

async function isWhole(at: TestService): Promise<void> {
  expect((await at.graphql('{ queryPerson { name } told { name } }')).body.data).toEqual({
    queryPerson: [{ name: 'Ann' }],
    told: { name: 'the value' },
  });
  const { headers } = await at.get('/health', { origin: 'http://page.example' });
  expect(headers.get('access-control-allow-origin')).toBe('http://page.example');
}

it('keeps other pages out where definitions name whose may read, also while they are refused', async () => {
  const peer = await service({ compat: 'dgraph' });
  const told = await peer.schema(`
    type Told @remote { name: String }
    type Query { told: Told @custom(http: { url: "http://127.0.0.1:1/", method: POST, body: "{ kept: 1 }" }) }
    # Dgraph.Allow-Origin "http://page.example"
  `);
  expect(told.body.errors).toBeUndefined();
  await peer.close();
  const native = await service();
  expect((await native.graphql('{ told { name } }')).body.errors).toBeDefined();
  expect(
    (await native.post('/admin', '{"query": "{ getGQLSchema { generatedSchema } }"}', 'application/json')).body,
  ).toEqual({ data: { getGQLSchema: { generatedSchema: '' } } });
  const allowed = async (origin: string) =>
    (await native.get('/health', { origin })).headers.get('access-control-allow-origin');
  expect([await allowed('http://page.example'), await allowed('http://other.example')]).toEqual([
    'http://page.example',
    null,
  ]);
  await native.schema('type Note { id: ID! text: String }');
  expect(await allowed('http://other.example')).toBe('*');
});

describe('type definitions with declarations', () => {
  it.each([
    ['Dgraph', { compat: 'dgraph' }, {}],
    ['Service', {}, { compat: 'dgraph' }],
  ] as const)('that were stored as # %s... are served in the other mode', async (word, first, second) => {
    const before = await service(first);
    expect((await before.schema(definitions(word))).body.data?.code).toBe('Success');
    await before.graphql('mutation { addPerson(input: [{ name: "Ann" }]) { numUids } }');
    await isWhole(before);
    await before.close();
    opened.pop();
    await isWhole(await service(second));
  });

  it('are shown in the words of the mode, and as they are elsewhere', async () => {
    const peer = await service({ compat: 'dgraph' });
    await peer.schema(definitions('Dgraph'));
    const reader = await service({ readOnly: true, limits: { followMs: 5 } });
    const shown = (await reader.get('/admin/schema')).body;
    expect(shown).toBe(definitions('Service').replace('the value', '[hidden]'));
    // one that follows, too
    await peer.schema(definitions('Dgraph').replace('text: String', 'text: String more: Int'));
    while (!(await reader.get('/admin/schema')).body.includes('more: Int'));
    expect((await reader.get('/admin/schema')).body).toMatch(/^# Service\.Secret token/m);
  });
});

/** natively one edge cannot be the other end of two */
const TWO_ENDS = `interface Post { id: ID! text: String author: Person }
type Note implements Post { title: String }
# Service.Secret token "the value"
type Person { id: ID! name: String! posts: [Post] @hasInverse(field: author) notes: [Note] @hasInverse(field: author) }`;

describe('type definitions that only the other mode takes', () => {
  async function refused(): Promise<TestService> {
    const before = await service({ compat: 'dgraph' });
    expect((await before.schema(TWO_ENDS)).body.data?.code).toBe('Success');
    await before.graphql('mutation { addPerson(input: [{ name: "Ann", notes: [{ text: "hm" }] }]) { numUids } }');
    await before.close();
    opened.pop();
    return await service();
  }
  const PLACE = 'line 4, column 93: @hasInverse on Person.notes: Note.author is the inverse of Person.posts already';

  it('are told with their place, and the graph is served without them', async () => {
    const after = await refused();
    expect(after.service.warnings).toEqual([
      expect.stringMatching(/^no stored type is served: .*:4:93 @hasInverse on/),
    ]);
    const { errors } = (await after.graphql('{ queryPerson { name } }')).body;
    expect(errors).toMatchObject([{ message: `the stored GraphQL schema is refused: ${PLACE}` }]);
    expect(errors[0].extensions).toMatchObject({
      code: 'INVALID_SDL',
      fix: expect.stringContaining('GET /admin/schema'),
    });
    expect(await after.data('{ q(func: has(Person.name)) { Person.name } }')).toEqual({
      q: [{ 'Person.name': 'Ann' }],
    });
    expect((await after.rdf('{ set { _:b <Person.name> "Ben" . } }')).status).toBe(200);
  });

  it('are shown and exported as they are, and others take their place', async () => {
    const after = await refused();
    const shown = TWO_ENDS.replace('the value', '[hidden]');
    expect((await after.get('/admin/schema')).body).toBe(shown);
    const ask = '{ getGQLSchema { schema generatedSchema } }';
    const asked = await after.post('/admin', ask, 'application/graphql');
    expect(asked.body.data).toEqual({ getGQLSchema: { schema: shown, generatedSchema: '' } });
    const exported = (await after.get('/admin/export')).body as string;
    expect(exported.split('\n').map((line) => JSON.parse(line || '{}'))).toContainEqual(
      expect.objectContaining({ file: 'graph.graphql', text: TWO_ENDS }),
    );
    const corrected = TWO_ENDS.replace('notes: [Note] @hasInverse(field: author)', 'notes: [Note]');
    expect((await after.schema(corrected)).status).toBe(200);
    expect((await after.graphql('{ queryPerson { name notes { text } } }')).body.data).toEqual({
      queryPerson: [{ name: 'Ann', notes: [{ text: 'hm' }] }],
    });
    expect((await after.get('/admin/schema')).body).toContain('notes: [Note] }');
  });
});
