// Services that only read, beside the one that writes: over HTTP, on a data directory and on a database.
import { renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Dgraph from 'dgraph-js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run, scratch, serve } from '../cli/command.js';
import { startDatabase, type TestDatabase } from '../database.js';
import { type Answer, startService, type TestService } from '../service.js';
import { openStream, type SseStream } from '../sse.js';

const dgraph = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
}, 120_000);
afterAll(() => database.stop());

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

type Place = { readonly data: string } | { readonly store: string };

const PLACES: readonly (readonly [string, () => Promise<Place>])[] = [
  [
    'a data directory',
    async () => {
      const folder = scratch();
      opened.push(() => folder.remove());
      return { data: folder.path('data') };
    },
  ],
  ['a database', async () => ({ store: await database.place() })],
];

async function service(options: Parameters<typeof startService>[0]): Promise<TestService> {
  const started = await startService({ limits: { followMs: 5 }, ...options });
  opened.push(() => started.close());
  return started;
}

/** Asks until the answer is as wanted; a test that waits for something else ends by its own time. */
async function until<T>(ask: () => Promise<T>, met: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (met(answer)) return answer;
  }
}

async function subscribed({ url }: TestService): Promise<SseStream> {
  const live = await openStream(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { queryBook(order: {asc: title}) { title } }' }),
  });
  opened.push(() => live.close());
  return live;
}

const TYPES = 'type Book @withSubscription { id: ID! title: String! @search(by: [exact]) }';
const ADD = 'mutation ($title: String!) { addBook(input: [{title: $title}]) { book { id title } } }';
const SCHEMA_TOOL =
  '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "graphql_schema", "arguments": {}}}';
const BOOKS = '{ queryBook(order: {asc: title}) { title } }';

