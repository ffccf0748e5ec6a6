// GraphQL over WebSocket: the protocol of graphql-ws and its forerunner, message by message; test/clients has its client.
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { scratch } from '../cli/command.js';
import { startRemote } from '../remote.js';
import { startService, type TestService } from '../service.js';
import { TOKEN_KEY, tokenOf } from '../token.js';
import { TestSocket } from '../web-socket.js';

const TYPES = 'type Book @withSubscription { id: ID! title: String! }';
const AUTHORIZATION = `# Service.Authorization {"Header":"X-Auth","Namespace":"app","Algo":"HS256","VerificationKey":"${TOKEN_KEY}"}\n`;
const ADD = 'mutation { addBook(input: [{ title: "A" }]) { numUids } }';
const BOOKS = 'subscription { queryBook { title } }';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function service(options: Parameters<typeof startService>[0] = {}, types = TYPES): Promise<TestService> {
  const started = await startService(options);
  opened.push(() => started.close());
  if (options.readOnly !== true) {
    const headers = { 'x-api-key': options.environment?.['GRAPHSTEAD_API_KEYS'] ?? '' };
    await started.post('/admin/schema', types, 'text/plain', headers);
  }
  return started;
}

type Options = Parameters<typeof TestSocket.open>[1];

async function socketTo({ url }: TestService, options?: Options): Promise<TestSocket> {
  const client = await TestSocket.open(url.replace('0.0.0.0', '127.0.0.1'), options);
  opened.push(() => client.socket.terminate());
  return client;
}

async function greeted(s: TestService, payload = {}, options?: Options): Promise<TestSocket> {
  const client = await socketTo(s, options);
  await client.greet(payload);
  return client;
}

