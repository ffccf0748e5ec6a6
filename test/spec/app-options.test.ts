// Options of what app code calls, as JavaScript callers give them: null is none, and what is no object is told.
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';

const AGENTS = `
import { Agent, agents } from 'graphstead/app';

export class Box extends Agent {
  static readonly agentName = 'Box';
  static readonly handlers = ['weigh'] as const;
  weigh(): number { return 1; }
  override onReceiveMessage(name: string, data = 'null') {
    if (name === 'weigh') return super.onReceiveMessage(name, data);
    const options = JSON.parse(data) as never;
    switch (name) {
      case 'this.publishEvent': this.publishEvent('told', { it: 1 }, options); break;
      case 'this.publishEvent(value)': this.publishEvent({ eventName: 'told' }, options); break;
      case 'this.setAlarm': this.setAlarm(Date.now() + 1e9, options); break;
    }
    return 'fine';
  }
}
agents.register(Box);
`;

const FUNCTIONS = `
import { agents, connections, graph, models } from 'graphstead/app';
import { Box } from '../agents/all.js';

type Call = (id: string, options: never) => unknown;
const inTurn = (name: string): Call => (id, options) => agents.sendMessage(id, name, JSON.stringify(options));
const api = () => connections.http('api');
const shop = () => connections.relational('shop');
const facts = () => connections.graph('facts');
const writer = () => models.get('writer');

const CALLS: Record<string, Call> = {
  'agents.start': (_, options) => agents.start(Box, options),
  'agents.list': (_, options) => agents.list(options),
  'agents.sendMessage': (id, options) => agents.sendMessage(id, 'any', null, options),
  'agents.sendMessageAsync': (id, options) => agents.sendMessageAsync(id, 'any', null, options),
  'agents.ref': (id, options) => agents.ref(Box, id, options).weigh(),
  'agents.refAsync': (id, options) => agents.refAsync(Box, id, options).weigh(),
  'agents.history': (id, options) => agents.history(id, options),
  'agents.deadLetters': (id, options) => agents.deadLetters(id, options),
  'this.publishEvent': inTurn('this.publishEvent'),
  'this.publishEvent(value)': inTurn('this.publishEvent(value)'),
  'this.setAlarm': inTurn('this.setAlarm'),
  'graph.query': (_, options) => graph.query('{ q(func: uid(1)) { uid } }', options),
  'graph.graphql variables': (_, options) => graph.graphql('{ __typename }', options),
  'graph.graphql': (_, options) => graph.graphql('{ __typename }', {}, options),
  'transaction.graphql': (_, options) => graph.transaction((transaction) => transaction.graphql('{ __typename }', {}, options)),
  'http.fetch': (_, options) => api().fetch('x', options),
  'http.json': (_, options) => api().json('x', options),
  'relational.query': (_, options) => shop().query('select 1', [], options),
  'relational.execute': (_, options) => shop().execute('select 1', [], options),
  'relational.transaction': (_, options) => shop().transaction(async () => 1, options),
  'graph connection.query': (_, options) => facts().query('{ q(func: uid(1)) { uid } }', {}, options),
  'graph connection.query variables': (_, options) => facts().query('{ q(func: uid(1)) { uid } }', options),
  'graph connection.mutate': (_, options) => facts().mutate({ set: '_:a <name> "x" .' }, options),
  'graph connection.upsert': (_, options) => facts().upsert('{ q(func: uid(1)) { uid } }', [], options),
  'model.chat': (_, options) => writer().chat([], options),
  'model.ask': (_, options) => writer().ask('a', 'b', options),
  'model.stream': async (_, options) => { for await (const _piece of writer().stream([], options)); },
};

const WRONG: Record<string, (id: string) => unknown> = {
  'graph.query': () => graph.query({ text: '{ q }' } as never),
  'graph.graphql': () => graph.graphql(null as never),
  'graph.transaction': () => graph.transaction(null as never),
  'transaction.query': () => graph.transaction((transaction) => transaction.query(undefined as never)),
  'agents.ref': (id) => agents.ref('Box' as never, id),
  'agents.refAsync': (id) => agents.refAsync(undefined as never, id),
  'a statement': () => shop().query(undefined as never),
  'a statement that changes': () => shop().execute(['select 1'] as never),
  'relational.transaction': () => shop().transaction(null as never),
  'graph connection.query': () => facts().query(undefined as never),
  'graph connection.mutate': () => facts().mutate('_:a <name> "x" .' as never),
  'graph connection.mutate JSON': () => facts().mutate({ set: { name: 'x' } } as never),
  'graph connection.upsert': () => facts().upsert(undefined as never, []),
  'graph connection.upsert changes': () => facts().upsert('{ q(func: uid(1)) { uid } }', { set: '' } as never),
};
/** @mutation */ export async function begin(): Promise<string> { return (await agents.start(Box)).id; }
/** @mutation */ export async function attempt(id: string, name: string, options: string): Promise<string> {
  try { await CALLS[name](id, JSON.parse(options) as never); return 'fine'; }
  catch (error) { const { code, message, fix } = error as Error & { code?: string; fix?: string }; return [code, message, fix].join(' | '); }
}
/** @mutation */ export async function wrong(id: string, name: string): Promise<string> {
  try { await WRONG[name](id); return 'fine'; }
  catch (error) { const { code, message, fix } = error as Error & { code?: string; fix?: string }; return [code, message, fix].join(' | '); }
}
/** @mutation */ export async function unsignalled(name: string): Promise<string> {
  try { await CALLS[name]('', { signal: {} } as never); return 'fine'; }
  catch (error) { const { code, message } = error as Error & { code?: string }; return [code, message].join(' | '); }
}
`;
const OF_AGENTS = [
  'agents.start',
  'agents.list',
  'agents.sendMessage',
  'agents.sendMessageAsync',
  'agents.ref',
  'agents.refAsync',
  'agents.history',
  'agents.deadLetters',
  'this.publishEvent',
  'this.publishEvent(value)',
  'this.setAlarm',
  'graph.query',
  'graph.graphql variables',
  'graph.graphql',
  'transaction.graphql',
];
const TO_OTHERS = [
  'http.fetch',
  'http.json',
  'relational.query',
  'relational.execute',
  'relational.transaction',
  'graph connection.query',
  'graph connection.mutate',
  'graph connection.upsert',
  'model.chat',
  'model.ask',
  'model.stream',
];

