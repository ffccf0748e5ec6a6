// Every operation on agents with an id, a name or a size that cannot be, over HTTP: a clear error, nothing lost, and the
// agent goes on.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';
import { openStream } from '../sse.js';

const AGENTS = `
import { Agent, agents } from 'graphstead/app';

export class Box extends Agent<{ text: string; more?: unknown }> {
  static readonly agentName = 'Box';
  static readonly handlers = ['weigh'] as const;
  override state: { text: string; more?: unknown } = { text: '' };
  weigh(): number { return this.state.text.length; }
  override async onReceiveMessage(name: string, data = ''): Promise<string | undefined> {
    switch (name) {
      case 'size': return String(this.state.text.length);
      case 'grow': this.state.text = 'x'.repeat(Number(data)); return 'grown';
      case 'bigint': this.state.more = 1n; return 'kept';
      case 'event': this.publishEvent('big', { text: 'y'.repeat(Number(data)) }); return 'told';
      case 'eventName': this.publishEvent('n'.repeat(Number(data)), {}); return 'told';
      case 'live': this.publishEvent('big', { text: 'y'.repeat(Number(data)) }, { live: true }); return 'told';
      case 'circle': { const circle: Record<string, unknown> = {}; circle.self = circle; this.publishEvent('c', circle); return 'told'; }
      case 'number': return 5 as unknown as string;
      case 'nothing': throw undefined;
      case 'alarm': this.setAlarm(Number(data)); return 'set';
      case 'alarmOf': { const { at, ...options } = JSON.parse(data); this.setAlarm(at, options); return 'set'; }
      case 'wait': return (await agents.sendMessage(this.id + 'x', 'size', null, JSON.parse(data))) ?? '';
      case 'self': return (await agents.sendMessage(this.id, 'size')) ?? '';
    }
    return super.onReceiveMessage(name, data);
  }
}
export class Stone extends Agent<{ weight: number }> {
  static readonly agentName = 'Stone';
  override state = { weight: 1 };
}
export class Wall extends Agent {
  static readonly agentName = 'Wall';
  static readonly handlers = ['weigh'] as const;
  weigh(said: string): number { return said.length; }
  override onReceiveMessage(_name: string, data = '[]'): string { return JSON.parse(data)[0]; }
}
agents.register(Box, Stone, Wall);
`;

const FUNCTIONS = `
import { agents } from 'graphstead/app';
import { Box, Wall } from '../agents/all.js';

type Id = string | null;
const given = (id?: Id) => id as string;

/** @mutation */ export async function begin(type?: Id): Promise<string> { return (await agents.start(given(type))).id; }
/** @mutation */ export async function end(id?: Id): Promise<string> { await agents.stop(given(id)); return 'ended'; }
/** @mutation */ export async function say(id?: Id, name?: Id, data?: Id): Promise<string | null> { return agents.sendMessage(given(id), given(name), data); }
/** @mutation */ export async function mail(id?: Id, name?: Id, data?: Id): Promise<string> { await agents.sendMessageAsync(given(id), given(name), data); return 'posted'; }
/** @mutation */ export async function weigh(id: string): Promise<number> { return agents.ref(Box, id).weigh(); }
/** @mutation */ export async function weighWall(id?: Id): Promise<number | null> { return agents.ref(Wall, (await agents.start(Wall)).id).weigh(given(id)); }
/** @query */ export async function infoOf(id?: Id): Promise<string> { return (await agents.info(given(id))).status; }
/** @query */ export async function letters(id?: Id): Promise<string[]> { return (await agents.deadLetters(given(id))).map((one) => one.id); }
/** @mutation */ export async function replayLetter(id?: Id, letter?: Id): Promise<string> { await agents.replay(given(id), given(letter)); return 'replayed'; }
`;

const LIMITS = { agentStateBytes: 20_000, eventBytes: 5_000, messageBytes: 10_000 };
const app = sharedFolder();
let s: TestService;
let box: string;
let stone: string;
let ended: string;

