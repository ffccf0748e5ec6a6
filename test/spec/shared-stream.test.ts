// Many operations over one event stream: GraphQL over SSE's single connection mode, as a browser with few connections needs it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';
import { openStream, type SseStream } from '../sse.js';

const APP = `
import { Agent, agents } from 'graphstead/app';
export class Teller extends Agent {
  override async onReceiveMessage(name: string): Promise<string> { this.publishEvent('told', { name }); return name; }
}
agents.register(Teller);
export async function startTeller(): Promise<string> { return (await agents.start('Teller')).id; }
export async function say(id: string, name: string): Promise<string | null> { return agents.sendMessage(id, name); }
`;
const LISTEN = 'subscription ($id: String) { agentEvent(agentId: $id) { name data } }';

const folder = sharedFolder();
let s: TestService;
beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'functions', 'index.ts'), APP);
  s = await startService({ appDir: folder });
});
afterAll(async () => {
  await s.close();
});

async function teller(): Promise<string> {
  return (await s.graphql('mutation { startTeller }')).body.data.startTeller;
}
const say = (id: string, name: string) =>
  s.graphql('mutation ($id: String!, $name: String!) { say(id: $id, name: $name) }', { id, name });

/** A reserved stream, which is read, and what one does with it. */
async function shared(of: TestService = s) {
  const token = await reserve(of);
  const stream = await read(token, of);
  return { token, stream };
}

