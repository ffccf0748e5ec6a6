// The Model Context Protocol as its own client speaks it, in the form without sessions and in the one before it.
import { createHmac } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';

const TYPES = `
type Note @auth(query: { rule: "{$ROLE: { eq: \\"reader\\" } }" }) { id: ID! text: String! }
type Item { code: String! @id name: String }
# Service.Authorization {"Header":"X-Auth","Namespace":"https://app/claims","Algo":"HS256","VerificationKey":"a-key-of-this-test-alone"}
`;

const FUNCTIONS = `
import { agents, Agent, Int } from 'graphstead/app';
class Counter extends Agent<{ count: number }> {
  override state = { count: 0 };
  override onReceiveMessage(name: string): string { return String(++this.state.count); }
}
agents.register(Counter);

export type Mood = 'glad' | 'grim';
export interface Part { name: string; parts?: Part[] }
export interface Box { kind: 'box'; size: Int }
export interface Word { kind: 'word'; size: string }

/** Counts a step of a counter. */
export async function stepCounter(id: string): Promise<string> { return await agents.sendMessage(id, 'step'); }
export async function startCounter(): Promise<string> { return (await agents.start('Counter')).id; }
/**
 * How someone is.
 * @param who a name
 */
export function describeMood(who: string, mood: Mood = 'glad', since?: Date, times?: bigint): string {
  return [who, mood, since?.toISOString(), times].join(' ');
}
/** @query */
export function weigh(part: Part): Part { return part; }
export function listThings(): (Box | Word)[] { return [{ kind: 'box', size: 3 as Int }, { kind: 'word', size: 'xl' }]; }
export function findLarge(): bigint { return 9007199254740993n; }
export function checkAlways(): string { throw new Error('it never holds'); }
export function getLost(): string | null { throw new Error('it is lost'); }
export async function* watchSteps(): AsyncIterable<string> { yield 'one'; }
`;

const folder = sharedFolder();
let s: TestService;
const clients: Client[] = [];
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  write('schema.graphql', TYPES);
  write('functions/index.ts', FUNCTIONS);
  s = await startService({ appDir: folder, dev: true });
  await s.graphql('mutation { addNote(input: [{ text: "hidden" }]) { numUids } }');
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await s.close();
});