beforeAll(async () => {
  for (const name of ['agents', 'functions']) mkdirSync(join(app, name));
  writeFileSync(join(app, 'app.json'), JSON.stringify({ limits: LIMITS }));
  writeFileSync(join(app, 'agents/all.ts'), AGENTS);
  writeFileSync(join(app, 'functions/all.ts'), FUNCTIONS);
  s = await startService({ appDir: app });
  [box, stone, ended] = await Promise.all(['Box', 'Stone', 'Box'].map((type) => call('mutation', 'begin', { type })));
  await call('mutation', 'end', { id: ended });
});
afterAll(async () => {
  await s?.close();
});

type Values = Readonly<Record<string, string | null | undefined>>;

async function answer(kind: string, name: string, values: Values) {
  const names = Object.keys(values);
  const head = names.length === 0 ? '' : `(${names.map((one) => `$${one}: String`).join(', ')})`;
  const args = names.length === 0 ? '' : `(${names.map((one) => `${one}: $${one}`).join(', ')})`;
  return (await s.graphql(`${kind}${head} { ${name}${args} }`, values)).body;
}

async function call(kind: string, name: string, values: Values): Promise<string> {
  const body = await answer(kind, name, values);
  expect(body.errors).toBeUndefined();
  return body.data[name];
}

async function refusal(kind: string, name: string, values: Values): Promise<{ code: string; message: string }> {
  const { errors } = await answer(kind, name, values);
  expect(errors).toHaveLength(1);
  return { code: errors[0].extensions.code, message: errors[0].message };
}

const say = (name: string, data: string | null = null) => call('mutation', 'say', { id: box, name, data });
const refused = (name: string, data: string | null = null) => refusal('mutation', 'say', { id: box, name, data });

const OPERATIONS = [
  ['mutation', 'end', {}],
  ['mutation', 'say', { name: 'size' }],
  ['mutation', 'mail', { name: 'size' }],
  ['query', 'infoOf', {}],
  ['query', 'letters', {}],
  ['mutation', 'replayLetter', { letter: '1' }],
] as const;