describe('graphql-transport-ws', () => {
  it('subscribes, and pushes what a commit changes until the client has enough', async () => {
    const s = await service();
    const client = await socketTo(s);
    client.say({ type: 'connection_init' });
    expect(await client.hear()).toEqual({ type: 'connection_ack' });
    expect(await client.ask(BOOKS, 'books')).toMatchObject({
      id: 'books',
      type: 'next',
      payload: { data: { queryBook: [] } },
    });
    await s.graphql(ADD);
    expect(await client.hear()).toMatchObject({
      id: 'books',
      type: 'next',
      payload: { data: { queryBook: [{ title: 'A' }] } },
    });
    client.say({ id: 'books', type: 'complete' });
    await s.graphql(ADD);
    // nothing of the other comes in between, and its id may be used again
    expect(await client.ask('{ queryBook { title } }', 'books')).toMatchObject({
      id: 'books',
      payload: { data: { queryBook: [{ title: 'A' }, { title: 'A' }] } },
    });
    expect(await client.hear()).toEqual({ id: 'books', type: 'complete' });
  });

  it('answers queries and mutations, several at a time, each under its id', async () => {
    const client = await greeted(await service());
    client.say({ id: 'one', type: 'subscribe', payload: { query: ADD } });
    client.say({
      id: 'two',
      type: 'subscribe',
      payload: { query: 'query ($n: Int) { queryBook(first: $n) { title } }', variables: { n: 1 } },
    });
    const heard = [await client.hear(), await client.hear(), await client.hear(), await client.hear()];
    for (const id of ['one', 'two']) {
      expect(heard.filter((message) => message['id'] === id).map(({ type }) => type)).toEqual(['next', 'complete']);
    }
    expect(heard).toContainEqual(
      expect.objectContaining({ id: 'one', payload: expect.objectContaining({ data: { addBook: { numUids: 1 } } }) }),
    );
  });

  it.each([
    ['a mistake in the text', '{ nothing }'],
    ['no text', ''],
  ])('tells %s as an error of the operation, and goes on', async (_what, query) => {
    const client = await greeted(await service());
    expect(await client.ask(query)).toMatchObject({
      id: '1',
      type: 'error',
      payload: [{ message: expect.any(String), extensions: { code: expect.any(String) } }],
    });
    expect(await client.ask('{ __typename }', '2')).toMatchObject({ id: '2', type: 'next' });
  });

  it('answers a ping, with what it says', async () => {
    const client = await socketTo(await service());
    client.say({ type: 'ping' });
    expect(await client.hear()).toEqual({ type: 'pong' });
    client.say({ type: 'ping', payload: { at: 1 } });
    expect(await client.hear()).toEqual({ type: 'pong', payload: { at: 1 } });
  });

  it('does once what comes again under its idempotency key', async () => {
    const s = await service();
    const asked = (id: string, idempotencyKey: unknown) => ({
      id,
      type: 'subscribe',
      payload: {
        query: 'mutation { addBook(input: [{ title: "A" }]) { book { id } } }',
        extensions: { idempotencyKey },
      },
    });
    const answers: unknown[] = [];
    for (const key of ['one', 'one', 'other']) {
      const client = await greeted(s);
      client.say(asked('1', key));
      answers.push(((await client.hear()) as { payload: { data: unknown } }).payload.data);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).not.toEqual(answers[0]);
    expect((await s.graphql('{ aggregateBook { count } }')).body.data).toEqual({ aggregateBook: { count: 2 } });
    const client = await greeted(s);
    client.say(asked('2', 7));
    expect(await client.hear()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'INVALID_REQUEST' } }],
    });
  });

  it('is counted with the status that HTTP would have told', async () => {
    const s = await service();
    const client = await greeted(s);
    for (const query of ['{ __typename }', '{ nothing }', '']) {
      await client.ask(query);
      if (query.includes('type')) await client.hear();
    }
    const told = async () => (await s.get('/metrics')).body.match(/requests_total\{route="\/graphql",method="WS".*/g);
    expect(await told()).toEqual([
      'requests_total{route="/graphql",method="WS",status="200"} 1',
      'requests_total{route="/graphql",method="WS",status="400"} 2',
    ]);
  });

  it.each([
    ['no JSON', '{', 4400],
    ['no object', '[]', 4400],
    ['an unknown type', '{"type":"constructor"}', 4400],
    ['a greeting whose payload is no object', '{"type":"connection_init","payload":"Bearer x"}', 4400],
    ['an operation without id', '{"type":"subscribe","payload":{"query":"{ __typename }"}}', 4400],
    ['an operation without payload', '{"type":"subscribe","id":"1"}', 4400],
    ['an operation before anything', '{"type":"subscribe","id":"1","payload":{"query":"{ __typename }"}}', 4401],
  ])('closes for %s', async (_what, message, code) => {
    const client = await socketTo(await service());
    client.say(message);
    expect(await client.closed).toMatchObject({ code, reason: expect.stringMatching(/\w/) });
  });

  it('closes for a second greeting, an id in use, a binary message, one that is too long, and silence', async () => {
    const s = await service({ limits: { webSocketMessageBytes: 1_000 } });
    const closed = async (act: (client: TestSocket) => unknown, client: TestSocket) => {
      await act(client);
      return (await client.closed).code;
    };
    expect(await closed((client) => client.say({ type: 'connection_init' }), await greeted(s))).toBe(4429);
    const twice = async (client: TestSocket) => {
      await client.ask(BOOKS);
      client.say({ id: '1', type: 'subscribe', payload: { query: BOOKS } });
    };
    expect(await closed(twice, await greeted(s))).toBe(4409);
    expect(await closed((client) => client.socket.send(Buffer.from('{}')), await greeted(s))).toBe(4400);
    expect(await closed((client) => client.say('x'.repeat(1_001)), await greeted(s))).toBe(1009);
    const impatient = await service({ limits: { webSocketInitMs: 1 } });
    expect(await closed(() => undefined, await socketTo(impatient))).toBe(4408);
  });

  it('ends a connection that gives no sign of life, and its operations', async () => {
    const s = await service({ limits: { heartbeatMs: 30 } });
    const client = await socketTo(s);
    // one that answers no ping
    Object.assign(client.socket, { pong: () => undefined });
    client.socket.removeAllListeners('ping');
    (client.socket as unknown as { _autoPong: boolean })._autoPong = false;
    expect((await client.closed).code).toBe(1006);
    // one that answers stays
    const patient = await service({ limits: { heartbeatMs: 700 } });
    const other = await greeted(patient);
    await new Promise((resolve) => other.socket.once('ping', () => other.socket.once('ping', resolve)));
    expect(await other.ask('{ __typename }')).toMatchObject({ type: 'next' });
  });
});

