// Any page can make a browser ask by GET: what functions do then is held to reading.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';

const FUNCTIONS = `
import { Agent, agents, graph } from 'graphstead/app';
const SET = { set: { uid: '_:a', text: 'planted' } };
const ADD = 'mutation { addNote(input: [{ text: "planted" }]) { numUids } }';
class Keeper extends Agent<{ told: number }> {
  static readonly agentName = 'Keeper';
  static readonly readOnly = ['count', 'deep'];
  override state = { told: 0 };
  override async onReceiveMessage(name: string): Promise<string> {
    if (name === 'count') return String(this.state.told);
    if (name === 'deep') return JSON.stringify(await graph.graphql('{ getWritten }'));
    return String(++this.state.told);
  }
}
agents.register(Keeper);
export async function makeKeeper(): Promise<string> { return (await agents.start('Keeper')).id; }
export async function getWritten(): Promise<string> { return JSON.stringify(await graph.mutate(SET)); }
export async function getWrittenTogether(): Promise<string> {
  return graph.transaction(async (txn) => JSON.stringify(await txn.mutate(SET)));
}
export async function getAdded(): Promise<string> { return JSON.stringify(await graph.graphql(ADD)); }
export async function getNested(): Promise<string> { return JSON.stringify(await graph.graphql('{ getWritten }')); }
export async function getStarted(): Promise<string> { return (await agents.start('Keeper')).id; }
export async function getStopped(id: string): Promise<void> { await agents.stop(id); }
export async function getTold(id: string): Promise<string | null> { return agents.sendMessage(id, 'tell'); }
export async function getLeft(id: string): Promise<void> { await agents.sendMessageAsync(id, 'tell'); }
export async function getDeep(id: string): Promise<string | null> { return agents.sendMessage(id, 'deep'); }
export async function getReplayed(id: string): Promise<void> { await agents.replay(id, '1'); }
export async function* watchWritten(): AsyncIterable<string> { yield JSON.stringify(await graph.mutate(SET)); }
export async function getCount(id: string): Promise<string | null> { return agents.sendMessage(id, 'count'); }
export async function getStatusOf(id: string): Promise<string> { return (await agents.info(id)).status; }
export async function getNotes(): Promise<string> {
  const { queryNote } = await graph.graphql('{ queryNote { text } }');
  return graph.transaction(async (txn) => JSON.stringify([queryNote, await txn.query('{ q(func: has(text)) { text } }')]));
}
export async function* watchCount(id: string): AsyncIterable<string | null> { yield agents.sendMessage(id, 'count'); }
`;

const folder = sharedFolder();
let s: TestService;
let id: string;
/** whom POST tells something, also a while later */
let other: string;
beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'schema.graphql'), 'type Note { id: ID! text: String }');
  writeFileSync(join(folder, 'functions', 'index.ts'), FUNCTIONS);
  s = await startService({ appDir: folder });
  const make = async (): Promise<string> => (await s.graphql('mutation { makeKeeper }')).body.data.makeKeeper;
  [id, other] = [await make(), await make()];
});
afterAll(async () => {
  await s.close();
});

const NESTED = 'graph.mutate in a function that may only read';
const called = (field: string, of = id) => field.replace('ID', `(id: "${of}")`);
const byGet = (text: string, accept = 'application/json') =>
  s.get(`/graphql?query=${encodeURIComponent(text)}`, { accept });
const read = async () => (await byGet(`{ ${called('getCountID')} ${called('getStatusOfID')} getNotes }`)).body.data;

describe('a function that is called by GET', () => {
  it.each([
    ['getWritten', 'graph.mutate'],
    ['getWrittenTogether', 'graph.mutate'],
    ['getAdded', 'a mutation by graph.graphql'],
    ['getStarted', 'agents.start'],
    ['getStoppedID', 'agents.stop'],
    ['getToldID', 'message "tell" to Keeper'],
    ['getLeftID', 'agents.sendMessageAsync'],
    ['getReplayedID', 'agents.replay'],
  ])('%s is refused, and changes nothing', async (field, what) => {
    const before = await read();
    const { body } = await byGet(`{ ${called(field)} }`);
    expect(body.errors[0].message).toContain(what);
    const extensions = { code: 'METHOD_NOT_ALLOWED', fix: expect.stringContaining('POST') };
    expect(body.errors[0].extensions).toMatchObject(extensions);
    expect(await read()).toEqual(before);
  });

  it.each(['getNested', 'getDeepID'])('%s is refused where another function does it', async (field) => {
    const before = await read();
    const { body } = await byGet(`{ ${called(field)} }`);
    expect(body.errors[0].message).toContain(NESTED);
    expect(await read()).toEqual(before);
  });

  it('changes nothing as a stream either', async () => {
    const before = await read();
    const { body } = await byGet('subscription { watchWritten }', 'text/event-stream');
    expect(body).toContain('METHOD_NOT_ALLOWED');
    expect(await read()).toEqual(before);
  });

  it('reads what there is', async () => {
    const { getCount, getStatusOf, getNotes } = await read();
    expect([getStatusOf, JSON.parse(getNotes)]).toEqual(['running', [expect.any(Array), { q: expect.any(Array) }]]);
    const streamed = await byGet(`subscription { ${called('watchCountID')} }`, 'text/event-stream');
    expect(streamed.body).toContain(`{"data":{"watchCount":"${getCount}"}`);
  });
});

describe('the same by POST', () => {
  it.each(['getWritten', 'getWrittenTogether', 'getAdded', 'getNested', 'getStarted', 'getToldID', 'getLeftID'])(
    '%s does what it does',
    async (field) => {
      const { body } = await s.graphql(`{ ${called(field, other)} }`);
      expect(body.errors).toBeUndefined();
    },
  );

  it('but not below a read-only handler', async () => {
    const { body } = await s.graphql(`{ ${called('getDeepID', other)} }`);
    expect(body.errors[0].message).toContain(NESTED);
  });
});

it('clients of the peer send what they like by GET', async () => {
  const peer = await startService({ appDir: folder, compat: 'dgraph' });
  const { body } = await peer.get(`/graphql?query=${encodeURIComponent('{ getWritten }')}`);
  expect(body.errors).toBeUndefined();
  await peer.close();
});