describe('an agent id', () => {
  it.each(OPERATIONS)('that is missing, %s %s', async (kind, name, values) => {
    for (const id of [{}, { id: null }, { id: '' }]) {
      expect(await refusal(kind, name, { ...values, ...id })).toMatchObject({ code: 'AGENT_ID_MISSING' });
    }
  });

  it.each(OPERATIONS)('that is unknown, or could never be one, %s %s', async (kind, name, values) => {
    for (const id of ['agent_none', 'a\u0000b', 'x'.repeat(3_000), '../../etc/passwd']) {
      expect(await refusal(kind, name, { ...values, id })).toMatchObject({
        code: 'AGENT_UNKNOWN',
        message: expect.stringContaining(id),
      });
    }
  });

  it('of a stopped agent', async () => {
    for (const [kind, name, values] of OPERATIONS.filter(([, one]) => !['infoOf', 'letters'].includes(one))) {
      expect(await refusal(kind, name, { ...values, id: ended })).toMatchObject({
        code: 'AGENT_TERMINATED',
        message: expect.stringContaining(ended),
      });
    }
    expect(await call('query', 'infoOf', { id: ended })).toBe('terminated');
    expect(await call('query', 'letters', { id: ended })).toEqual([]);
  });

  it('of an agent of another type names the type and the message', async () => {
    for (const [name, values] of [
      ['weigh', {}],
      ['say', { name: 'weigh' }],
    ] as const) {
      const query = `mutation($id: String!) { ${name}(id: $id${'name' in values ? ', name: "weigh"' : ''}) }`;
      const [error] = (await s.graphql(query, { id: stone })).body.errors;
      expect(error.extensions.code).toBe('MESSAGE_UNKNOWN');
      expect(error.message).toMatch(/"weigh".*Stone/);
    }
  });

  it('in a subscription: missing, unknown, stopped, malformed places to go on from', async () => {
    const first = async (args: string, headers: Record<string, string> = {}) => {
      const stream = await openStream(`${s.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
        body: JSON.stringify({ query: `subscription { agentEvent${args} { name } }` }),
      });
      const { errors } = await stream.value();
      expect((await stream.next())?.event).toBe('complete');
      stream.close();
      return errors[0].extensions.code;
    };
    expect(await first('')).toBe('AGENT_ID_MISSING');
    expect(await first('(agentId: null)')).toBe('AGENT_ID_MISSING');
    expect(await first('(agentId: "")')).toBe('AGENT_ID_MISSING');
    expect(await first('(agentId: "agent_none")')).toBe('AGENT_UNKNOWN');
    expect(await first(`(agentId: "${'x'.repeat(3_000)}")`)).toBe('AGENT_UNKNOWN');
    expect(await first(`(agentId: "${ended}")`)).toBe('AGENT_TERMINATED');
    expect(await first(`(agentId: "${box}", after: "yesterday")`)).toBe('INVALID_VALUE');
    expect(await first(`(agentId: "${box}")`, { 'last-event-id': 'yesterday' })).toBe('INVALID_VALUE');
  });
});

describe('a stream of events', () => {
  it('ends behind the last event of an agent that is stopped', async () => {
    const id = await call('mutation', 'begin', { type: 'Box' });
    const stream = await openStream(`${s.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      // from the first kept event on, whenever the stream begins
      body: JSON.stringify({ query: `subscription { agentEvent(agentId: "${id}", after: "0.0.0") { name } }` }),
    });
    expect((await stream.value()).data).toEqual({ agentEvent: { name: 'agentEventGap' } });
    await call('mutation', 'say', { id, name: 'event', data: '1' });
    await call('mutation', 'end', { id });
    expect((await stream.value()).data).toEqual({ agentEvent: { name: 'big' } });
    expect((await stream.next())?.event).toBe('complete');
    stream.close();
  });
});

describe('a place to go on from', () => {
  const open = (after: string) =>
    openStream(`${s.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'last-event-id': after },
      body: JSON.stringify({ query: `subscription { agentEvent(agentId: "${box}") { name data } }` }),
    });

  it('that the service has not come to is a gap, as one of another store is, and each is told as what it is', async () => {
    await say('event', '1');
    const gap = (code: string, reason: RegExp, after: string) => ({
      agentEvent: { name: 'agentEventGap', data: { code, reason: expect.stringMatching(reason), after } },
    });
    const elsewhere = await open('0.0.0');
    expect((await elsewhere.value()).data).toEqual(gap('OTHER_STORE', /of another store/, '0.0.0'));
    const [incarnation] = ((await elsewhere.next())?.id ?? '').split('.');
    elsewhere.close();
    const future = `${incarnation}.900000000.0`;
    const ahead = await open(future);
    expect((await ahead.value()).data).toEqual(gap('AHEAD', /this store does not have/, future));
    expect((await ahead.value()).data).toMatchObject({ agentEvent: { name: 'big' } });
    ahead.close();
  });
});

describe('a typed message', () => {
  it.each(['fine', '5', '{"a":1}'])('that onReceiveMessage answers itself, with %s, is told', async (text) => {
    expect(await refusal('mutation', 'weighWall', { id: text })).toEqual({
      code: 'AGENT_FAILED',
      message: 'onReceiveMessage of Wall answered "weigh" itself, with text',
    });
  });
});

describe('a name', () => {
  it('of an agent type that is missing or unknown tells the ones that there are', async () => {
    for (const type of [{}, { type: null }, { type: '' }, { type: 'Nobody' }]) {
      const { errors } = await answer('mutation', 'begin', type);
      expect(errors[0].extensions).toMatchObject({
        code: 'AGENT_TYPE_UNKNOWN',
        fix: expect.stringContaining('Box, Stone'),
      });
    }
  });

  it('of a message that is missing or unknown', async () => {
    for (const operation of ['say', 'mail']) {
      for (const name of [{}, { name: null }, { name: '' }]) {
        expect(await refusal('mutation', operation, { id: box, ...name })).toMatchObject({ code: 'MESSAGE_UNKNOWN' });
      }
    }
    expect(await refused('dance')).toMatchObject({
      code: 'MESSAGE_UNKNOWN',
      message: expect.stringContaining('"dance"'),
    });
  });

  it('of a dead letter: one that is not there, and one that is replayed twice at once', async () => {
    const id = await call('mutation', 'begin', { type: 'Stone' });
    await call('mutation', 'mail', { id, name: 'dance' });
    let letters: unknown = [];
    while ((letters as string[]).length === 0) letters = await call('query', 'letters', { id });
    expect(letters).toEqual(['1']);
    for (const letter of [{}, { letter: null }, { letter: '99' }, { letter: 'x' }]) {
      expect(await refusal('mutation', 'replayLetter', { id, ...letter })).toMatchObject({ code: 'NOT_FOUND' });
    }
    const replay = () => answer('mutation', 'replayLetter', { id, letter: '1' });
    const bodies = await Promise.all(Array.from({ length: 8 }, replay));
    expect(bodies.filter(({ errors }) => errors === undefined)).toHaveLength(1);
    for (const { errors } of bodies) if (errors) expect(errors[0].extensions.code).toBe('NOT_FOUND');
  });
});

describe('a time', () => {
  it('of an alarm that is none, or another part of it that is no text, is refused; the agent keeps what it was', async () => {
    await say('grow', '7');
    for (const at of ['1e300', '9e15', 'Infinity', 'tomorrow']) {
      expect(await refused('alarm', at)).toMatchObject({ code: 'INVALID_VALUE', message: /no valid time/ });
      expect(await say('size')).toBe('7');
    }
    for (const part of ['id', 'name', 'data']) {
      const alarm = JSON.stringify({ at: Date.now() + 1e9, [part]: 5 });
      expect(await refused('alarmOf', alarm)).toMatchObject({
        code: 'INVALID_VALUE',
        message: expect.stringContaining(part),
      });
    }
    expect(await say('size')).toBe('7');
  });

  it('to wait that nobody can wait, and a key that is none, are refused before anything is sent', async () => {
    for (const options of [
      { timeout: -5 },
      { timeout: 0 },
      { timeout: 3e9 },
      { timeout: '5' },
      { idempotencyKey: '' },
    ]) {
      expect((await refused('wait', JSON.stringify(options))).code).toBe('INVALID_VALUE');
    }
  });
});

describe('a size', () => {
  it('of state, events, messages and names above its limit is refused by its name; the agent keeps what it was', async () => {
    await say('grow', '10');
    for (const [name, data] of [
      ['grow', '30000'],
      ['event', '6000'],
      ['eventName', '6000'],
      ['live', '6000'],
      ['size', 'x'.repeat(11_000)],
      ['n'.repeat(11_000), null],
    ] as const) {
      const body = await answer('mutation', 'say', { id: box, name, data });
      expect(body.errors[0].extensions).toMatchObject({
        code: 'LIMIT_EXCEEDED',
        fix: expect.stringMatching(/limits\.(agentStateBytes|eventBytes|messageBytes) is \d+/),
      });
      expect(body.errors[0].message.length).toBeLessThan(300);
    }
    expect(await refusal('mutation', 'mail', { id: box, name: 'size', data: 'x'.repeat(11_000) })).toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    expect(await say('size')).toBe('10');
    expect(await call('query', 'letters', { id: box })).toEqual([]);
  });

  it('and what is no JSON, no text and no error object leaves the agent as it was', async () => {
    await say('grow', '10');
    expect(await refused('bigint')).toMatchObject({
      code: 'AGENT_STATE',
      message: expect.stringContaining('state.more'),
    });
    expect(await refused('circle')).toMatchObject({
      code: 'INVALID_VALUE',
      message: expect.stringContaining('data.self'),
    });
    for (const name of ['number', 'nothing']) {
      expect(await refused(name)).toMatchObject({ code: 'AGENT_FAILED' });
    }
    expect(await refused('self')).toMatchObject({ code: 'AGENT_CIRCLE', message: expect.stringContaining(box) });
    expect(await say('size')).toBe('10');
  });
});