const app = sharedFolder();
let web: Server;
let s: TestService;
let box: string;

beforeAll(async () => {
  web = createServer((request, response) => {
    const message = { role: 'assistant', content: 'hello' };
    let asked = '';
    request.on('data', (part) => (asked += part));
    request.on('end', () => {
      const whole = JSON.stringify({ choices: [{ message }] });
      const piece = JSON.stringify({ choices: [{ delta: message, finish_reason: 'stop' }] });
      response.end(asked.includes('"stream":true') ? `data: ${piece}\n\ndata: [DONE]\n\n` : whole);
    });
  });
  await once(web.listen(0, '127.0.0.1'), 'listening');
  const connections = {
    api: { type: 'http', baseUrl: `http://127.0.0.1:${(web.address() as AddressInfo).port}` },
    shop: { type: 'relational', connStr: 'postgres://u:p@127.0.0.1:1/shop' },
    facts: { type: 'graph', grpcTarget: '127.0.0.1:1' },
  };
  const models = { writer: { sourceModel: 'tiny', connection: 'api', path: 'chat' } };
  for (const name of ['agents', 'functions']) mkdirSync(join(app, name));
  writeFileSync(join(app, 'app.json'), JSON.stringify({ connections, models }));
  writeFileSync(join(app, 'agents/all.ts'), AGENTS);
  writeFileSync(join(app, 'functions/all.ts'), FUNCTIONS);
  s = await startService({ appDir: app });
  box = (await s.graphql('mutation { begin }')).body.data.begin;
});
afterAll(async () => {
  await s?.close();
  web.close();
});

async function attempt(name: string, options: unknown): Promise<string> {
  const text =
    'mutation ($id: String!, $name: String!, $options: String!) { attempt(id: $id, name: $name, options: $options) }';
  const { body } = await s.graphql(text, { id: box, name, options: JSON.stringify(options) });
  return body.data?.attempt ?? JSON.stringify(body);
}

/** Nothing listens there. */
const isAway = (name: string) => name.startsWith('relational') || name.startsWith('graph connection');

describe('options that app code gives', () => {
  it.each([...OF_AGENTS, ...TO_OTHERS, 'graph connection.query variables'])(
    'are none where they are null: %s',
    async (name) => {
      expect(await attempt(name, null)).toMatch(
        isAway(name) ? /^CONNECTION_FAILED .*check that the server runs/ : /^fine$/,
      );
    },
  );

  it.each([...OF_AGENTS, ...TO_OTHERS])('are told where they are no object: %s', async (name) => {
    for (const [options, what] of [
      [5, 'a number'],
      ['x', 'a text'],
      [[], 'a list'],
      [true, 'a boolean'],
    ] as const) {
      const told = await attempt(name, options);
      expect(told, name).toMatch(/^INVALID_VALUE \| /);
      expect(told).toContain(`is an object, got ${what}`);
      expect(told).toMatch(/\| (write|give) /);
    }
  });

  it.each(TO_OTHERS)('are told where their signal is none: %s', async (name) => {
    const { body } = await s.graphql('mutation ($name: String!) { unsignalled(name: $name) }', { name });
    expect(body.data.unsignalled).toMatch(/^INVALID_VALUE \| .* signal .* AbortSignal/);
  });
});

describe('what app code gives in place of what a call takes', () => {
  it.each([
    ['graph.query', "graph.query takes a text, got an object | write graph.query('{ people("],
    ['graph.graphql', "graph.graphql takes a text, got null | write graph.graphql('{ queryPerson"],
    ['graph.transaction', 'graph.transaction takes a function, got null | write graph.transaction(async '],
    ['transaction.query', 'transaction.query takes a text, got nothing | write transaction.query('],
    ['agents.ref', 'agents.ref takes a class, got a text | write agents.ref(Counter, id)'],
    ['agents.refAsync', 'agents.refAsync takes a class, got nothing | write agents.refAsync(Counter, id)'],
    ['a statement', 'a statement of connection "shop" takes a text, got nothing | write query('],
    ['a statement that changes', 'a statement of connection "shop" takes a text, got a list | write query('],
    ['relational.transaction', 'transaction of connection "shop" takes a function, got null | write transaction('],
    ['graph connection.query', 'query of connection "facts" takes a text, got nothing | write query('],
    ['graph connection.mutate', 'mutate of connection "facts" takes what to set and to delete'],
    ['graph connection.mutate JSON', 'mutate of connection "facts" takes what to set and to delete'],
    ['graph connection.upsert', 'upsert of connection "facts" takes a text, got nothing | write upsert('],
    ['graph connection.upsert changes', 'upsert of connection "facts" takes a list of changes | write [{ set: '],
  ])('is told with what to write: %s', async (name, told) => {
    const text = 'mutation ($id: String!, $name: String!) { wrong(id: $id, name: $name) }';
    const { body } = await s.graphql(text, { id: box, name });
    expect(body.data?.wrong ?? JSON.stringify(body)).toContain(`INVALID_VALUE | ${told}`);
  });
});
