import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Readable } from 'node:stream';
import fastify from 'fastify';
import type { Agents } from '../../agents/index.js';
import { startService, type TestService } from '../../../test/service.js';
import { explorerRoutes } from './explorer.js';

const TYPES = `
type Person {
  id: ID!
  name: String! @id @search(by: [term])
  friends: [Person!] @hasInverse(field: friends)
  manages: [Person] @dgraph(pred: "manages")
  boss: [Person] @dgraph(pred: "~manages")
  age: Int @custom(http: {url: "http://127.0.0.1:1/age/$id", method: "GET"})
}
type Weather @remote { city: String }
type Query {
  weather(city: String!): Weather @custom(http: {url: "http://127.0.0.1:1/$city", method: "GET"})
}
`;

let s: TestService;
beforeAll(async () => {
  s = await startService({ explorer: true });
  expect((await s.schema(TYPES)).status).toBe(200);
});
afterAll(() => s.close());

describe('what the explorer asks', () => {
  it('says what there is', async () => {
    const { body } = await s.get('/explorer/api/info');
    expect(body).toMatchObject({ typePredicate: 'service.type', agents: false, connections: false });
  });

  it('shows nothing of a schema that is not there', async () => {
    const empty = await startService({ explorer: true });
    const { body } = await empty.get('/explorer/api/schema');
    await empty.close();
    expect(body).toEqual({ text: null, types: [], operations: [] });
  });

  it('shows types beside their predicates, and where operations come from', async () => {
    const { body } = await s.get('/explorer/api/schema');
    const person = body.types.find((type: { name: string }) => type.name === 'Person');
    const fields = Object.fromEntries(person.fields.map((field: { name: string }) => [field.name, field]));
    expect(fields).toMatchObject({
      id: { role: 'id' },
      name: { predicate: 'Person.name', unique: true, search: ['term', 'hash'] },
      friends: { role: 'edge', predicate: 'Person.friends', inverse: 'Person.friends' },
      boss: { predicate: 'manages', reverse: true },
      age: { role: 'custom' },
    });
    const from = Object.fromEntries(
      body.operations.map((one: { name: string; from: string; source?: string }) => [one.name, [one.from, one.source]]),
    );
    expect(from).toMatchObject({
      getPerson: ['type', 'Person'],
      addPerson: ['type', 'Person'],
      weather: ['custom', 'GET over HTTP'],
    });
  });

  it('tells what predicates and their indexes take', async () => {
    await s.rdf('{ set { _:a <Person.name> "Ann Lee" . _:a <service.type> "Person" . _:a <Person.friends> _:a . } }');
    const { body } = await s.get('/explorer/api/sizes');
    const parts = Object.fromEntries(
      body.map((one: { predicate: string; parts: Record<string, unknown> }) => [one.predicate, one.parts]),
    );
    const some = { keys: expect.any(Number), bytes: expect.any(Number), more: false };
    expect(parts['Person.name']).toEqual({ data: some, hash: some, term: some });
    expect(parts['Person.name'].term.keys).toBe(2);
    expect(parts['Person.name'].term.bytes).toBeGreaterThan(parts['Person.name'].hash.bytes);
    expect(parts['Person.friends'].data.keys).toBe(1);
  });

  it('answers no other site', async () => {
    const { status, body } = await s.get('/explorer/api/info', { 'sec-fetch-site': 'cross-site' });
    expect([status, body.errors[0].extensions.code]).toEqual([403, 'FORBIDDEN']);
    expect((await s.get('/explorer/api/info', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    for (const path of ['/explorer/api/info', '/%65xplorer/api/info', '/explorer/%61pi/info']) {
      expect([path, (await s.get(path, { 'sec-fetch-site': 'same-site' })).status]).toEqual([path, 403]);
    }
  });

  it('says what to do where there is no app', async () => {
    const { status, body } = await s.get('/explorer/api/agents');
    expect([status, body.errors[0].extensions.fix]).toEqual([404, 'graphstead dev <folder with app.json>']);
    expect((await s.get('/explorer/api/connections')).body).toMatchObject({ app: false, connections: [] });
    expect((await s.get('/explorer/api/connections/x/reach')).body.errors[0].extensions.code).toBe(
      'CONNECTION_UNKNOWN',
    );
  });

  it('takes the first of a parameter that is given twice', async () => {
    const asked: unknown[] = [];
    const agents = {
      list: async (filter: unknown) => asked.push(filter) && [],
      info: async () => ({}),
      events(request: { names?: readonly string[] }) {
        asked.push(request.names);
        return Readable.from([]);
      },
    } as unknown as Agents;
    const app = fastify();
    explorerRoutes(app, s.service.core, { version: '1', agents });
    await app.inject('/explorer/api/agents?name=a&name=b&status=running&status=stopped');
    await app.inject('/explorer/api/agents/x/events?names=c,d&names=e');
    await app.close();
    expect(asked).toEqual([{ name: 'a', status: 'running', first: 101 }, ['c', 'd']]);
  });

  it('serves nothing outside its folder', async () => {
    for (const name of [
      'nothing.js',
      '..%2f..%2f..%2fpackage.json',
      '..%5c..%5cpackage.json',
      '%00',
      '.hidden',
      'a%2fb',
    ]) {
      const { status, body } = await s.get(`/explorer/assets/${name}`);
      expect([name, status, body.errors?.[0].extensions.code]).toEqual([name, 404, 'NOT_FOUND']);
    }
  });
});

it('sends a handler text, or all its arguments', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'graphstead-explorer-'));
  mkdirSync(join(folder, 'agents'));
  writeFileSync(
    join(folder, 'agents', 'shelf.ts'),
    `import { Agent, agents } from 'graphstead/app';
    class Shelf extends Agent {
      static readonly handlers = ['put', 'empty'] as const;
      put(item: unknown, pieces?: number): unknown { return { item, pieces }; }
      empty(): void {}
    }
    agents.register(Shelf);`,
  );
  const service = await startService({ explorer: true, appDir: folder });
  try {
    expect((await service.get('/explorer/api/agents')).body.types).toMatchObject([{ handlers: ['put', 'empty'] }]);
    const post = async (path: string, body: object) =>
      (await service.post(`/explorer/api/agents${path}`, JSON.stringify(body), 'application/json')).body;
    const { id } = await post('', { name: 'Shelf' });
    const send = (body: object) => post(`/${id}/send`, body);
    const put = (sent: object) => send({ message: 'put', ...sent }).then(({ reply }) => reply);
    expect(await put({ arguments: [['tea'], 2] })).toBe('{"item":["tea"],"pieces":2}');
    expect(await put({ data: '["tea"]' })).toBe('{"item":["tea"]}');
    expect((await send({ message: 'empty', arguments: [] })).reply).toBeNull();
    const left = await send({ message: 'empty', arguments: [], background: true });
    expect(left).toEqual({ id: expect.any(String) });
  } finally {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

it('is where the address alone leads to', async () => {
  const response = await fetch(s.url, { redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, '/explorer']);
});

it('is off unless asked for', async () => {
  const plain = await startService();
  for (const path of ['/explorer', '/']) {
    const { status, body } = await plain.get(path);
    expect(status).toBe(404);
    expect(body.errors[0].extensions.fix).toContain('--explorer');
  }
  expect((await plain.get('/explorer/api/info')).status).toBe(404);
  await plain.close();
});

it('asks for the key everywhere but for the page itself', async () => {
  const environment = { GRAPHSTEAD_API_KEYS: 'right' };
  const closed = await startService({ explorer: true, host: '0.0.0.0', environment });
  const url = closed.url.replace('0.0.0.0', '127.0.0.1');
  const status = async (path: string, key?: string) =>
    (await fetch(url + path, { headers: key ? { authorization: `Bearer ${key}` } : {} })).status;
  expect(await status('/explorer/api/info')).toBe(401);
  expect(await status('/explorer/api/agents')).toBe(401);
  expect(await status('/explorer/api/info', 'right')).toBe(200);
  expect(await status('/explorer/assets/nothing.js')).toBe(404);
  expect(await status('/')).toBe(200);
  await closed.close();
});
