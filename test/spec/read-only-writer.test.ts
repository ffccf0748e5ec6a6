// A service that only reads and knows the one that writes: asked for anything, it answers as that one would.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolve } from 'node:path';
import { createClient } from 'graphql-sse';
import { afterEach, describe, expect, it } from 'vitest';
import { run, scratch, serve } from '../cli/command.js';
import { freePort } from '../free-port.js';
import { startService, type TestService } from '../service.js';
import { openStream } from '../sse.js';
import { TestSocket } from '../web-socket.js';

const APP = `
import { Agent, agents } from 'graphstead/app';
export class Teller extends Agent {
  override async onReceiveMessage(name: string): Promise<string> { this.publishEvent('told', { name }); return name; }
}
agents.register(Teller);
/** @query */
export function double(n: number): number { return 2 * n; }
export async function startTeller(): Promise<string> { return (await agents.start('Teller')).id; }
export async function say(id: string, name: string): Promise<string | null> { return agents.sendMessage(id, name); }
`;
const TYPES = 'type Book { id: ID! title: String! @search(by: [exact]) }';
const ADD = 'mutation ($title: String!) { addBook(input: [{title: $title}]) { book { title } } }';
const BOOKS = '{ queryBook(order: {asc: title}) { title } }';
const LISTEN = 'subscription ($id: String) { agentEvent(agentId: $id) { name data } }';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function service(options: Parameters<typeof startService>[0]): Promise<TestService> {
  const started = await startService(options);
  opened.push(() => started.close());
  return started;
}

/** The one that writes with an app, and one beside it that looks for nothing by itself. */
async function pair(environment: Record<string, string> = {}) {
  const folder = scratch();
  opened.push(() => folder.remove());
  const [data, appDir] = [folder.path('data'), folder.path('app')];
  mkdirSync(`${appDir}/functions`, { recursive: true });
  writeFileSync(`${appDir}/functions/index.ts`, APP);
  const writer = await service({ data, appDir, environment });
  await writer.schema(TYPES);
  const readOnly = { data, readOnly: true, environment, limits: { followMs: 60_000 } };
  const reader = await service({ ...readOnly, writer: writer.url });
  return { writer, reader, readOnly };
}

