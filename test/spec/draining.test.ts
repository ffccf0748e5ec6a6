// The mutations `draining` and `shutdown` of /admin: a service that an operator takes out of use, and ends.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scratch, serve } from '../cli/command.js';
import { type Answer, startService, type TestService } from '../service.js';
import { openStream } from '../sse.js';

const dgraph = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;

const ask = (query: string) => JSON.stringify({ query });
const admin = (of: TestService, query: string, headers = {}) =>
  of.post('/admin', ask(query), 'application/json', headers);
const drain = (of: TestService, enable: boolean) =>
  admin(of, `mutation { draining(enable: ${enable}) { response { code message } } }`);
const code = ({ body }: Answer) => body.errors?.[0]?.extensions?.code;

describe('a service that drains', () => {
  let s: TestService;
  beforeEach(async () => {
    s = await startService({ grpcPort: 0, limits: { drainingRetryMs: 2_500 } });
    await s.schema('type Note { id: ID! text: String }');
    await s.alter('name: string @index(exact) .');
  });
  afterEach(() => s.close());

  it('refuses reads and writes on every path with a code and Retry-After, and takes them again', async () => {
    const asked = {
      '/graphql': ['application/json', ask('mutation { addNote(input: [{ text: "a" }]) { numUids } }')],
      '/query': ['application/dql', '{ q(func: has(name)) { name } }'],
      '/mutate?commitNow=true': ['application/rdf', '{ set { _:a <name> "x" . } }'],
      '/alter': ['text/plain', 'age: int .'],
      '/mcp': ['application/json', '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
      '/assign?what=uids&num=1': ['text/plain', ''],
    };
    const answers = async () =>
      Promise.all(Object.entries(asked).map(([path, [type, body]]) => s.post(path, body, type, ACCEPT)));
    expect(await drain(s, true)).toMatchObject({
      status: 200,
      body: { data: { draining: { response: { code: 'Success' } } } },
    });
    const last = s.service.core.committer.lastCommitTs;
    for (const answer of [...(await answers()), await s.get('/graphql?query={__typename}'), await s.get('/changes')]) {
      expect(answer).toMatchObject({ status: 503, body: { errors: [{ extensions: { code: 'DRAINING' } }] } });
      expect(answer.headers.get('retry-after')).toBe('3');
    }
    expect(s.service.core.committer.lastCommitTs).toBe(last);
    await drain(s, false);
    expect((await answers()).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('says so to probes and to operators, who go on', async () => {
    await drain(s, true);
    expect(await s.get('/health')).toMatchObject({ status: 200, body: [{ status: 'draining' }] });
    const ready = await s.get('/health/ready');
    expect([ready.status, code(ready), ready.headers.get('retry-after')]).toEqual([503, 'DRAINING', '3']);
    const { body } = await admin(s, '{ health { status } getGQLSchema { schema } }');
    expect(body).toMatchObject({ data: { health: [{ status: 'draining' }], getGQLSchema: { schema: /Note/ } } });
    const others = ['/metrics', '/admin/schema', '/admin/export', '/probe/graphql'];
    for (const path of others) expect([path, (await s.get(path)).status]).toEqual([path, 200]);
    await drain(s, false);
    expect(await s.get('/health')).toMatchObject({ body: [{ status: 'healthy' }] });
    expect((await s.get('/health/ready')).status).toBe(200);
  });

  it('takes no type definitions, and still checks them', async () => {
    await drain(s, true);
    const sdl = 'type Other { id: ID! text: String }';
    const refused = await s.post('/admin/schema', sdl, 'text/plain');
    expect([refused.status, code(refused), refused.headers.get('retry-after')]).toEqual([503, 'DRAINING', '3']);
    const update = `mutation { updateGQLSchema(input: { set: { schema: "${sdl}" } }) { gqlSchema { id } } }`;
    expect(code(await admin(s, update))).toBe('DRAINING');
    expect((await s.post('/admin/schema/validate', sdl, 'text/plain')).status).toBe(200);
    await drain(s, false);
    expect((await admin(s, '{ getGQLSchema { schema } }')).body.data.getGQLSchema.schema).toContain('Note');
    expect((await admin(s, update)).body.errors).toBeUndefined();
  });

  it('lets requests, streams and transactions that have begun end', async () => {
    const { body } = await s.post('/mutate', '{ set { _:a <name> "open" . } }', 'application/rdf');
    const stream = await openStream(`${s.url}/changes`, {});
    await stream.next(); // where it begins
    const finish = await begun(s.url);
    await drain(s, true);
    expect(await finish()).toBe(200);
    const { txn } = body.extensions;
    const committed = await s.post(`/commit?startTs=${txn.start_ts}&hash=${txn.hash}`, '', 'application/json');
    expect(committed).toMatchObject({ status: 200, body: { data: { code: 'Success' } } });
    for (const name of ['late', 'open']) expect((await stream.next())?.data).toContain(`"${name}"`);
    stream.close();
    await drain(s, false);
    expect(await s.data('{ q(func: has(name), orderasc: name) { name } }')).toEqual({
      q: [{ name: 'late' }, { name: 'open' }],
    });
  });

  it('ends the connections of those it refuses, plain requests too, behind the answer', async () => {
    const { host, port } = new URL(s.url);
    const socket = connect(Number(port), '127.0.0.1');
    const plain = (body: string) =>
      `POST /query HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/dql\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const query = plain('{ q(func: has(name)) { name } }');
    socket.write(query);
    expect(await read(socket)).toMatch(/^HTTP\/1\.1 200 /);
    await drain(s, true);
    socket.write(query);
    const refused = await read(socket);
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/\r\nconnection: close\r\n/i);
    expect(refused).toContain('"code":"DRAINING"');
    await once(socket.resume(), 'close');
    // one that has much to say still hears why not
    const large = await s.rdf(`{ set { _:a <name> "${'x'.repeat(5_000_000)}" . } }`);
    expect([large.status, code(large)]).toEqual([503, 'DRAINING']);
  });

  it('is unavailable over gRPC, but for the end of a transaction', async () => {
    const stub = new dgraph.DgraphClientStub(`127.0.0.1:${s.service.grpcPort}`);
    try {
      const transaction = new dgraph.DgraphClient(stub).newTxn();
      const mutation = new dgraph.Mutation();
      mutation.setSetNquads('_:a <name> "over gRPC" .');
      await transaction.mutate(mutation);
      await drain(s, true);
      const late = new dgraph.DgraphClient(stub).newTxn({ readOnly: true });
      await expect(late.query('{ q(func: has(name)) { name } }')).rejects.toMatchObject({
        code: grpc.status.UNAVAILABLE,
        details: /draining/,
      });
      await transaction.commit();
      await drain(s, false);
      expect(await s.data('{ q(func: has(name)) { name } }')).toEqual({ q: [{ name: 'over gRPC' }] });
    } finally {
      stub.close();
    }
  });

  it('keeps its status under --compat dgraph', async () => {
    const peer = await startService({ compat: 'dgraph' });
    await drain(peer, true);
    const refused = await peer.query('{ q(func: has(name)) { name } }');
    expect([refused.status, code(refused)]).toEqual([503, 'DRAINING']);
    expect((await peer.get('/health?all')).body.map(({ status }: { status: string }) => status)).toEqual([
      'draining',
      'draining',
    ]);
    await peer.close();
  });

  it('takes no more than it says: neither without a value, nor by GET, nor by a key for pages', async () => {
    const without = await admin(s, 'mutation { draining { response { code } } }');
    expect(code(without)).toBe('INVALID_REQUEST');
    const get = await s.get(`/admin?query=${encodeURIComponent('mutation { draining(enable: true) { __typename } }')}`);
    expect(code(get)).toBe('METHOD_NOT_ALLOWED');
    expect((await s.get('/health/ready')).status).toBe(200);
    const environment = { GRAPHSTEAD_API_KEYS: 'whole', GRAPHSTEAD_CLIENT_KEYS: 'page' };
    const open = await startService({ host: '0.0.0.0', environment });
    const local = { ...open, post: postTo(open.url.replace('0.0.0.0', '127.0.0.1')) };
    const mutation = 'mutation { draining(enable: true) { response { code } } }';
    expect(code(await admin(local, mutation))).toBe('UNAUTHENTICATED');
    expect(code(await admin(local, mutation, { 'x-api-key': 'page' }))).toBe('FORBIDDEN');
    expect((await admin(local, mutation, { 'x-api-key': 'whole' })).body.data.draining.response.code).toBe('Success');
    await open.close();
  });
});

describe('shutdown', () => {
  // twice: a second one must not end the process at once
  const SHUTDOWN = 'mutation { shutdown { response { code } } again: shutdown { response { code } } }';

  it('ends the process as SIGTERM does: the answer first, then what is under way, and 0', async () => {
    const folder = scratch();
    try {
      const args = ['--data', folder.path('data')];
      const running = await serve(args);
      const finish = await begun(running.url);
      const { status, body } = await postTo(running.url)('/admin', ask(SHUTDOWN), 'application/json');
      const success = { response: { code: 'Success' } };
      expect([status, body]).toEqual([200, { data: { shutdown: success, again: success } }]);
      expect(await finish()).toBe(200);
      expect(await running.ended).toBe(0);
      const again = await serve(args);
      expect(await again.query('{ q(func: has(name)) { name } }')).toMatchObject({ data: { q: [{ name: 'late' }] } });
      expect(await again.stop()).toBe(0);
    } finally {
      folder.remove();
    }
  });

  it('is refused where the service does not own its process', async () => {
    const s = await startService();
    const { body } = await admin(s, 'mutation { shutdown { response { code } } }');
    expect(body).toMatchObject({ errors: [{ message: /shutdown/, extensions: { code: 'INVALID_REQUEST' } }] });
    expect((await s.get('/health/ready')).status).toBe(200);
    await s.close();
  });
});

/** as clients of /mcp have to say */
const ACCEPT = { accept: 'application/json, text/event-stream;q=0.1' };

function postTo(url: string): TestService['post'] {
  return async (path, body, type, headers = {}) => {
    const response = await fetch(url + path, { method: 'POST', headers: { 'content-type': type, ...headers }, body });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}

/** One answer of a socket, as text. */
async function read(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString('utf8');
}

/** A mutation whose headers the service has read and whose body is on its way; the function sends the rest. */
function begun(url: string): Promise<() => Promise<number | undefined>> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/rdf', expect: '100-continue' };
    const request = httpRequest(`${url}/mutate?commitNow=true`, { method: 'POST', headers });
    const answered = once(request, 'response').then(([response]) => {
      response.resume();
      return response.statusCode as number | undefined;
    });
    answered.catch(reject);
    request.on('continue', () => {
      request.write('{ set { _:a <name> ');
      resolve(() => {
        request.end('"late" . } }');
        return answered;
      });
    });
    request.flushHeaders();
  });
}