describe.each(PLACES)('a service that only reads, on %s', (_name, place) => {
  async function pair(
    limits = {},
  ): Promise<{ readonly writer: TestService; readonly reader: TestService; readonly at: Place }> {
    const at = await place();
    const writer = await service(at);
    await writer.schema(TYPES);
    await writer.graphql(ADD, { title: 'Emma' });
    return {
      writer,
      reader: await service({ ...at, readOnly: true, grpcPort: 0, limits: { followMs: 5, ...limits } }),
      at,
    };
  }

  it('answers what the one that writes has committed, in both languages', async () => {
    const { writer, reader } = await pair();
    expect((await reader.graphql(BOOKS)).body.data).toEqual({ queryBook: [{ title: 'Emma' }] });
    await writer.rdf('{ set { _:a <Book.title> "Middlemarch" . _:a <service.type> "Book" . } }');
    const asked = await reader.data('{ q(func: eq(Book.title, "Middlemarch")) { Book.title } }');
    expect(asked).toEqual({ q: [{ 'Book.title': 'Middlemarch' }] });
    expect((await reader.graphql(BOOKS)).body.data.queryBook).toEqual([{ title: 'Emma' }, { title: 'Middlemarch' }]);
  });

  it('shows whatever was committed before to whoever asks, however seldom it looks by itself', async () => {
    const { writer, reader } = await pair({ followMs: 60_000 });
    const films = '{ queryFilm(order: {asc: name}) { name } }';
    await writer.schema(`${TYPES} type Film { id: ID! name: String! @search(by: [exact]) }`);
    expect((await reader.graphql(films)).body).toMatchObject({ data: { queryFilm: [] } });
    const names: { name: string }[] = [];
    const add = async (name: string) => {
      await writer.graphql('mutation ($name: String!) { addFilm(input: [{name: $name}]) { numUids } }', { name });
      names.push({ name });
    };
    const text = '{ q(func: has(Film.name), orderasc: Film.name) { name: Film.name } }';
    await add('A');
    expect((await reader.graphql(films)).body.data.queryFilm).toEqual(names);
    await add('B');
    expect((await reader.query(text)).body.data.q).toEqual(names);
    await add('C');
    // by GET, and with the origin of a page, it comes another way
    const address = `/graphql?query=${encodeURIComponent(films)}`;
    expect((await reader.get(address)).body.data.queryFilm).toEqual(names);
    const before = [...names];
    await add('D');
    expect((await reader.query(text, '?be=true')).body.data.q).toEqual(before);
    expect((await reader.get(`${address}&be=true`)).body.data.queryFilm).toEqual(before);
    expect(
      (await reader.post('/graphql?be=true', JSON.stringify({ query: films }), 'application/json')).body.data,
    ).toEqual({ queryFilm: before });
    const live = await subscribed(reader);
    expect((await live.value()).data.queryBook).toEqual([{ title: 'Emma' }]);
    expect((await reader.query(text, '?be=true')).body.data.q).toEqual(names);
  });

  it('shows it wherever types are read too: as definitions, as tools, in the explorer', async () => {
    const at = await place();
    const writer = await service(at);
    const reader = await service({ ...at, readOnly: true, explorer: true, limits: { followMs: 60_000 } });
    const json = 'application/json';
    const ways = {
      definitions: () => reader.get('/admin/schema'),
      admin: () => reader.post('/admin', '{"query": "{ getGQLSchema { schema } }"}', json),
      tools: () => reader.post('/mcp', SCHEMA_TOOL, json, { accept: `${json}, text/event-stream` }),
      explorer: () => reader.get('/explorer/api/schema'),
    };
    let types = '';
    for (const [name, ask] of Object.entries(ways)) {
      types += ` type Of_${name} { id: ID! title: String! @search }`;
      expect((await writer.schema(types)).body.errors).toBeUndefined();
      expect(JSON.stringify((await ask()).body)).toContain(`Of_${name}`);
    }
  });

  it('shows it over gRPC too, but to whoever asks for the best effort', async () => {
    const { writer, reader } = await pair({ followMs: 60_000 });
    const stub = new dgraph.DgraphClientStub(`127.0.0.1:${reader.service.grpcPort}`);
    opened.push(() => stub.close());
    const client = new dgraph.DgraphClient(stub);
    const count = async (options: { readonly readOnly?: boolean; readonly bestEffort?: boolean }) =>
      (await client.newTxn(options).query('{ q(func: has(Book.title)) { count(uid) } }')).getJson().q[0].count;
    await writer.graphql(ADD, { title: 'B' });
    expect(await count({ readOnly: true, bestEffort: true })).toBe(1);
    expect(await count({ readOnly: true })).toBe(2);
    await writer.graphql(ADD, { title: 'C' });
    expect(await count({})).toBe(3);
  });

  it('refuses whatever would change something, and changes nothing', async () => {
    const { writer, reader } = await pair();
    const before = (await writer.get('/health')).body[0].lastCommitTs;
    const refused = [
      await reader.rdf('{ set { _:a <Book.title> "x" . } }'),
      await reader.rdf('{ set { <0x1> <Book.title> "x" . } }', ''),
      await reader.rdf(
        'upsert { query { q(func: has(Book.title)) { v as uid } } mutation { delete { uid(v) * * . } } }',
      ),
      await reader.json({ set: { 'Book.title': 'x' } }),
      await reader.alter('Book.pages: int .'),
      await reader.alter('{"drop_all": true}'),
      await reader.schema('type Film { id: ID! title: String! }'),
    ];
    for (const { status, body } of refused) {
      expect([status, body.errors[0].extensions.code]).toEqual([503, 'READ_ONLY_STORE']);
      expect(body.errors[0].extensions.fix).toMatch(/the service that writes/);
    }
    const mutations = [
      await reader.graphql(ADD, { title: 'x' }),
      await reader.graphql('mutation { updateBook(input: {filter: {}, set: {title: "x"}}) { numUids } }'),
      await reader.graphql('mutation { deleteBook(filter: {}) { numUids } }'),
    ];
    for (const { body } of mutations) expect(body.errors[0].extensions.code).toBe('READ_ONLY_STORE');
    expect((await writer.get('/health')).body[0].lastCommitTs).toBe(before);
    expect((await writer.graphql(BOOKS)).body.data).toEqual({ queryBook: [{ title: 'Emma' }] });
  });

  it('reads again at a timestamp that it has given, for a while', async () => {
    const { writer, reader } = await pair({ snapshotMs: 1_000 });
    const titles = '{ q(func: has(Book.title)) { Book.title } }';
    const { body: first } = await reader.query(titles);
    const at = `?startTs=${first.extensions.txn.start_ts}`;
    await writer.graphql(ADD, { title: 'Later' });
    expect((await reader.data(titles)).q).toHaveLength(2);
    expect((await reader.query(titles, at)).body.data).toEqual(first.data);
    const write = await reader.rdf('{ set { _:a <Book.title> "x" . } }', at);
    expect(write.body.errors[0].extensions.code).toBe('READ_ONLY_STORE');
    expect((await reader.query(titles, at)).body.data).toEqual(first.data);
    const gone = await until(
      () => reader.query(titles, at),
      ({ body }) => body.errors !== undefined,
    );
    expect([gone.status, gone.body.errors[0].extensions.code]).toEqual([409, 'TXN_EXPIRED']);
    expect(gone.body.errors[0].extensions.fix).toMatch(/Leave startTs out/);
    expect((await reader.query(titles, '?startTs=1')).body.errors[0].extensions.code).toBe('TXN_EXPIRED');
  });

  it('serves the types that were uploaded last', async () => {
    const { writer, reader } = await pair();
    await writer.schema(`${TYPES} type Film { id: ID! name: String! }`);
    await writer.graphql('mutation { addFilm(input: [{name: "M"}]) { numUids } }');
    const films = () => reader.graphql('{ queryFilm { name } }');
    expect((await films()).body.data).toEqual({ queryFilm: [{ name: 'M' }] });
    await writer.alter('{"drop_all": true}');
    const gone = await films();
    expect(gone.body.errors[0].extensions.code).toBe('INVALID_GRAPHQL');
    expect(gone.body.errors[0].message).toBe('there is no GraphQL schema yet');
  });

  it('tells its own subscribers of what the other one commits', async () => {
    const { writer, reader } = await pair();
    const live = await subscribed(reader);
    expect((await live.value()).data.queryBook).toEqual([{ title: 'Emma' }]);
    await writer.graphql(ADD, { title: 'Nostromo' });
    expect((await live.value()).data.queryBook).toEqual([{ title: 'Emma' }, { title: 'Nostromo' }]);
  });

  it('tells the stream of changes, and goes on from an id that the other one gave', async () => {
    const { writer, reader } = await pair();
    const there = await openStream(`${writer.url}/changes`, {});
    opened.push(() => there.close());
    await there.next();
    await writer.graphql(ADD, { title: 'Nostromo' });
    const { id } = (await there.next()) ?? {};
    const here = await openStream(`${reader.url}/changes?after=${id}`, {});
    opened.push(() => here.close());
    await here.next();
    await writer.graphql(ADD, { title: 'Persuasion' });
    const told = await here.next();
    expect(told?.id).not.toBe(id);
    expect(told?.data).toMatch(/Persuasion/);
  });

  it('tells of itself that it reads, and how far it is', async () => {
    const { writer, reader } = await pair();
    const [own] = (await reader.get('/health')).body;
    expect(own.readOnly).toBe(true);
    expect((await reader.get('/health/ready')).status).toBe(200);
    expect((await writer.get('/health')).body[0]).not.toHaveProperty('readOnly');
    await writer.graphql(ADD, { title: 'x' });
    const [{ lastCommitTs }] = (await writer.get('/health')).body;
    await until(
      () => reader.get('/health'),
      ({ body }) => body[0].lastCommitTs >= lastCommitTs,
    );
  });

  it('goes on when the one that writes is gone, and follows the next one', async () => {
    const { writer, reader, at } = await pair();
    await writer.close();
    expect((await reader.graphql(BOOKS)).body.data).toEqual({ queryBook: [{ title: 'Emma' }] });
    const next = await service(at);
    await next.graphql(ADD, { title: 'Next' });
    expect((await reader.graphql(BOOKS)).body.data.queryBook[1]).toEqual({ title: 'Next' });
  });

  it('refuses to begin where nothing is stored, and to run an app', async () => {
    const at = await place();
    await expect(service({ ...at, readOnly: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const app = service({ ...at, readOnly: true, appDir: 'examples/mission-control' });
    await expect(app).rejects.toMatchObject({ code: 'CONFIG', fix: expect.stringMatching(/leave APP_DIR out/) });
    await expect(service({ readOnly: true })).rejects.toMatchObject({ code: 'CONFIG' });
  });
});

it('keeps the statuses under --compat dgraph that whoever stands in front of services goes by', async () => {
  const folder = scratch();
  opened.push(() => folder.remove());
  const data = folder.path('data');
  const writer = await service({ data, compat: 'dgraph' });
  await writer.rdf('{ set { _:a <name> "Ann" . } }');
  const reader = await service({ data, compat: 'dgraph', readOnly: true });
  const told = ({ status, body }: Answer) => [status, body.errors?.[0].extensions.code];
  expect(told(await reader.rdf('{ set { _:a <name> "x" . } }'))).toEqual([503, 'READ_ONLY_STORE']);
  expect(told(await reader.get('/health/ready'))).toEqual([200, undefined]);
  renameSync(data, folder.path('moved'));
  const gone = [503, 'STORE_FENCED'];
  expect(
    told(
      await until(
        () => reader.get('/health/ready'),
        ({ body }) => body.errors !== undefined,
      ),
    ),
  ).toEqual(gone);
  expect(told(await writer.rdf('{ set { _:a <name> "x" . } }'))).toEqual(gone);
  renameSync(folder.path('moved'), data);
});

describe('graphstead start --read-only', () => {
  it('runs any number of processes beside the one that writes, whichever of them is killed', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const data = ['--data', folder.path('data')];
    const writer = await serve(data);
    opened.push(() => writer.stop());
    const types = await fetch(`${writer.url}/admin/schema`, { method: 'POST', body: TYPES });
    expect(types.status).toBe(200);
    const readers = await Promise.all([1, 2].map(() => serve([...data, '--read-only'])));
    for (const reader of readers) opened.push(() => reader.stop());
    await readers[0].stop('SIGKILL');
    await writer.graphql(ADD, { title: 'Emma' });
    const emma = { data: { queryBook: [{ title: 'Emma' }] } };
    expect(await readers[1].graphql(BOOKS)).toMatchObject(emma);
    await writer.stop('SIGKILL');
    expect(await readers[1].graphql(BOOKS)).toMatchObject(emma);
    const again = await serve(data);
    opened.push(() => again.stop());
    await again.graphql(ADD, { title: 'Nostromo' });
    const books = [{ title: 'Emma' }, { title: 'Nostromo' }];
    expect(await readers[1].graphql(BOOKS)).toMatchObject({ data: { queryBook: books } });
  });

  it('ends, to be started again, where it stood still until commits were gone that it had not seen', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const data = ['--data', folder.path('data')];
    const writer = await serve(data, { environment: { GRAPHSTEAD_LIMIT_RECORD_BYTES: '1000' } });
    opened.push(() => writer.stop());
    await fetch(`${writer.url}/admin/schema`, { method: 'POST', body: TYPES });
    const reader = await serve([...data, '--read-only']);
    void reader.stop('SIGSTOP');
    for (let i = 0; i < 30; i++) await writer.graphql(ADD, { title: `${i}` });
    void reader.stop('SIGCONT');
    expect(await reader.ended).toBe(3);
    expect(reader.logged()).toMatch(/"code":"EVENT_GAP".*this service ends/);
  });

  it('does not begin without a store, and is no flag of dev', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const started = await run(['start', '--read-only', '--port', '0', '--grpc-port', '0', '--data', folder.dir]);
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(/holds no store/)]);
    const dev = await run(['dev', '--read-only']);
    expect(dev.stderr).toMatch(/unknown option '--read-only'/);
  });
});