describe('graphql-ws, its forerunner', () => {
  it('says the same by its own names', async () => {
    const s = await service();
    const client = await socketTo(s, { protocol: 'graphql-ws' });
    client.say({ type: 'connection_init' });
    expect([await client.hear(), await client.hear()]).toEqual([{ type: 'connection_ack' }, { type: 'ka' }]);
    expect(await client.ask(BOOKS, '1', 'start')).toMatchObject({ id: '1', type: 'data' });
    client.say({ id: '1', type: 'stop' });
    expect(await client.ask('{ nothing }', '2', 'start')).toMatchObject({
      type: 'error',
      payload: { message: expect.any(String) },
    });
    expect(await client.ask('{ __typename }', '3', 'start')).toMatchObject({ id: '3', type: 'data' });
    expect(await client.hear()).toEqual({ id: '3', type: 'complete' });
    client.say({ type: 'connection_terminate' });
    expect((await client.closed).code).toBe(1000);
  });

  it('takes what its clients ask before they have heard that they are taken, and says why they are not', async () => {
    const s = await service({}, `${AUTHORIZATION}${TYPES}`);
    const begin = async (payload: Record<string, string>) => {
      const client = await socketTo(s, { protocol: 'graphql-ws' });
      client.say({ type: 'connection_init', payload });
      client.say({ id: '1', type: 'start', payload: { query: BOOKS } });
      return client;
    };
    const taken = await begin(await tokenOf({}));
    expect([await taken.hear(), await taken.hear(), await taken.hear()]).toMatchObject([
      { type: 'connection_ack' },
      { type: 'ka' },
      { id: '1', type: 'data' },
    ]);
    const other = await begin({ 'x-auth': 'no token' });
    expect(await other.hear()).toEqual({
      type: 'connection_error',
      payload: { message: expect.stringContaining('token') },
    });
    expect((await other.closed).code).toBe(4403);
  });
});

describe('who may ask', () => {
  it('takes a key and a token from the first message, as from the handshake', async () => {
    const environment = { GRAPHSTEAD_API_KEYS: 'whole' };
    const types = `${AUTHORIZATION}type Book @withSubscription @auth(query: { rule: "{$ROLE: { eq: \\"READER\\" } }" }) { id: ID! title: String! }`;
    const s = await service({ host: '0.0.0.0', environment }, types);
    await s.post('/graphql', ADD, 'application/graphql', { 'x-api-key': 'whole' });
    const titles = async (client: TestSocket) => {
      const { payload } = (await client.ask('{ queryBook { title } }')) as {
        payload: { data: { queryBook: unknown[] } };
      };
      return payload.data.queryBook.length;
    };
    const token = await tokenOf({ ROLE: 'READER' });
    expect(await titles(await greeted(s, { 'X-API-Key': 'whole', ...token }))).toBe(1);
    expect(await titles(await greeted(s, { headers: { authorization: 'Bearer whole', ...token } }))).toBe(1);
    expect(await titles(await greeted(s, {}, { headers: { 'x-api-key': 'whole', ...token } }))).toBe(1);
    expect(await titles(await greeted(s, { 'x-api-key': 'whole' }))).toBe(0);
    for (const payload of [{}, { 'x-api-key': 'other' }, { 'x-api-key': 'whole', 'x-auth': 'no token' }]) {
      const client = await socketTo(s);
      client.say({ type: 'connection_init', payload });
      expect(await client.closed).toMatchObject({ code: 4403, reason: expect.stringMatching(/key|token/i) });
    }
  });

  it('refuses pages of origins that the types do not name, names that are not its own, and other paths', async () => {
    const s = await service({}, `# Service.Allow-Origin "https://app.example.com"\n${TYPES}`);
    const refused = (options: Options) => expect(socketTo(s, options)).rejects;
    await refused({ headers: { origin: 'https://evil.example.com' } }).toMatchObject({ status: 403 });
    await refused({ headers: { host: 'evil.example.com' } }).toMatchObject({
      status: 403,
      message: expect.stringContaining('HOST_REFUSED'),
    });
    await refused({ path: '/query' }).toMatchObject({ status: 404 });
    // what a message says changes nothing of that
    const own = new URL(s.url).origin;
    for (const origin of ['https://app.example.com', own]) {
      const client = await greeted(s, { origin: 'https://evil.example.com' }, { headers: { origin } });
      expect(await client.ask('{ __typename }')).toMatchObject({ type: 'next' });
    }
  });

  it('opens none without a subprotocol that both know', async () => {
    const client = await socketTo(await service(), { protocol: 'graphql-other' }).catch((error: Error) => error);
    expect(String(client)).toMatch(/subprotocol/i);
  });
});