async function connect(options: ClientOptions = MODERN, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'a-test', version: '1' }, options);
  clients.push(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${s.url}/mcp`), { requestInit: { headers } }));
  return client;
}

const MODERN: ClientOptions = { versionNegotiation: { mode: 'auto' } };

type Given = Record<string, unknown>;
const call = async (client: Client, name: string, given: Given = {}) => {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
  return { text: (content as { text: string }[])[0].text, data: structuredContent, isError: isError === true };
};

describe.each([
  ['without sessions', MODERN],
  ['as it was before', {}],
])('the protocol %s', (_name, options) => {
  it('lists a tool for each function, and three for all that is stored', async () => {
    const { tools } = await (await connect(options)).listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'checkAlways',
      'describeMood',
      'findLarge',
      'getLost',
      'graphql_mutation',
      'graphql_query',
      'graphql_schema',
      'listThings',
      'startCounter',
      'stepCounter',
      'weigh',
    ]);
    expect(tools.find(({ name }) => name === 'describeMood')).toMatchObject({
      description: 'How someone is.',
      annotations: { readOnlyHint: true },
      inputSchema: {
        type: 'object',
        properties: {
          who: { type: 'string', description: 'a name' },
          mood: { type: 'string', enum: ['glad', 'grim'], default: 'glad' },
          since: { type: 'string', format: 'date-time' },
          times: { type: ['integer', 'string'] },
        },
        required: ['who'],
        additionalProperties: false,
      },
    });
    expect(tools.find(({ name }) => name === 'stepCounter')?.annotations).toEqual({ readOnlyHint: false });
  });

  it('calls a function that sends a message to an agent', async () => {
    const client = await connect(options);
    const { text: id } = await call(client, 'startCounter');
    expect(await call(client, 'stepCounter', { id })).toEqual({
      text: '1',
      data: { stepCounter: '1' },
      isError: false,
    });
    expect(await call(client, 'stepCounter', { id })).toMatchObject({ text: '2' });
  });
});

describe('a tool of a function', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connect();
  });

  it('takes what its schema says, null for what is optional, and fills in defaults', async () => {
    expect((await call(client, 'describeMood', { who: 'Ada' })).text).toBe('Ada glad  ');
    const since = '2026-01-02T03:04:05.000Z';
    const given = { who: 'Ada', mood: 'grim', since, times: '9007199254740993' };
    expect((await call(client, 'describeMood', given)).text).toBe(`Ada grim ${since} 9007199254740993`);
    expect((await call(client, 'describeMood', { who: 'Ada', since: null })).text).toBe('Ada glad  ');
  });

  it('refuses what its schema does not say, with a sentence', async () => {
    expect(await call(client, 'describeMood', { who: 'Ada', whom: 'x' })).toEqual({
      text: 'describeMood has no argument whom; it takes who, mood, since, times',
      data: undefined,
      isError: true,
    });
    const missing = await call(client, 'describeMood');
    expect(missing).toMatchObject({ isError: true, text: expect.stringContaining('$who') });
    const wrong = await call(client, 'describeMood', { who: 'Ada', mood: 'sad' });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('sad') });
  });

  it('answers objects whole, and objects in objects of their type as deep as it says', async () => {
    const part = (depth: number): Given => ({ name: `p${depth}`, ...(depth > 1 ? { parts: [part(depth - 1)] } : {}) });
    const { data } = await call(client, 'weigh', { part: part(3) });
    expect(data).toEqual({ weigh: { name: 'p3', parts: [{ name: 'p2', parts: [{ name: 'p1', parts: null }] }] } });
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === 'weigh');
    expect(tool?.description).toBe('Objects inside objects of the same type are answered 8 levels deep.');
    expect(tool?.inputSchema).toMatchObject({
      properties: { part: { $ref: '#/$defs/PartInput' } },
      $defs: { PartInput: { properties: { parts: { type: 'array', items: { $ref: '#/$defs/PartInput' } } } } },
    });
    expect(JSON.stringify((await call(client, 'weigh', { part: part(12) })).data)).toContain('"p5"');
  });

  it('answers members of a union whose fields differ, and whole numbers with every digit', async () => {
    expect((await call(client, 'listThings')).data).toEqual({
      listThings: [
        { __typename: 'Box', kind: 'box', size_Box: 3 },
        { __typename: 'Word', kind: 'word', size_Word: 'xl' },
      ],
    });
    expect((await call(client, 'findLarge')).text).toBe('9007199254740993');
  });

  it('tells what the function threw', async () => {
    const failed = await call(client, 'checkAlways');
    expect(failed.isError).toBe(true);
    expect(failed.text).toMatch(/^FUNCTION_FAILED: .*it never holds/);
  });

  it('is not there for a name that no function has', async () => {
    await expect(client.callTool({ name: 'nothing' })).rejects.toThrow('there is no tool nothing');
  });
});

describe('the tools of GraphQL', () => {
  it('tell the schema in parts', async () => {
    const client = await connect();
    const all = await call(client, 'graphql_schema');
    expect(all.text).toMatch(/^Query:\n {2}getNote\(id: ID!\): Note\n/);
    expect(all.text).toMatch(/\n {2}stepCounter\(id: String!\): String!\n/);
    expect(all.text).toMatch(/\nTypes: .*Item, ItemAggregateResult/);
    const items = await call(client, 'graphql_schema', { search: 'additem' });
    expect(items.text).toMatch(/^Mutation:\n {2}addItem\(.*\nTypes: AddItemInput, AddItemPayload$/s);
    expect((await call(client, 'graphql_schema', { search: 'AddItem' })).text).toBe(items.text);
    const type = await call(client, 'graphql_schema', { types: ['Item', 'Item'] });
    expect(type.text).toMatch(/^type Item \{\n {2}code: String!\n {2}name: String\n\}$/);
    expect(await call(client, 'graphql_schema', { types: ['Nothing'] })).toMatchObject({ isError: true });
  });

  it('query and change what is stored', async () => {
    const client = await connect();
    const query = 'mutation ($code: String!) { addItem(input: [{ code: $code, name: "one" }]) { numUids } }';
    expect((await call(client, 'graphql_mutation', { query, variables: { code: 'a' } })).data).toEqual({
      addItem: { numUids: 1 },
    });
    const read = await call(client, 'graphql_query', { query: '{ getItem(code: "a") { name } }' });
    expect(JSON.parse(read.text)).toMatchObject({ data: { getItem: { name: 'one' } } });
    const refused = await call(client, 'graphql_query', { query, variables: { code: 'b' } });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('METHOD_NOT_ALLOWED') });
    // with what to do about it
    expect(refused.text).toMatch(/ \(.*\)$/);
    expect(await call(client, 'graphql_query')).toMatchObject({ isError: true });
    const listed = await call(client, 'graphql_query', { query: '{ getItem(code: "a") { name } }', variables: [] });
    expect(listed).toMatchObject({ isError: true, text: '"variables" must be an object: {"name": value}' });
    const several = 'query One { one: getItem(code: "a") { name } } query Two { two: getItem(code: "a") { code } }';
    expect((await call(client, 'graphql_query', { query: several, operationName: 'Two' })).data).toEqual({
      two: { code: 'a' },
    });
    // what could be answered is, beside the mistake
    const partly = await call(client, 'graphql_query', { query: '{ getItem(code: "a") { name } getLost }' });
    expect(partly).toMatchObject({ isError: true, data: { getItem: { name: 'one' } } });
    expect(partly.text).toMatch(/^FUNCTION_FAILED: .*it is lost.*\n.*\{"getItem":\{"name":"one"\},"getLost":null\}$/);
    // else a model would do again what was done
    const twice =
      'mutation { one: addItem(input: [{ code: "c" }]) { numUids } two: addItem(input: [{ code: "c" }]) { numUids } }';
    const { text } = await call(client, 'graphql_mutation', { query: twice });
    expect(text).toMatch(/^UNIQUE_VIOLATION: .*\n.*\{"one":\{"numUids":1\},"two":null\}$/);
    expect(await call(client, 'graphql_query', { query: '{', variables: {} })).toMatchObject({ isError: true });
  });

  it('hold to the rules of who asks', async () => {
    const query = '{ queryNote { text } }';
    expect((await call(await connect(), 'graphql_query', { query })).data).toEqual({ queryNote: [] });
    const reader = await connect(MODERN, { 'x-auth': token({ ROLE: 'reader' }) });
    expect((await call(reader, 'graphql_query', { query })).data).toEqual({ queryNote: [{ text: 'hidden' }] });
    await expect(connect(MODERN, { 'x-auth': 'no token' })).rejects.toThrow();
  });
});

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ 'https://app/claims': claims })}`;
  return `${text}.${createHmac('sha256', 'a-key-of-this-test-alone').update(text).digest('base64url')}`;
}

