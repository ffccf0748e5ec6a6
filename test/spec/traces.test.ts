// Traces, through a real OpenTelemetry SDK: who belongs to whom, and that nothing of the data stands in them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { SpanKind } from '@opentelemetry/api';
import * as grpc from '@grpc/grpc-js';
import { createRequire } from 'node:module';
import type * as Dgraph from 'dgraph-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sharedFolder } from '../folder.js';
import { type Remote, startRemote } from '../remote.js';
import { startService, type TestService } from '../service.js';
import { TestSocket } from '../web-socket.js';

const { DgraphClientStub, Request } = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;
const dir = sharedFolder();
const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
let remote: Remote;
let s: TestService;

const FUNCTIONS = `
import { agents, models } from 'graphstead/app';
export async function begin(): Promise<string> {
  const { id } = await agents.start('Clerk');
  await agents.sendMessage(id, 'note', 'pl4nted-value');
  return id;
}
export async function noteLater(id: string): Promise<boolean> {
  await agents.sendMessageAsync(id, 'note', 'pl4nted-value');
  return true;
}
export async function failing(): Promise<string> {
  throw new Error('pl4nted-value');
}
`;
const AGENTS = `
import { Agent, agents, graph, models } from 'graphstead/app';
export class Clerk extends Agent {
  notes = 0;
  async onReceiveMessage(name: string, data?: string): Promise<string> {
    this.notes++;
    await graph.mutate({ set: { text: data } });
    const reply = await models.get('writer').ask('Be brief.', data ?? '');
    return reply.choices[0].message.content ?? '';
  }
  getState() { return JSON.stringify(this.notes); }
  setState(state?: string) { this.notes = Number(state ?? 0); }
}
agents.register(Clerk);
`;
const config = {
  models: { writer: { sourceModel: 'tiny-1', connection: 'model-api' } },
  connections: {
    'model-api': { type: 'http', baseUrl: '', headers: { Authorization: 'Bearer {{API_KEY}}' }, traceContext: true },
  },
};

beforeAll(async () => {
  provider.register();
  remote = await startRemote();
  const message = { role: 'assistant', content: 'Noted.' };
  const usage = { prompt_tokens: 7, completion_tokens: 2 };
  remote.on('/v1/*', () => ({ body: { choices: [{ message }], usage } }));
  for (const path of ['/box/*', '/quiet/*']) remote.on(path, () => ({ body: { id: '1', size: 3 } }));
  config.connections['model-api'].baseUrl = remote.url;
  mkdirSync(join(dir, 'functions'));
  mkdirSync(join(dir, 'agents'));
  writeFileSync(join(dir, 'functions/clerk.ts'), FUNCTIONS);
  writeFileSync(join(dir, 'agents/clerk.ts'), AGENTS);
  writeFileSync(join(dir, 'app.json'), JSON.stringify(config));
  s = await startService({ appDir: dir, grpcPort: 0, environment: { APP_MODEL_API_API_KEY: 'pl4nted-key' } });
  await s.schema(`
    type Note { id: ID! text: String }
    type Box @remote { id: ID! size: Int }
    type Query {
      box(id: ID!): Box @custom(http: { url: "${remote.url}/box/$id", method: GET, forwardHeaders: ["traceparent"] })
      quietBox(id: ID!): Box @custom(http: { url: "${remote.url}/quiet/$id", method: GET })
    }`);
}, 120_000);
afterAll(async () => {
  await s?.close();
  await remote.close();
  await provider.shutdown();
});
beforeEach(() => exporter.reset());

/** Names of the spans from the root to each span that ended, `a > b > c`. */
function paths(spans: readonly ReadableSpan[] = exporter.getFinishedSpans()): string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const path = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '');
    return parent ? `${path(parent)} > ${span.name}` : span.name;
  };
  return spans.map(path);
}

/** A request's own span ends with its connection's answer, a moment after the client has read it. */
async function settled(...names: string[]): Promise<string[]> {
  await vi.waitFor(() => expect(paths()).toEqual(expect.arrayContaining(names)), { timeout: 60_000 });
  return paths();
}
const named = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name) as ReadableSpan;

