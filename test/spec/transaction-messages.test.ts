// What a function says to agents inside graph.transaction lands with what it writes, once, or not at all.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const FUNCTIONS = `
import { Agent, agents, caller, graph, type Int } from 'graphstead/app';

class Packer extends Agent<{ packed: string[] }> {
  static readonly agentName = 'Packer';
  static readonly readOnly = ['packed'];
  override state = { packed: [] as string[] };
  override async onReceiveMessage(name: string, data?: string): Promise<string> {
    if (name === 'pack') this.state.packed.push(data ?? '');
    return this.state.packed.join();
  }
}
agents.register(Packer);
export async function makePacker(): Promise<string> { return (await agents.start(Packer)).id; }
export async function getPacked(id: string): Promise<string> { return (await agents.sendMessage(id, 'packed')) ?? ''; }
export async function getWaiting(id: string): Promise<Int> { return (await agents.info(id)).waiting as Int; }

async function save(packer: string, what: string, fails = false): Promise<string> {
  return graph.transaction(async (txn) => {
    const { uids } = await txn.mutate({ set: { uid: '_:it', 'service.type': 'Order', 'Order.what': what } });
    await agents.sendMessageAsync(packer, 'pack', what);
    if (fails) throw new Error('no stock');
    return uids['it'] ?? '';
  });
}
export async function order(packer: string, what: string, fails?: boolean): Promise<string> { return save(packer, what, fails); }
export async function orderTwo(packer: string, what: string, fails?: boolean): Promise<string[]> {
  const one = await save(packer, what + ' one');
  if (fails === true) throw new Error('the line broke');
  return [one, await save(packer, what + ' two')];
}
export async function orderNow(packer: string, what: string): Promise<string | null> {
  return graph.transaction(async (txn) => {
    await txn.mutate({ set: { 'service.type': 'Order', 'Order.what': what } });
    return agents.sendMessage(packer, 'pack', what);
  });
}

let left = 'nothing';
export async function orderSlowly(packer: string): Promise<void> {
  await save(packer, 'before');
  left = 'waits';
  try {
    await graph.transaction(async (txn) => {
      await txn.mutate({ set: { 'service.type': 'Order', 'Order.what': 'lost' } });
      await agents.sendMessageAsync(packer, 'pack', 'lost');
      await new Promise((gone) => caller.signal.addEventListener('abort', gone));
    });
  } catch (error) {
    left = (error as { code: string }).code;
  }
}
export async function getLeft(): Promise<string> { return left; }
`;

const folder = sharedFolder();
let s: TestService;
beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'schema.graphql'), 'type Order { id: ID! what: String }');
  writeFileSync(join(folder, 'functions', 'index.ts'), FUNCTIONS);
  s = await startService({ appDir: folder });
});
afterAll(async () => {
  await s.close();
});

async function ask(text: string, headers = {}): Promise<Record<string, unknown>> {
  const { data, errors } = (await s.graphql(text, {}, headers)).body;
  expect(errors).toBeUndefined();
  return data;
}
const packer = async () => String((await ask('mutation { makePacker }'))['makePacker']);
async function packed(id: string): Promise<unknown> {
  while ((await ask(`{ getWaiting(id: "${id}") }`))['getWaiting'] !== 0);
  return (await ask(`{ getPacked(id: "${id}") }`))['getPacked'];
}
async function orders(what: string): Promise<number> {
  const { queryOrder } = await ask('{ queryOrder { what } }');
  return (queryOrder as { what: string }[]).filter((one) => one.what.startsWith(what)).length;
}

describe('messages inside graph.transaction', () => {
  it('land with it, or not at all', async () => {
    const id = await packer();
    await ask(`mutation { order(packer: "${id}", what: "tea") }`);
    const failed = await s.graphql(`mutation { order(packer: "${id}", what: "milk", fails: true) }`);
    expect(failed.body.errors[0]).toMatchObject({ message: 'no stock' });
    expect([await packed(id), await orders('tea'), await orders('milk')]).toEqual(['tea', 1, 0]);
  });

  it('cannot be waited for, and the error says what to do', async () => {
    const id = await packer();
    const refused = await s.graphql(`mutation { orderNow(packer: "${id}", what: "now") }`);
    expect(refused.body.errors[0]).toMatchObject({
      message: 'message "pack" to Packer, with its reply, in a graph.transaction, which may run again or not land',
      extensions: { code: 'INVALID_REQUEST', fix: expect.stringContaining('sendMessageAsync') },
    });
    expect([await packed(id), await orders('now')]).toEqual(['', 0]);
  });

  it('and transactions happen once where the request is repeated under its Idempotency-Key', async () => {
    const id = await packer();
    const twice = (fails: boolean) => `mutation { orderTwo(packer: "${id}", what: "pie", fails: ${fails}) }`;
    const headers = { 'Idempotency-Key': 'pies' };
    const first = await ask(twice(false), headers);
    expect(await ask(twice(false), headers)).toEqual(first);
    expect([await packed(id), await orders('pie')]).toEqual(['pie one,pie two', 2]);
    const other = await s.graphql(twice(true), {}, headers);
    expect(other.body.errors[0].extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    expect(await orders('pie')).toBe(2);
  });

  it('are not left behind by a client that goes away in between', async () => {
    const id = await packer();
    const client = new AbortController();
    const body = JSON.stringify({ query: `mutation { orderSlowly(packer: "${id}") }` });
    const headers = { 'content-type': 'application/json' };
    const slow = fetch(`${s.url}/graphql`, { method: 'POST', body, headers, signal: client.signal });
    const left = async (what: string) => (await ask('{ getLeft }'))['getLeft'] === what;
    while (!(await left('waits')));
    client.abort();
    await expect(slow).rejects.toThrow();
    while (!(await left('INVALID_REQUEST')));
    expect([await packed(id), await orders('before'), await orders('lost')]).toEqual(['before', 1, 0]);
  });
});