describe('bounds', () => {
  it('counts connections and operations as streams', async () => {
    const s = await service({ limits: { streams: 2 } });
    const client = await greeted(s);
    expect(await client.ask(BOOKS, '1')).toMatchObject({ type: 'next' });
    expect(await client.ask(BOOKS, '2')).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'OVERLOADED' } }],
    });
    await expect(socketTo(s)).rejects.toMatchObject({ status: 503 });
    client.socket.close();
    await client.closed;
    const next = await greeted(s);
    expect(await next.ask(BOOKS)).toMatchObject({ type: 'next' });
  });

  it('takes so many operations of a connection at a time, and goes on', async () => {
    const client = await greeted(await service({ limits: { webSocketOperations: 1 } }));
    expect(await client.ask(BOOKS, '1')).toMatchObject({ type: 'next' });
    expect(await client.ask('{ __typename }', '2')).toMatchObject({
      id: '2',
      type: 'error',
      payload: [{ extensions: { code: 'OVERLOADED' } }],
    });
    client.say({ id: '1', type: 'complete' });
    expect(await client.ask('{ __typename }', '3')).toMatchObject({ id: '3', type: 'next' });
  });

  it('reads nothing more from a client that reads no answers, until it does', async () => {
    const s = await service({ limits: { heartbeatMs: 60_000 } });
    const client = await greeted(s);
    client.socket.pause();
    const text = 'x'.repeat(10_000);
    const asked = 2_000;
    for (let i = 0; i < asked; i++) {
      client.say({
        id: String(i),
        type: 'subscribe',
        payload: { query: `{ __typename a: __typename }`, operationName: text },
      });
    }
    const other = await greeted(s);
    let before = -1;
    for (let still = 0; still < 20; before = client.socket.bufferedAmount) {
      still = client.socket.bufferedAmount === before ? still + 1 : 0;
      await other.ask('{ __typename }', 'one');
      await other.hear();
    }
    // most of it waits with the client: neither the service nor the system takes it
    expect(before).toBeGreaterThan(1_000_000);
    client.socket.resume();
    for (let heard = 0; heard < asked; heard++) expect(await client.hear()).toMatchObject({ type: 'error' });
  });

  it('keeps a client that is long in reading, and ends one that reads no further', async () => {
    // beats come so far apart that a client which reads is heard between two of them
    const large = { webSocketMessageBytes: 1024 ** 3, heartbeatMs: 700 };
    const titles = '{ queryBook { title } }';
    const slow = async (limits: object) => {
      const s = await service({ limits: { ...large, ...limits } });
      await s.graphql('mutation ($title: String!) { addBook(input: [{ title: $title }]) { numUids } }', {
        title: 'x'.repeat(4_000_000),
      });
      const client = await greeted(s);
      client.socket.pause();
      for (let i = 0; i < 10; i++) client.say({ id: String(i), type: 'subscribe', payload: { query: titles } });
      return { s, client };
    };
    const patient = await slow({});
    const beats = await greeted(patient.s);
    for (let i = 0; i < 3; i++) await once(beats.socket, 'ping');
    patient.client.socket.resume();
    for (let i = 0; i < 20; i++) expect((await patient.client.hear())['type']).toMatch(/next|complete/);
    const impatient = await slow({ answerStallMs: 100 });
    // a socket that reads nothing hears of no end
    const ended = once(impatient.client.socket, 'close');
    const over = async () => {
      const lines = (await impatient.s.get('/metrics')).body.matchAll(/requests_total\{.*method="WS".* (\d+)/g);
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await expect.poll(over).toBe(10);
    impatient.client.socket.resume();
    await ended;
  });

  it('counts large messages among the bodies that are here at a time', async () => {
    const s = await service({ limits: { largeBodiesBytes: 150_000 } });
    const large = { query: BOOKS, variables: { unknown: 'x'.repeat(100_000) } };
    const first = await greeted(s);
    first.say({ id: '1', type: 'subscribe', payload: large });
    expect(await first.hear()).toMatchObject({ type: 'next' });
    const second = await greeted(s);
    second.say({ id: '1', type: 'subscribe', payload: large });
    expect(await second.closed).toMatchObject({ code: 1013, reason: expect.stringContaining('memory') });
    first.say({ id: '1', type: 'complete' });
    expect(await first.ask('{ __typename }', '2')).toMatchObject({ type: 'next' });
    const third = await greeted(s);
    third.say({ id: '1', type: 'subscribe', payload: large });
    expect(await third.hear()).toMatchObject({ type: 'next' });
  });

  it('outlives frames that are none, whatever was agreed on', async () => {
    const s = await service();
    const { hostname, port } = new URL(s.url);
    for (const protocol of ['', 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n']) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      const key = `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${protocol}`;
      const head = `GET /graphql HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])]));
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 101 /);
    }
    expect((await s.graphql('{ __typename }')).status).toBe(200);
  });

  it('ends what stands behind a message that is none', async () => {
    const client = await greeted(await service());
    client.say('{');
    client.say({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
    await expect(client.hear()).rejects.toThrow('closed: 4400');
  });

  it('tells clients when the service stops, and takes no new ones while it drains', async () => {
    const s = await startService();
    const client = await greeted(s);
    s.service.core.draining.isOn = true;
    await expect(socketTo(s)).rejects.toMatchObject({ status: 503 });
    expect(await client.ask('{ __typename }')).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'DRAINING' } }],
    });
    const [closed] = await Promise.all([client.closed, s.close()]);
    expect(closed).toEqual({ code: 1001, reason: 'the service is stopping' });
  });
});

it('lets a change come to its end when the service stops, and begins nothing more', async () => {
  const remote = await startRemote();
  opened.push(() => remote.close());
  let go: () => void = () => undefined;
  remote.on(
    '/slow',
    () =>
      new Promise((resolve) => {
        go = () => resolve({ body: { name: 'done' } });
      }),
  );
  const s = await service(
    {},
    `${TYPES} type Done @remote { name: String } type Mutation { slow: Done @custom(http: { url: "${remote.url}/slow", method: POST }) }`,
  );
  const client = await greeted(s);
  client.say({ id: '1', type: 'subscribe', payload: { query: 'mutation { slow { name } }' } });
  expect(await client.ask(BOOKS, '2')).toMatchObject({ id: '2', type: 'next' });
  await expect.poll(() => remote.calls.length).toBe(1);
  const closing = s.close();
  expect(await client.ask('{ __typename }', '3')).toMatchObject({
    id: '3',
    type: 'error',
    payload: [{ extensions: { code: 'NOT_READY' } }],
  });
  go();
  expect(await client.hear()).toMatchObject({ id: '1', payload: { data: { slow: { name: 'done' } } } });
  expect(await client.hear()).toEqual({ id: '1', type: 'complete' });
  expect(await client.closed).toEqual({ code: 1001, reason: 'the service is stopping' });
  await closing;
});

it('answers what comes behind other requests in its turn, whatever protocol it asks for', async () => {
  const { url } = await service();
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const get = (path: string, ...lines: string[]) =>
    `${[`GET ${path} HTTP/1.1`, `Host: ${hostname}`, ...lines].join('\r\n')}\r\n\r\n`;
  const other = ['Connection: Upgrade', 'Upgrade: h2c'];
  socket.write(
    `${get('/metrics')}${get('/none', ...other)}${get('/metrics')}${get('/nothing', ...other)}${get('/metrics', 'Connection: close')}`,
  );
  const statuses = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  expect(statuses).toEqual(['200', '404', '200', '404', '200']);
});

it('answers a request for another protocol, with its body, as if it had not asked', async () => {
  const { url } = await service();
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const body = JSON.stringify({ query: '{ __typename }' });
  const head = `POST /graphql HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
  socket.write(body.slice(5));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"__typename":"Query"/);
});

describe('a service that only reads', () => {
  it('connects its clients with the one that writes, or answers them itself', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const data = folder.path('data');
    const writer = await service({ data });
    const alone = await service({ data, readOnly: true });
    const beside = await service({ data, readOnly: true, writer: writer.url });
    const direct = await greeted(alone);
    expect(await direct.ask(BOOKS)).toMatchObject({ payload: { data: { queryBook: [] } } });
    const client = await greeted(beside);
    expect(await client.ask(ADD)).toMatchObject({ payload: { data: { addBook: { numUids: 1 } } } });
    expect(await direct.hear()).toMatchObject({ payload: { data: { queryBook: [{ title: 'A' }] } } });
    await expect(socketTo(beside, { path: '/query' })).rejects.toMatchObject({ status: 404 });
    const [closed] = await Promise.all([client.closed, writer.close()]);
    expect(closed.code).toBe(1001);
    await expect(socketTo(beside)).rejects.toMatchObject({ status: 503 });
  });

  it('ends what it has connected when it stops', async () => {
    const folder = scratch();
    opened.push(() => folder.remove());
    const data = folder.path('data');
    const writer = await service({ data });
    const beside = await service({ data, readOnly: true, writer: writer.url });
    const client = await greeted(beside);
    await Promise.all([client.closed, beside.close()]);
  });
});