describe('a trace', () => {
  it('of a GraphQL query has what it read and ran', async () => {
    await s.graphql('query Notes { queryNote(filter: {}) { text } }');
    await settled(
      'POST /graphql',
      'POST /graphql > graphql',
      'POST /graphql > graphql > parse',
      'POST /graphql > graphql > run',
    );
    expect(named('POST /graphql').attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': 200,
    });
    expect(named('graphql').attributes).toMatchObject({ 'graphql.operation.type': 'query' });
  });

  it('of an operation over a WebSocket has its commit', async () => {
    const client = await TestSocket.open(s.url);
    await client.greet();
    const query = 'mutation Noted { addNote(input: [{ text: "pl4nted-value" }]) { numUids } }';
    client.say({ id: '1', type: 'subscribe', payload: { query, operationName: 'Noted' } });
    expect(await client.hear()).toMatchObject({ type: 'next' });
    await settled('WS /graphql', 'WS /graphql > commit');
    expect(named('WS /graphql')).toMatchObject({
      kind: SpanKind.SERVER,
      attributes: { 'graphql.operation.name': 'Noted' },
    });
    client.socket.terminate();
  });

  it('of an upsert ends in a commit', async () => {
    await s.rdf('{ set { _:a <text> "pl4nted-value" . } }');
    const inside = 'POST /mutate > dql mutate';
    await settled('POST /mutate', `${inside} > commit`, `${inside} > parse`);
    expect(named('commit').attributes['graphstead.commit.ts']).toEqual(expect.any(Number));
  });

  it('goes on where the caller began it', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await s.post('/query', '{ q(func: has(text)) { uid } }', 'application/dql', { traceparent });
    await settled('POST /query > dql query > run');
    expect(named('dql query').spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(named('POST /query').parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  });

  it('of a gRPC call goes on too', async () => {
    const stub = new DgraphClientStub(`127.0.0.1:${s.service.grpcPort}`);
    const metadata = new grpc.Metadata();
    metadata.set('traceparent', '00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01');
    const request = new Request();
    request.setQuery('{ q(func: has(text)) { uid } }');
    await stub.query(request, metadata);
    stub.close();
    await settled('api.Dgraph/Query > dql query');
    expect(named('api.Dgraph/Query').spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319d');
  });

  it('reaches a remote of custom logic where the types forward traceparent, and no other', async () => {
    remote.calls.length = 0;
    await s.graphql('{ box(id: "1") { size } quietBox(id: "1") { size } }');
    const [first, second] = (await settled('POST /graphql > graphql > GET')).filter((path) => path.endsWith('> GET'));
    expect([first, second]).toEqual(['POST /graphql > graphql > GET', 'POST /graphql > graphql > GET']);
    const told = (path: string) => remote.calls.find(({ url }) => url.startsWith(path))?.headers['traceparent'];
    const calls = exporter
      .getFinishedSpans()
      .filter(({ name }) => name === 'GET')
      .map((span) => span.spanContext());
    expect(calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toContain(told('/box'));
    expect(told('/quiet')).toBeUndefined();
  });

  it('of a function leads through agents, their models and their commits, in one piece', async () => {
    remote.calls.length = 0;
    const begun = await s.graphql('mutation { begin }');
    expect(begun.body.errors).toBeUndefined();
    const id = begun.body.data.begin as string;
    const call = 'POST /graphql > graphql > function begin';
    await settled('POST /graphql', call);
    const turn = (await settled(call)).find((path) => path.endsWith('turn Clerk > model writer')) as string;
    expect(turn).toBeDefined();
    expect(paths()).toContain(turn.replace('model writer', 'commit'));
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(named('model writer').attributes).toMatchObject({
      'gen_ai.request.model': 'writer',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 2,
    });
    const turnSpans = exporter
      .getFinishedSpans()
      .filter(({ name }) => name === 'turn Clerk')
      .map((span) => span.spanContext());
    const traceparent = remote.calls[0].headers['traceparent'];
    expect(turnSpans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toContain(traceparent);
    exporter.reset();

    await s.graphql('mutation ($id: String!) { noteLater(id: $id) }', { id });
    const sent = 'POST /graphql > graphql > function noteLater > commit';
    await settled(`${sent} > turn Clerk`, `${sent} > turn Clerk > commit`);
  });

  it('tells failures by their codes, and nothing of the data, anywhere', async () => {
    await s.graphql('mutation { failing }');
    await settled('POST /graphql > graphql > function failing');
    expect(named('function failing').status).toEqual({ code: 2, message: 'FUNCTION_FAILED' });
    await s.graphql('mutation { begin }');
    await s.rdf('{ set { _:a <text> "pl4nted-value" . } }');
    await settled('POST /mutate', 'POST /graphql');
    const told = exporter
      .getFinishedSpans()
      .map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
    expect(JSON.stringify(told)).not.toContain('pl4nted');
  });

  it('has nothing of probes and scrapes', async () => {
    await s.get('/health');
    await s.get('/metrics');
    await s.post('/query', '{ q(func: has(text)) { uid } }', 'application/dql');
    await settled('POST /query');
    expect(paths().filter((path) => path.startsWith('GET'))).toEqual([]);
  });
});

describe('a request that a service sends on to the one that writes', () => {
  it('is one trace over both', async () => {
    const writer = await startService({ data: join(dir, 'data') });
    await writer.schema('type Note { id: ID! text: String }');
    const reader = await startService({ data: join(dir, 'data'), readOnly: true, writer: writer.url });
    try {
      exporter.reset();
      await reader.graphql('mutation { addNote(input: [{text: "a"}]) { numUids } }');
      const spans = exporter.getFinishedSpans();
      const [sent] = spans.filter(({ name }) => name === 'forward POST');
      const served = spans.filter(({ kind }) => kind === SpanKind.SERVER);
      expect(served.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toContain(sent.spanContext().spanId);
      expect(served).toHaveLength(2);
      expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
      expect(sent.attributes).toMatchObject({ 'server.address': '127.0.0.1', 'http.response.status_code': 200 });
    } finally {
      await reader.close();
      await writer.close();
    }
  });
});