/** Something that stands where the service that writes should. */
async function standIn(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A reader of a store that is there, with something else in the place of the service that writes. */
async function readerOf(writer: string, limits = {}): Promise<TestService> {
  const { readOnly } = await pair();
  return service({ ...readOnly, writer, limits: { ...readOnly.limits, ...limits } });
}

describe('a service that only reads and knows the one that writes', () => {
  it('takes changes in both languages, and shows them at once', async () => {
    const { writer, reader } = await pair();
    expect((await reader.graphql(ADD, { title: 'A' })).body).toEqual({
      data: { addBook: { book: [{ title: 'A' }] } },
      extensions: expect.anything(),
    });
    expect((await reader.graphql(BOOKS)).body.data.queryBook).toEqual([{ title: 'A' }]);
    expect((await reader.alter('Book.pages: int .')).body.data.code).toBe('Success');
    const { body } = await reader.rdf('{ set { _:b <Book.title> "B" . _:b <service.type> "Book" . } }');
    expect(Object.keys(body.data.uids)).toEqual(['b']);
    await reader.json({ set: { 'Book.title': 'C', 'service.type': 'Book' } });
    // with the origin of a page it goes through the library
    await reader.graphql(ADD, { title: 'D' }, { origin: 'http://127.0.0.1:3000' });
    const all = ['A', 'B', 'C', 'D'].map((title) => ({ title }));
    expect((await reader.graphql(BOOKS)).body.data.queryBook).toEqual(all);
    expect((await writer.graphql(BOOKS)).body.data.queryBook).toEqual(all);
    const open = await reader.rdf('{ set { _:e <Book.title> "E" . } }', '');
    const { start_ts: startTs } = open.body.extensions.txn;
    const { keys, preds } = open.body.extensions.txn;
    await reader.post(`/commit?startTs=${startTs}`, JSON.stringify({ keys, preds }), 'application/json');
    expect((await reader.data('{ q(func: eq(Book.title, "E")) { Book.title } }')).q).toHaveLength(1);
    expect(Number((await reader.get('/assign?what=uids&num=5')).body.startId)).toBeGreaterThan(0);
  });

  it('hands a transaction that may write to the one that writes, from its first query on', async () => {
    const { writer, reader, readOnly } = await pair();
    await reader.alter('stock: int .');
    const { uids } = (await reader.rdf('{ set { _:tea <stock> "10" . } }')).body.data;
    const left = `{ q(func: uid(${uids.tea})) { stock } }`;
    const take = async (at: TestService, startTs: number, stock: number) =>
      at.rdf(`{ set { <${uids.tea}> <stock> "${stock}" . } }`, `?startTs=${startTs}&commitNow=true`);
    // two that read the same: the second loses
    const begun = await Promise.all([reader.query(left, '?ro=false'), writer.query(left)]);
    const [first, second] = begun.map(({ body }) => body.extensions.txn.start_ts as number);
    expect((await take(reader, first, 9)).status).toBe(200);
    expect((await take(reader, second, 9)).body.errors[0].extensions.code).toBe('TXN_ABORTED');
    expect((await reader.data(left)).q).toEqual([{ stock: 9 }]);

    // one that a change began sees what it changed, wherever it asks
    const open = await reader.rdf(`{ set { <${uids.tea}> <stock> "1" . } }`, '');
    const at = `?startTs=${open.body.extensions.txn.start_ts}`;
    expect((await reader.query(left, at)).body.data.q).toEqual([{ stock: 1 }]);
    expect((await reader.query(left)).body.data.q).toEqual([{ stock: 9 }]);
    await reader.post(`/commit${at}&abort=true`, '', 'application/json');
    // what was read here can be read again here, without the one that writes
    const shown = (await reader.query(left)).body.extensions.txn.start_ts;
    await writer.rdf(`{ set { <${uids.tea}> <stock> "8" . } }`);
    expect((await reader.query(left, `?startTs=${shown}`)).body.data.q).toEqual([{ stock: 9 }]);

    // the peer's programs say of a query that it only reads
    const peer = await service({ ...readOnly, compat: 'dgraph', writer: writer.url });
    const theirs = (await peer.query(left)).body.extensions.txn.start_ts;
    expect((await take(peer, theirs, 7)).body.data.code).toBe('Success');
    await writer.close();
    for (const query of ['?ro=true', '?be=true']) {
      expect((await peer.query(left, query)).body.data.q).toEqual([{ stock: 7 }]);
    }
    const refused = await peer.query(left);
    expect([refused.status, refused.body.errors[0].extensions]).toEqual([
      503,
      { code: 'READ_ONLY_STORE', fix: expect.stringContaining('ro=true') },
    ]);
  });

  it('is one with all others, to clients that ask another one each time', async () => {
    const { writer, reader, readOnly } = await pair();
    const all = [writer, reader, await service({ ...readOnly, writer: writer.url })];
    const { startTeller: id } = (await reader.graphql('mutation { startTeller }')).body.data;
    const client = async (name: string) => {
      let next = name.charCodeAt(0);
      const any = () => all[next++ % all.length];
      for (let i = 0; i < 12; i++) {
        const title = `${name}${i}`;
        await any().graphql(ADD, { title });
        const found = `{ queryBook(filter: {title: {eq: "${title}"}}) { title } }`;
        expect((await any().graphql(found)).body.data.queryBook).toEqual([{ title }]);
        const said = await any().graphql(`mutation { say(id: "${id}", name: "${title}") }`);
        expect(said.body.data).toEqual({ say: title });
        await any().graphql(`mutation { deleteBook(filter: {title: {eq: "${title}"}}) { numUids } }`);
        expect((await any().graphql(found)).body.data.queryBook).toEqual([]);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(client));
  });

  it('takes type definitions, by text and by the admin API', async () => {
    const { reader } = await pair();
    expect((await reader.schema(`${TYPES} type Film { id: ID! name: String! }`)).body.data.code).toBe('Success');
    expect((await reader.graphql('{ queryFilm { name } }')).body.data).toEqual({ queryFilm: [] });
    const update = `mutation { updateGQLSchema(input: {set: {schema: ${JSON.stringify(TYPES)}}}) { gqlSchema { schema } } }`;
    const told = await reader.post('/admin', JSON.stringify({ query: update }), 'application/json');
    expect(told.body.data.updateGQLSchema.gqlSchema.schema).toBe(TYPES);
    const id = await reader.post('/admin', '{"query": "{ getGQLSchema { id } }"}', 'application/json');
    expect(id.body.data.getGQLSchema.id).toMatch(/^0x/);
    const own = await reader.post('/admin', '{"query": "{ health { status } }"}', 'application/json');
    expect(own.body.data.health[0].status).toBe('healthy');
    const gone = await reader.graphql('{ queryFilm { name } }');
    expect(gone.body.errors[0].message).toMatch(/Cannot query field "queryFilm"/);
  });

  it('answers functions, agents and their events, and tells of them', async () => {
    const { reader, writer } = await pair();
    expect((await reader.graphql('{ double(n: 21) }')).body.data).toEqual({ double: 42 });
    const address = `/graphql?query=${encodeURIComponent('{ double(n: 2) }')}`;
    expect((await reader.get(address)).body.data).toEqual({ double: 4 });
    const { startTeller: id } = (await reader.graphql('mutation { startTeller }')).body.data;
    const live = await openStream(`${reader.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: LISTEN, variables: { id } }),
    });
    opened.push(() => live.close());
    expect([live.status, live.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/event-stream/),
    ]);
    const say = (name: string) =>
      reader.graphql('mutation ($id: String!, $name: String!) { say(id: $id, name: $name) }', { id, name });
    expect((await say('hello')).body.data).toEqual({ say: 'hello' });
    expect((await live.value()).data.agentEvent).toEqual({ name: 'told', data: { name: 'hello' } });
    const offered = '{ __schema { queryType { fields { name } } ... on __Schema { __typename } } }';
    expect((await reader.graphql(offered)).body).toEqual((await writer.graphql(offered)).body);
    const inFragment = 'query { ...F } fragment F on Query { ... { __type(name: "Mutation") { fields { name } } } }';
    const { fields } = (await reader.graphql(inFragment)).body.data.__type;
    expect(fields.map(({ name }: { name: string }) => name)).toContain('startTeller');
    const tools = await reader.post('/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 'application/json', {
      accept: 'application/json, text/event-stream',
    });
    expect(JSON.stringify(tools.body)).toContain('startTeller');
  });

  it('has one event stream for many operations, of its own data and of agents', async () => {
    const { reader } = await pair();
    const client = createClient({ url: `${reader.url}/graphql`, singleConnection: true, lazy: true });
    opened.push(() => client.dispose());
    const events = client.iterate({
      query: LISTEN,
      variables: { id: (await reader.graphql('mutation { startTeller }')).body.data.startTeller },
    });
    const books = client.iterate({ query: BOOKS });
    expect((await books.next()).value.data).toEqual({ queryBook: [] });
    await events.return?.();
  });

  it('answers queries by itself while the one that writes is gone, and says of everything else that it is', async () => {
    const { writer, reader } = await pair();
    await writer.graphql(ADD, { title: 'A' });
    await writer.close();
    expect((await reader.graphql(BOOKS)).body.data.queryBook).toEqual([{ title: 'A' }]);
    expect((await reader.data('{ q(func: has(Book.title)) { count(uid) } }')).q).toEqual([{ count: 1 }]);
    const [mutation, upload, rdf] = [
      await reader.graphql(ADD, { title: 'B' }),
      await reader.schema(TYPES),
      await reader.rdf('{ set { _:b <Book.title> "B" . } }'),
    ];
    for (const { body } of [mutation, upload, rdf]) {
      expect(body.errors[0].extensions.code).toBe('READ_ONLY_STORE');
      expect(body.errors[0].message).toContain(new URL(writer.url).host);
    }
    expect([upload.status, rdf.status]).toEqual([503, 503]);
  });

  it('says that it does not know where the one that writes breaks off, or is silent', async () => {
    const cut = await readerOf(await standIn((request) => request.socket.destroy()));
    // long enough to connect on a busy machine: who could not has sent nothing
    const silent = await readerOf(await standIn(() => undefined), { forwardMs: 1_000 });
    for (const reader of [cut, silent]) {
      const { status, body } = await reader.rdf('{ set { _:b <Book.title> "B" . } }');
      expect([status, body.errors[0].extensions.code]).toEqual([504, 'OUTCOME_UNKNOWN']);
      expect((await reader.graphql(ADD, { title: 'B' })).body.errors[0].extensions.code).toBe('OUTCOME_UNKNOWN');
      const paged = await reader.graphql(ADD, { title: 'B' }, { origin: 'http://127.0.0.1:3000' });
      expect(paged.body.errors[0].extensions.code).toBe('OUTCOME_UNKNOWN');
    }
  });

  it('is told by a service that stops what it has not begun, and sends nothing more', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const data = folder.path('data');
    const writer = await service({ data });
    await writer.schema(TYPES);
    const reader = await service({ data, readOnly: true, writer: writer.url });
    expect((await reader.graphql(ADD, { title: 'A' })).body.errors).toBeUndefined();
    const early = connect(Number(new URL(writer.url).port), '127.0.0.1').setEncoding('utf8');
    let told = '';
    early.on('data', (text) => (told += text)).on('error', (error) => (told += error.message));
    await once(early, 'connect');
    const closing = writer.close();
    await sleep(10);
    // of one that had connected, what it sends now, and of one that connects
    early.write('POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n');
    const late = await reader.graphql(ADD, { title: 'B' });
    expect([late.status, late.body.errors[0].extensions.code]).toEqual([503, 'NOT_READY']);
    expect(late.headers.get('x-graphstead-stopping')).toBeNull();
    const later = await reader.graphql(ADD, { title: 'C' });
    expect([later.status, later.body.errors[0].extensions.code]).toEqual([503, 'READ_ONLY_STORE']);
    await expect.poll(() => told).toMatch(/^HTTP\/1.1 503 [\s\S]*"NOT_READY"/);
    await closing;
    expect((await reader.graphql(BOOKS)).body.data).toEqual({ queryBook: [{ title: 'A' }] });
  });

  it('asks a service that speaks TLS where it trusts its certificate, and sends nothing where it does not', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const file = (name: string) => resolve(import.meta.dirname, '../support/tls', name);
    const [data, cert] = [folder.path('data'), file('localhost.pem')];
    const { url } = await service({ data, tls: { cert, key: file('localhost.key') } });
    const args = ['--data', data, '--read-only', '--writer', url];
    const trusting = await serve(args, { environment: { NODE_EXTRA_CA_CERTS: cert } });
    opened.push(() => trusting.stop());
    const doubting = await service({ data, readOnly: true, writer: url });
    const refused = await doubting.rdf('{ set { _:a <name> "a" . } }');
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([503, 'READ_ONLY_STORE']);
    const types = await fetch(`${trusting.url}/admin/schema`, { method: 'POST', body: TYPES });
    expect(types.status).toBe(200);
    expect(await trusting.graphql(ADD, { title: 'A' })).toMatchObject({
      data: { addBook: { book: [{ title: 'A' }] } },
    });
  });

  it('sends nothing in circles', async () => {
    const { readOnly } = await pair();
    const port = await freePort();
    const own = await service({ ...readOnly, port, writer: `http://127.0.0.1:${port}` });
    for (const { body } of [
      await own.graphql(ADD, { title: 'B' }),
      await own.rdf('{ set { _:b <Book.title> "B" . } }'),
    ]) {
      expect(body.errors[0].extensions.code).toBe('READ_ONLY_STORE');
    }
    expect((await own.graphql('{ double(n: 1) }')).body.errors[0].message).toMatch(/Cannot query field "double"/);
  });

  it('hands on who asks, his request as it is, and the answer as it is', async () => {
    let got: Record<string, unknown> = {};
    const url = await standIn((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => {
        got = { url: request.url, headers: request.headers, body: Buffer.concat(parts).toString() };
        response.writeHead(418, {
          'x-own': 'a',
          'content-type': 'text/x-tea',
          'x-hop': 'b',
          connection: 'x-hop, close',
        });
        response.end('tea');
      });
    });
    const reader = await readerOf(url);
    const headers = {
      'x-auth': 'token',
      'idempotency-key': 'k1',
      'x-request-id': 'request-1',
      'accept-encoding': 'gzip',
    };
    const body = JSON.stringify({ query: ADD, variables: { title: 'ä' } });
    const ways: Record<string, string>[] = [{}, { origin: 'http://127.0.0.1:3000' }];
    for (const more of ways) {
      const answer = await fetch(`${reader.url}/graphql?x=1`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers, ...more },
      });
      expect([answer.status, answer.headers.get('x-own'), answer.headers.get('content-type')]).toEqual([
        418,
        'a',
        'text/x-tea',
      ]);
      expect([await answer.text(), answer.headers.get('x-hop')]).toEqual(['tea', null]);
      expect(got).toMatchObject({ url: '/graphql?x=1', body });
      expect(got['headers']).toMatchObject({
        host: new URL(url).host,
        'x-auth': 'token',
        'idempotency-key': 'k1',
        'x-request-id': 'request-1',
        'content-length': String(Buffer.byteLength(body)),
      });
    }
    const large = 'x'.repeat(300_000);
    expect((await reader.post('/mutate', large, 'application/rdf')).status).toBe(418);
    expect((got['body'] as string).length).toBe(large.length);
  });

  it('hands a large answer on as it comes, at the pace of whoever reads it, and breaks off where it does', async () => {
    const part = Buffer.alloc(256 * 1024, 'x');
    const parts = 200;
    let sent = 0;
    let isCut = false;
    const url = await standIn((_request, response) => {
      sent = 0;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': parts * part.length });
      const more = () => {
        while (sent < parts) {
          sent++;
          if (isCut && sent === 20) {
            response.destroy();
            return;
          }
          if (!response.write(part)) return;
        }
        response.end();
      };
      response.on('drain', more);
      more();
    });
    const reader = await readerOf(url);
    const ask = () =>
      fetch(`${reader.url}/graphql`, {
        method: 'POST',
        body: JSON.stringify({ query: ADD, variables: { title: 'a' } }),
        headers: { 'content-type': 'application/json' },
      });
    const slow = await ask();
    const body = slow.body!.getReader();
    await body.read();
    // what sockets take on the way, and no more
    let before = -1;
    while (before < sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(sent).toBeLessThan(parts / 2);
    await body.cancel();
    for (let i = 0; i < 3; i++) expect((await (await ask()).arrayBuffer()).byteLength).toBe(parts * part.length);
    isCut = true;
    await expect((await ask()).arrayBuffer()).rejects.toThrow();
    isCut = false;
    expect((await (await ask()).arrayBuffer()).byteLength).toBe(parts * part.length);
  });

  it('bounds what waits there, and lets go of it with whoever waited', async () => {
    const waiting: (() => void)[] = [];
    const left: Promise<unknown>[] = [];
    const arrivals: (() => void)[] = [];
    const url = await standIn((request, response) => {
      waiting.push(() => response.end('{}'));
      left.push(new Promise<void>((resolve) => request.socket.once('close', () => resolve())));
      arrivals.shift()?.();
    });
    const reader = await readerOf(url, { forwards: 2 });
    const arrived = () => new Promise<void>((resolve) => arrivals.push(resolve));
    const leaving = new AbortController();
    const asks = async (path: string, init: RequestInit) => {
      const there = arrived();
      const answer = fetch(reader.url + path, { method: 'POST', ...init }).catch(() => undefined);
      await there;
      return answer;
    };
    void asks('/mutate', { body: 'x', signal: leaving.signal });
    const json = { 'content-type': 'application/json' };
    void asks('/graphql', {
      body: JSON.stringify({ query: ADD, variables: { title: 'x' } }),
      headers: json,
      signal: leaving.signal,
    });
    while (waiting.length < 2) await new Promise(setImmediate);
    const refused = await reader.rdf('x');
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([503, 'OVERLOADED']);
    leaving.abort();
    await Promise.all(left);
    const answer = asks('/mutate', { body: 'x' });
    while (waiting.length < 3) await new Promise(setImmediate);
    waiting[2]();
    expect((await answer)?.status).toBe(200);
  });

  it('asks for keys itself, and the one that writes asks again', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const data = folder.path('data');
    const open = (keys: string, options = {}) =>
      service({ data, host: '0.0.0.0', environment: { GRAPHSTEAD_API_KEYS: keys }, ...options });
    const writer = await open('both,writers');
    const key = { 'x-api-key': 'both' };
    await writer.post('/admin/schema', TYPES, 'text/plain', key);
    const reader = await open('both,readers', { readOnly: true, writer: writer.url });
    expect((await reader.graphql(ADD, { title: 'A' }, key)).body.errors).toBeUndefined();
    expect((await reader.graphql(ADD, { title: 'A' })).status).toBe(401);
    expect((await reader.rdf('x')).status).toBe(401);
    const other = { 'x-api-key': 'readers' };
    expect((await reader.graphql(BOOKS, {}, other)).body.data.queryBook).toEqual([{ title: 'A' }]);
    const refused = await reader.graphql(ADD, { title: 'B' }, other);
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('asks who opens a WebSocket for a key, also where the one that writes needs none', async () => {
    const { writer, readOnly } = await pair();
    const environment = {
      GRAPHSTEAD_API_KEYS: 'whole',
      GRAPHSTEAD_CLIENT_KEYS: 'page',
      GRAPHSTEAD_METRICS_KEYS: 'figures',
    };
    const { url } = await service({ ...readOnly, writer: writer.url, host: '0.0.0.0', environment });
    const socketOf = async (options = {}): Promise<TestSocket> => {
      const client = await TestSocket.open(url.replace('0.0.0.0', '127.0.0.1'), options);
      opened.push(() => client.socket.terminate());
      return client;
    };
    const add = 'mutation { addBook(input: [{ title: "A" }]) { numUids } }';
    for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
      const type = protocol === 'graphql-ws' ? 'start' : 'subscribe';
      for (const payload of [{}, { 'x-api-key': 'other' }, { 'x-api-key': 'figures' }]) {
        const client = await socketOf({ protocol });
        client.say({ type: 'connection_init', payload });
        client.say({ id: '1', type, payload: { query: add } });
        expect((await client.closed).code).toBe(4403);
      }
      const early = await socketOf({ protocol });
      early.say({ id: '1', type, payload: { query: add } });
      expect(await early.closed).toEqual({ code: 4401, reason: 'connection_init comes first' });
    }
    await expect(socketOf({ headers: { 'x-api-key': 'figures' } })).rejects.toMatchObject({ status: 403 });
    expect((await writer.graphql(BOOKS)).body.data.queryBook).toEqual([]);

    const done = { type: 'next', payload: { data: { addBook: { numUids: 1 } } } };
    const said = await socketOf();
    await said.greet({ 'X-API-Key': 'page' });
    expect(await said.ask(add)).toMatchObject(done);
    for (const options of [{ headers: { authorization: 'Bearer whole' } }, { path: '/graphql?apiKey=page' }]) {
      const client = await socketOf(options);
      await client.greet();
      expect(await client.ask(add)).toMatchObject(done);
    }
  });
});

describe('--writer', () => {
  it('is the address of a service, and none for one that writes by itself', async () => {
    const { readOnly } = await pair();
    for (const writer of ['postgres://db', 'http://a/b', 'http://user:pa55@a', 'nonsense']) {
      const refused = await startService({ ...readOnly, writer }).catch((thrown: Error) => thrown);
      expect(refused).toMatchObject({ code: 'CONFIG', fix: expect.stringMatching(/http:\/\/host:8686/) });
      expect(String(refused)).not.toContain('pa55');
    }
    await expect(startService({ writer: 'http://a:1' })).rejects.toMatchObject({ code: 'CONFIG' });
    await expect(startService({ environment: { GRAPHSTEAD_WRITER: 'http://a:1' } })).rejects.toMatchObject({
      code: 'CONFIG',
    });
    const set = await service({ ...readOnly, environment: { GRAPHSTEAD_WRITER: 'http://127.0.0.1:1' } });
    expect((await set.rdf('x')).body.errors[0].message).toContain('127.0.0.1:1');
    const folder = scratch();
    opened.push(() => folder.remove());
    const started = await run([
      'start',
      '--writer',
      'http://127.0.0.1:1',
      '--data',
      folder.path('data'),
      '--port',
      '0',
    ]);
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(/--read-only/)]);
  });
});