describe('a request', () => {
  const RPC = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';

  it('is one JSON-RPC object, sent as JSON by POST', async () => {
    expect((await s.post('/mcp', RPC, 'text/plain')).status).toBe(415);
    expect((await s.post('/mcp', `[${RPC}]`, 'application/json')).status).toBe(400);
    expect((await s.post('/mcp', '{', 'application/json')).status).toBe(400);
    const read = await s.get('/mcp');
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('of a page of another site is refused', async () => {
    const answer = await s.post('/mcp', RPC, 'application/json', { 'sec-fetch-site': 'cross-site' });
    expect([answer.status, answer.body.errors[0].extensions.code]).toEqual([403, 'FORBIDDEN']);
  });
});

it('cuts an answer that is too long for a model, and says so', async () => {
  const small = await startService({ limits: { mcpAnswerChars: 200 } });
  await small.schema('type Note { id: ID! text: String }');
  const client = new Client({ name: 'a-test', version: '1' }, MODERN);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${small.url}/mcp`)));
  const { text } = await call(client, 'graphql_schema');
  const [, kept, length] =
    /^(Query:.*)\n\[cut: 200 of (\d+) characters, limits.mcpAnswerChars; ask for less\]$/s.exec(text) ?? [];
  expect(kept).toHaveLength(200);
  expect(Number(length)).toBeGreaterThan(200);
  const texts = Array.from({ length: 20 }, (_, i) => `{ text: "note ${i}" }`).join(' ');
  const query = `mutation { addNote(input: [${texts}]) { note { text } } }`;
  expect(await call(client, 'graphql_mutation', { query })).toMatchObject({ data: undefined, isError: false });
  await client.close();
  await small.close();
});

it('tells a listening client when the app has other tools', async () => {
  let last: string[] = [];
  const onChanged = (_error: unknown, tools: { name: string }[] | null) => {
    last = (tools ?? []).map(({ name }) => name);
  };
  await connect({ ...MODERN, listChanged: { tools: { onChanged } } });
  write('functions/more.ts', 'export function getMore(): string { return "more"; }');
  await expect.poll(() => last).toContain('getMore');
  rmSync(join(folder, 'functions/more.ts'));
  await expect.poll(() => last).not.toContain('getMore');
});
