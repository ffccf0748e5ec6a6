// What an agent's state was: stored with the commit that changed it, read by the app's own functions.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';

const APP = `
import { Agent, agents, type HistoryPage, type Int, type PastState } from 'graphstead/app';
export class Basket extends Agent<{ items: string[] }> {
  static readonly agentName = 'Basket';
  static readonly handlers = ['put', 'look'] as const;
  static readonly history = 3;
  override state = { items: [] as string[] };
  put(item: string): number {
    this.publishEvent('put', { item });
    return this.state.items.push(item);
  }
  look(): readonly string[] { return this.state.items; }
}
agents.register(Basket);
export async function startBasket(): Promise<string> { return (await agents.start(Basket)).id; }
export async function putIn(id: string, item: string): Promise<number> { return agents.ref(Basket, id).put(item); }
export async function stopBasket(id: string): Promise<boolean> { await agents.stop(id); return true; }
export async function getHistory(id: string, before?: Int): Promise<readonly PastState[]> {
  return agents.history(id, before === undefined ? {} : { before });
}
export async function findLatest(id: string, page: HistoryPage): Promise<string> {
  return (await agents.history(id, page)).map(({ name }) => name).join();
}
`;
const HISTORY =
  'query($id: String!, $before: Int) { getHistory(id: $id, before: $before) { turn at kind name version state } }';

const folder = sharedFolder();
let s: TestService;
const open = () => startService({ appDir: join(folder, 'app'), data: join(folder, 'data'), explorer: true });
beforeAll(async () => {
  mkdirSync(join(folder, 'app', 'functions'), { recursive: true });
  writeFileSync(join(folder, 'app', 'functions', 'index.ts'), APP);
  s = await open();
});
afterAll(async () => {
  await s?.close();
});

it('is read over GraphQL and by the explorer, after a restart too, and ends with the agent', async () => {
  const { startBasket: id } = (await s.graphql('mutation { startBasket }')).body.data;
  for (const item of ['tea', 'milk', 'bread']) {
    const put = await s.graphql('mutation($id: String!, $item: String!) { putIn(id: $id, item: $item) }', { id, item });
    expect(put.body.errors).toBeUndefined();
  }
  const told = (await s.graphql(HISTORY, { id })).body.data.getHistory;
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  const one = { at, kind: 'message', name: 'put', version: 1 };
  expect(told).toEqual([
    { ...one, turn: 4, state: '{"items":["tea","milk","bread"]}' },
    { ...one, turn: 3, state: '{"items":["tea","milk"]}' },
    { ...one, turn: 2, state: '{"items":["tea"]}' },
  ]);
  await s.close();
  s = await open();
  expect((await s.graphql(HISTORY, { id })).body.data.getHistory).toEqual(told);
  expect((await s.graphql(HISTORY, { id, before: 3 })).body.data.getHistory).toEqual(told.slice(2));
  const page = `{ findLatest(id: "${id}", page: { limit: 1 }) }`;
  expect((await s.graphql(page)).body.data).toEqual({ findLatest: 'put' });
  expect((await s.get(`/explorer/api/agents/${id}/history`)).body).toEqual(told);
  expect((await s.get(`/explorer/api/agents/${id}/history?before=3`)).body).toEqual(told.slice(2));
  const refused = await s.get(`/explorer/api/agents/${id}/history?before=x`);
  expect([refused.status, refused.body.errors?.[0]?.extensions?.code]).toEqual([400, 'INVALID_VALUE']);
  await s.graphql('mutation($id: String!) { stopBasket(id: $id) }', { id });
  expect((await s.graphql(HISTORY, { id })).body.data.getHistory).toEqual([]);
  const unknown = await s.graphql(HISTORY, { id: 'agent_none' });
  expect(unknown.body.errors[0].extensions.code).toBe('AGENT_UNKNOWN');
});
