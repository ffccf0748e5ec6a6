// Whoever knows an agent's id may read its events, unless its class says who may.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder, testFolder } from '../folder.js';
import { DEFAULT_LIMITS } from '../../src/base/index.js';
import { startService, type TestService } from '../service.js';
import { openStream } from '../sse.js';
import { TOKEN_KEY, tokenOf } from '../token.js';

const TYPES = `# Service.Authorization {"Header": "X-Auth", "Namespace": "app", "Algo": "HS256", "VerificationKey": "${TOKEN_KEY}"}
type Member @withSubscription { name: String! @id }`;
const APP = `
import { Agent, agents, type Caller, graph } from 'graphstead/app';
class Teller extends Agent {
  override async onReceiveMessage(name: string): Promise<string> { this.publishEvent('told', { name }); return name; }
}
export class Open extends Teller { static readonly agentName = 'Open'; }
export class Private extends Teller {
  static readonly agentName = 'Private';
  static async mayListen(caller: Caller, agentId: string): Promise<boolean> {
    const { q } = await graph.query<{ q: { uid: string }[] }>(
      'query q($name: string) { q(func: eq(Member.name, $name)) { uid } }', { $name: String(caller.claims?.['USER']) });
    return q.length === 1 && agentId.startsWith('agent_');
  }
}
export class Odd extends Teller {
  static readonly agentName = 'Odd';
  static mayListen(caller: Caller): boolean {
    const user = caller.claims?.['USER'];
    if (user === 'thrower') throw new Error('no idea');
    if (user === 'loop') for (;;);
    if (user === 'writer') return graph.mutate({ set: { uid: '_:a', text: 'x' } }).then(() => true) as never;
    return 'yes' as never;
  }
}
agents.register(Open, Private, Odd);
export async function* countUp(): AsyncIterable<number> {
  yield 1;
  await new Promise(() => {});
}
export async function startAgent(type: string): Promise<string> { return (await agents.start(type)).id; }
export async function say(id: string): Promise<string | null> { return agents.sendMessage(id, 'hello'); }
`;

const folder = sharedFolder();
let s: TestService;
beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'schema.graphql'), TYPES);
  writeFileSync(join(folder, 'functions', 'index.ts'), APP);
  s = await startService({ appDir: folder, limits: { turnThreadMs: 1_000 } });
  await s.graphql('mutation { addMember(input: [{ name: "ann" }]) { numUids } }');
});
afterAll(async () => {
  await s.close();
});

async function start(type: string): Promise<string> {
  const { body } = await s.graphql('mutation ($type: String!) { startAgent(type: $type) }', { type });
  return body.data.startAgent;
}

/** @param exp when it expires, in seconds since 1970 */
const token = (user: string, exp?: number) => tokenOf({ USER: user }, exp);

/** What the first event of the stream says; the agent tells one as soon as the stream is open. */
async function first(id: string, headers: Record<string, string>, method: 'GET' | 'POST' = 'POST') {
  const query = `subscription { agentEvent(agentId: "${id}", after: "0") { name data } }`;
  const url = method === 'GET' ? `${s.url}/graphql?query=${encodeURIComponent(query)}` : `${s.url}/graphql`;
  const stream = await openStream(url, {
    method,
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body: JSON.stringify({ query }) }),
  });
  await s.graphql('mutation ($id: String!) { say(id: $id) }', { id });
  const event = await stream.next();
  stream.close();
  return JSON.parse(event?.data ?? '{}');
}

const TOLD = { data: { agentEvent: { name: 'told', data: { name: 'hello' } } } };
const refusal = (code: string) => ({ errors: [{ extensions: { code } }] });

