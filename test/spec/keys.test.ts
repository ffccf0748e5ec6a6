// Keys with fewer rights: a page's, and those of whatever collects the metrics.
import { createRequire } from 'node:module';
import { connect } from 'node:http2';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

const dgraph = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;
const environment = {
  GRAPHSTEAD_API_KEYS: 'whole',
  GRAPHSTEAD_CLIENT_KEYS: 'page',
  GRAPHSTEAD_METRICS_KEYS: 'scraper',
};

let s: TestService;
let ask: (path: string, headers?: Record<string, string>, body?: string) => Promise<Response>;
beforeAll(async () => {
  s = await startService({ host: '0.0.0.0', grpcPort: 0, environment });
  const url = s.url.replace('0.0.0.0', '127.0.0.1');
  ask = (path, headers = {}, body) =>
    fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
    });
  await ask('/admin/schema', { 'x-api-key': 'whole' }, 'type Note { id: ID! text: String }');
});
afterAll(() => s.close());

const json = { 'content-type': 'application/json' };
const graphql = (headers: Record<string, string>, query: string) =>
  ask('/graphql', { ...json, ...headers }, JSON.stringify({ query }));
const code = async (answer: Response) =>
  ((await answer.json()) as { errors: { extensions: { code: string } }[] }).errors[0].extensions.code;

describe('a key of GRAPHSTEAD_CLIENT_KEYS', () => {
  it('reads and writes by GraphQL, in each way to send it', async () => {
    const added = await graphql({ 'x-api-key': 'page' }, 'mutation { addNote(input: [{ text: "a" }]) { numUids } }');
    expect(await added.json()).toMatchObject({ data: { addNote: { numUids: 1 } } });
    const read = await graphql({ authorization: 'Bearer page' }, '{ queryNote { text } }');
    expect(await read.json()).toMatchObject({ data: { queryNote: [{ text: 'a' }] } });
    const slash = await ask('/graphql/?query=%7BqueryNote%7Btext%7D%7D', { 'x-api-key': 'page' });
    expect(slash.status).toBe(200);
  });

  it('opens nothing else', async () => {
    const drop = '{"drop_all": true}';
    for (const [path, body] of [
      ['/query', '{ q(func: has(Note.text)) { uid } }'],
      ['/mutate?commitNow=true', '{ set { _:a <name> "x" . } }'],
      ['/alter', drop],
      ['/admin', '{"query": "{ health { status } }"}'],
      ['/admin/schema', undefined],
      ['/changes', undefined],
      ['/metrics', undefined],
      ['/health/full', undefined],
      ['/state', undefined],
    ] as const) {
      const answer = await ask(path, { 'x-api-key': 'page' }, body);
      expect([path, answer.status, await code(answer)]).toEqual([path, 403, 'FORBIDDEN']);
    }
  });

  it('may stand in the address, where a browser cannot send headers', async () => {
    const query = encodeURIComponent('subscription { queryNote { text } }');
    const stream = await ask(`/graphql?query=${query}&apiKey=page`, { accept: 'text/event-stream' });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    await stream.body?.cancel();
    const whole = await ask(`/graphql?query=${query}&apiKey=whole`, { accept: 'text/event-stream' });
    const refusal = { code: 'UNAUTHENTICATED', fix: expect.stringMatching(/any other key .* addresses are logged/) };
    expect([whole.status, await whole.json()]).toMatchObject([401, { errors: [{ extensions: refusal }] }]);
    expect((await ask('/admin/schema?apiKey=page')).status).toBe(401);
  });
});

it('gRPC refuses who has none before it reads what was sent', async () => {
  const session = connect(`http://127.0.0.1:${s.service.grpcPort}`);
  const call = session.request({ ':method': 'POST', ':path': '/api.Dgraph/Query', 'content-type': 'application/grpc' });
  const told = new Promise((resolve) => {
    call.on('response', resolve);
    call.on('trailers', resolve);
  });
  // the head of a message of 1000 bytes that never come
  call.on('error', () => undefined).write(Buffer.from([0, 0, 0, 3, 232]));
  expect(await told).toMatchObject({ 'grpc-status': String(grpc.status.UNAUTHENTICATED) });
  session.destroy();
});

it('gRPC is open to keys that open everything alone', async () => {
  const stub = new dgraph.DgraphClientStub(`127.0.0.1:${s.service.grpcPort}`);
  const version = (key: string) => {
    const metadata = new grpc.Metadata();
    metadata.set('authorization', `Bearer ${key}`);
    return stub.checkVersion(new dgraph.Check(), metadata);
  };
  expect((await version('whole')).getTag()).toEqual(expect.any(String));
  for (const key of ['page', 'scraper']) {
    await expect(version(key)).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
  }
  stub.close();
});

it('a key of GRAPHSTEAD_METRICS_KEYS opens /metrics alone', async () => {
  expect((await ask('/metrics', { authorization: 'Bearer scraper' })).status).toBe(200);
  expect((await graphql({ authorization: 'Bearer scraper' }, '{ queryNote { text } }')).status).toBe(403);
  const inAddress = await ask('/metrics?apiKey=scraper');
  expect([inAddress.status, await code(inAddress)]).toEqual([401, 'UNAUTHENTICATED']);
});

it('a key of two kinds stops the start', async () => {
  const twice = { ...environment, GRAPHSTEAD_CLIENT_KEYS: 'page,whole' };
  await expect(startService({ host: '0.0.0.0', environment: twice })).rejects.toMatchObject({ code: 'CONFIG' });
});