async function reserve(of: TestService = s): Promise<string> {
  const answer = await fetch(`${of.url}/graphql`, { method: 'PUT' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([201, 'text/plain; charset=utf-8']);
  return answer.text();
}

function read(token: string, of: TestService = s): Promise<SseStream> {
  return openStream(`${of.url}/graphql?token=${token}`, { headers: { accept: 'text/event-stream' } });
}

async function begin(token: string, operationId: unknown, query: string, variables?: unknown, of: TestService = s) {
  const body = JSON.stringify({ query, variables, extensions: { operationId } });
  const headers = { 'content-type': 'application/json', 'x-graphql-event-stream-token': token };
  const answer = await fetch(`${of.url}/graphql`, { method: 'POST', headers, body });
  const text = await answer.text();
  return { status: answer.status, code: text && JSON.parse(text).errors[0].extensions.code };
}

async function stop(token: string, operationId: string): Promise<number> {
  const headers = { 'x-graphql-event-stream-token': token };
  return (await fetch(`${s.url}/graphql?operationId=${operationId}`, { method: 'DELETE', headers })).status;
}

const frame = async (stream: SseStream) => {
  const { event, id, data = '' } = (await stream.next()) ?? {};
  return { event, hasId: id !== undefined, ...JSON.parse(data) };
};

describe("graphql-sse's client with singleConnection", () => {
  it('follows eight agents over one connection, and asks queries and mutations there too', async () => {
    const methods: string[] = [];
    const counting: typeof fetch = (input, init) => {
      methods.push(init?.method ?? 'GET');
      return fetch(input, init);
    };
    const client = createClient({
      url: `${s.url}/graphql`,
      singleConnection: true,
      retryAttempts: 0,
      fetchFn: counting,
    });
    const ids = await Promise.all(Array.from({ length: 8 }, teller));
    const streams = ids.map((id) => client.iterate({ query: LISTEN, variables: { id } }));
    const firsts = streams.map((stream) => stream.next());
    await expect.poll(() => methods.filter((method) => method === 'POST').length).toBe(8);
    await expect.poll(subscribers).toBe(8);
    await Promise.all(ids.map((id, at) => say(id, `word ${at}`)));
    const told = (await Promise.all(firsts)).map((first) => first.value?.data?.agentEvent);
    expect(told).toEqual(ids.map((_, at) => ({ name: 'told', data: { name: `word ${at}` } })));

    await streams[0].return?.();
    await expect.poll(() => methods.filter((method) => method === 'DELETE').length).toBe(1);
    await expect.poll(subscribers).toBe(7);
    const next = streams[1].next();
    await say(ids[1], 'still here');
    expect((await next).value?.data?.agentEvent).toEqual({ name: 'told', data: { name: 'still here' } });

    const said = client.iterate({
      query: 'mutation ($id: String!) { say(id: $id, name: "by stream") }',
      variables: { id: ids[2] },
    });
    expect((await said.next()).value).toMatchObject({ data: { say: 'by stream' } });
    expect((await said.next()).done).toBe(true);
    const wrong = client.iterate({ query: '{ noSuchField }' });
    expect((await wrong.next()).value?.errors?.[0].message).toMatch(/noSuchField/);

    expect(methods.filter((method) => method !== 'POST')).toEqual(['PUT', 'GET', 'DELETE']);
    client.dispose();
    await expect.poll(subscribers).toBe(0);
  });
});

/** Subscriptions to events that are open at the service. */
async function subscribers(): Promise<number> {
  const { body } = await s.get('/metrics');
  return Number(/event_subscribers (\d+)/.exec(body)?.[1]);
}

describe('a shared event stream', () => {
  it('names the operation of each frame, and the event where it can be gone on from', async () => {
    const { token, stream } = await shared();
    const id = await teller();
    expect(await begin(token, 'listen', LISTEN, { id })).toMatchObject({ status: 202 });
    expect(await begin(token, 'ask', '{ __typename }')).toMatchObject({ status: 202 });
    expect(await frame(stream)).toMatchObject({
      event: 'next',
      hasId: false,
      id: 'ask',
      payload: { data: { __typename: 'Query' } },
    });
    expect(await frame(stream)).toEqual({ event: 'complete', hasId: false, id: 'ask' });
    await say(id, 'hello');
    const payload = { data: { agentEvent: { name: 'told', data: { name: 'hello' } } } };
    expect(await frame(stream)).toMatchObject({ event: 'next', hasId: true, id: 'listen', payload });
    expect(await begin(token, 'listen', '{ __typename }')).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(await stop(token, 'listen')).toBe(200);
    expect(await stop(token, 'listen')).toBe(404);
    expect(await begin(token, 'listen', '{ __typename }')).toMatchObject({ status: 202 });
    expect(await frame(stream)).toMatchObject({ id: 'listen', payload: { data: { __typename: 'Query' } } });
    stream.close();
  });

  it('answers what was posted before it is read', async () => {
    const token = await reserve();
    expect(await begin(token, 'early', '{ __typename }')).toMatchObject({ status: 202 });
    const stream = await read(token);
    expect(await frame(stream)).toMatchObject({ id: 'early', payload: { data: { __typename: 'Query' } } });
    stream.close();
  });

  it('is refused to a second reader, without its token, and with an operation that has no id', async () => {
    const { token, stream } = await shared();
    expect((await read(token)).status).toBe(400);
    expect((await read('unknown')).status).toBe(404);
    expect(await begin('unknown', 'a', '{ __typename }')).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await stop('unknown', 'a')).toBe(404);
    for (const id of [undefined, '', 7, 'x'.repeat(257)]) {
      expect(await begin(token, id, '{ __typename }')).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    }
    expect((await fetch(`${s.url}/graphql?operationId=a`, { method: 'DELETE' })).status).toBe(400);
    stream.close();
    await expect.poll(async () => (await begin(token, 'late', '{ __typename }')).status).toBe(404);
  });

  it('says what to send in place of a list of requests, and of the header of a stream that was left in', async () => {
    const ask = async (body: unknown, more: Record<string, string> = {}) => {
      const headers = { 'content-type': 'application/json', ...more };
      const answer = await fetch(`${s.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
      return JSON.stringify(await answer.json());
    };
    expect(await ask([{ query: '{ __typename }' }])).toContain('each one of the list');
    expect(await ask('{ __typename }')).toContain('wrap it in { }');
    const left = { 'x-graphql-event-stream-token': await reserve() };
    expect(await ask({ query: '{ __typename }' }, left)).toContain('sends no x-graphql-event-stream-token');
  });

  it('is forgotten when nobody comes for it', async () => {
    const other = await startService({ limits: { reservationMs: 1 } });
    const token = await reserve(other);
    await expect.poll(async () => (await begin(token, 'a', '{ __typename }', undefined, other)).status).toBe(404);
    await other.close();
  });
});

it('streams, and what shares one, are counted together: limits.streams', async () => {
  const other = await startService({ limits: { streams: 4 } });
  await other.schema('type Note @withSubscription { id: ID! text: String! }');
  const query = 'subscription { queryNote { text } }';
  const { token, stream } = await shared(other);
  expect(await begin(token, 'a', query, undefined, other)).toMatchObject({ status: 202 });
  const body = JSON.stringify({ query });
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const alone = await openStream(`${other.url}/graphql`, { method: 'POST', headers, body });
  expect(alone.status).toBe(200);
  expect(await begin(token, 'b', query, undefined, other)).toEqual({ status: 503, code: 'OVERLOADED' });
  const refused = await fetch(`${other.url}/graphql`, { method: 'POST', headers, body });
  expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('"code":"OVERLOADED"')]);
  expect((await fetch(`${other.url}/graphql`, { method: 'PUT' })).status).toBe(503);
  alone.close();
  await expect.poll(async () => (await begin(token, 'b', query, undefined, other)).status).toBe(202);
  stream.close();
  await other.close();
});
