// What a call of "graphstead/app" throws names the line of the app that made it, also in an app that was built.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { buildApp } from '../../src/functions/index.js';
import { startService, type TestService } from '../service.js';

const CONFIG = {
  connections: {
    web: { type: 'http', baseUrl: 'http://127.0.0.1:9/' },
    db: { type: 'relational', connStr: 'postgres://nobody@127.0.0.1:9/none' },
    far: { type: 'graph', grpcTarget: '127.0.0.1:9' },
  },
  models: { oracle: { sourceModel: 'none', connection: 'web', path: 'chat' } },
};

const AGENT = `
import { Agent, agents, graph } from 'graphstead/app';
export class Scout extends Agent {
  static readonly handlers = ['look', 'tell'] as const;
  async look(): Promise<string> {
    return JSON.stringify(await graph.query('{ broken')); // here: look
  }
  tell(): void {
    this.publishEvent(''); // here: tell
  }
}
agents.register(Scout);
`;

const FUNCTIONS = `
import { agents, connections, graph, models } from 'graphstead/app';
import { Scout } from '../agents/scout.js';
const calls: Record<string, (id: string) => Promise<unknown>> = {
  query: async () => await graph.query('{ broken'), // here: query
  mutate: async () => await graph.mutate('nonsense'), // here: mutate
  graphql: async () => await graph.graphql('{ nothing }'), // here: graphql
  transaction: async () => await graph.transaction(async (txn) => await txn.query('{ broken')), // here: transaction
  sendMessage: async () => await agents.sendMessage('nobody', 'look'), // here: sendMessage
  sendMessageAsync: async () => await agents.sendMessageAsync('nobody', 'look'), // here: sendMessageAsync
  start: async () => await agents.start('Nobody'), // here: start
  info: async () => await agents.info('nobody'), // here: info
  unknown: async () => await connections.http('nothing').json('/'), // here: unknown
  json: async () => await connections.http('web').json('/'), // here: json
  fetch: async () => await connections.http('web').fetch('/'), // here: fetch
  relational: async () => await connections.relational('db').query('select 1'), // here: relational
  graph: async () => await connections.graph('far').query('{ q(func: has(a)) { uid } }'), // here: graph
  ask: async () => await models.get('oracle').ask('be', 'brief'), // here: ask
  look: async (id) => await agents.ref(Scout, id).look(), // here: asks look
  tell: async (id) => await agents.ref(Scout, id).tell(), // here: asks tell
  'query, given on': async () => graph.query('{ broken'), // here: query, given on
  'look, given on': async (id) => agents.ref(Scout, id).look(), // here: asks look, given on
  'sendMessage, given on': async (id) => agents.sendMessage(id, 'nothing'), // here: sendMessage, given on
};
export async function begin(): Promise<string> {
  return (await agents.start(Scout)).id;
}
/** @mutation */
export async function make(call: string, id: string): Promise<string> {
  return String(await calls[call](id));
}
`;

/** Each place as a stack has it. */
const PLACES = new Map<string, string>();
for (const [file, text] of Object.entries({ 'agents/scout.ts': AGENT, 'functions/index.ts': FUNCTIONS })) {
  text.split('\n').forEach((line, i) => {
    const name = /\/\/ here: (.*)$/.exec(line)?.[1];
    if (name !== undefined) PLACES.set(name, `${file}:${i + 1}:`);
  });
}

const folder = sharedFolder();
let s: TestService;
let id: string;
beforeAll(async () => {
  for (const name of ['agents', 'functions']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'app.json'), JSON.stringify(CONFIG));
  writeFileSync(join(folder, 'schema.graphql'), 'type Note { id: ID! text: String }');
  writeFileSync(join(folder, 'agents', 'scout.ts'), AGENT);
  writeFileSync(join(folder, 'functions', 'index.ts'), FUNCTIONS);
  await buildApp(folder, join(folder, 'built'), { types: false });
  s = await startService({ appDir: join(folder, 'built'), dev: true });
  id = (await s.graphql('mutation { begin }')).body.data.begin;
});
afterAll(async () => {
  await s.close();
});

async function stackOf(call: string): Promise<readonly string[]> {
  const { body } = await s.graphql('mutation ($call: String!, $id: String!) { make(call: $call, id: $id) }', {
    call,
    id,
  });
  return body.errors[0].extensions.stack;
}

describe('an error of a call names the line of the app that made it:', () => {
  it.each([...PLACES.keys()].filter((name) => !/look|tell/.test(name)))('%s', async (call) => {
    const stack = await stackOf(call);
    expect(stack[0]).toContain(PLACES.get(call));
    expect(stack.join('\n')).not.toMatch(/node:internal|dist\//);
  });

  it.each(['look', 'tell', 'look, given on'])('%s, in the handler and where the message was sent', async (call) => {
    const stack = await stackOf(call);
    expect(stack[0]).toContain(PLACES.get(call.split(',')[0]));
    expect(stack.some((line) => line.includes(PLACES.get(`asks ${call}`)!))).toBe(true);
  });
});