describe('the events of an agent', () => {
  it('are for whoever knows its id, where its class says nothing', async () => {
    expect(await first(await start('Open'), {})).toMatchObject(TOLD);
  });

  it('are for those whom its class lets, by POST and by GET', async () => {
    const id = await start('Private');
    expect(await first(id, await token('ann'))).toMatchObject(TOLD);
    expect(await first(id, await token('ann'), 'GET')).toMatchObject(TOLD);
  });

  it('are for nobody else', async () => {
    const id = await start('Private');
    expect(await first(id, await token('bob'))).toMatchObject(refusal('FORBIDDEN'));
    expect(await first(id, {})).toMatchObject(refusal('FORBIDDEN'));
    expect(await first(id, {}, 'GET')).toMatchObject(refusal('FORBIDDEN'));
    expect(await first('agent_none', {})).toMatchObject(refusal('AGENT_UNKNOWN'));
  });

  it('end once the token expires, as what functions stream and live queries do', async () => {
    const id = await start('Private');
    await s.graphql('mutation ($id: String!) { say(id: $id) }', { id });
    // by a clock behind this one: as long as it is taken, its streams are open
    const signed = await token('ann', Math.floor((Date.now() - DEFAULT_LIMITS.tokenSkewMs) / 1000) + 8);
    const told = async (field: string) => {
      const body = JSON.stringify({ query: `subscription { ${field} }` });
      const headers = { accept: 'text/event-stream', 'content-type': 'application/json', ...signed };
      const stream = await openStream(`${s.url}/graphql`, { method: 'POST', headers, body });
      const all: unknown[] = [];
      for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
        all.push([event.event, event.data.includes('errors')]);
      }
      return all;
    };
    const fields = [`agentEvent(agentId: "${id}", after: "0") { name }`, 'countUp', 'queryMember { name }'];
    const once = [
      ['next', false],
      ['complete', false],
    ];
    expect(await Promise.all(fields.map(told))).toEqual([once, once, once]);
  });

  it.each([
    ['anything but true', 'anybody', 'FORBIDDEN'],
    ['a throw', 'thrower', 'FUNCTION_FAILED'],
    ['a loop', 'loop', 'FUNCTION_TIMEOUT'],
    ['a change', 'writer', 'METHOD_NOT_ALLOWED'],
  ])('are closed by %s', async (_, user, code) => {
    expect(await first(await start('Odd'), await token(user))).toMatchObject(refusal(code));
  });

  it('tell whoever changes something there that it may not, however it is called', async () => {
    const [{ extensions }] = (await first(await start('Odd'), await token('writer'))).errors;
    expect(extensions.fix).toMatch(/@mutation; the other two change nothing/);
  });
});

it('the events of an agent whose class is gone are for nobody, also where no other class says who listens', async () => {
  const home = testFolder();
  const appDir = join(home, 'app');
  mkdirSync(join(appDir, 'functions'), { recursive: true });
  const started = (text: string) => {
    writeFileSync(join(appDir, 'functions', 'index.ts'), `import { Agent, agents } from 'graphstead/app'; ${text}`);
    return startService({ appDir, data: join(home, 'data') });
  };
  const guarded = await started(`
    class Shut extends Agent { static mayListen() { return false; } }
    agents.register(Shut);
    export async function startAgent(): Promise<string> { return (await agents.start(Shut)).id; }`);
  const id = (await guarded.graphql('mutation { startAgent }')).body.data.startAgent;
  await guarded.close();
  const without = await started('class Open extends Agent {} agents.register(Open);');
  const query = `subscription { agentEvent(agentId: "${id}", after: "0") { name } }`;
  const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
  const stream = await openStream(`${without.url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  expect(JSON.parse((await stream.next())?.data ?? '{}')).toMatchObject(refusal('FORBIDDEN'));
  stream.close();
  await without.close();
});

it.each([
  ['is no method', 'static mayListen = true as never;', /mayListen of agent type A must be a method/],
  ['is not static', 'mayListen() { return false; }', /mayListen of agent type A is never asked .* not static/],
  ['is misspelled', 'static maylisten() { return false; }', /mayListen of agent type A is never asked .* as maylisten/],
])('a guard that %s is refused when the app loads', async (_, member, told) => {
  const other = testFolder();
  mkdirSync(join(other, 'functions'));
  const text = `import { Agent, agents } from 'graphstead/app'; class A extends Agent { ${member} } agents.register(A);`;
  writeFileSync(join(other, 'functions', 'index.ts'), text);
  await expect(startService({ appDir: other })).rejects.toThrow(told);
});
