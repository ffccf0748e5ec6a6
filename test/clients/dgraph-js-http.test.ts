// The published HTTP client of the peer, unchanged.
import { createRequire } from 'node:module';
import type * as DgraphHttp from 'dgraph-js-http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

const dgraph = createRequire(import.meta.url)('dgraph-js-http') as typeof DgraphHttp;
let s: TestService;
let client: DgraphHttp.DgraphClient;

beforeAll(async () => {
  s = await startService({ compat: 'dgraph' });
  client = new dgraph.DgraphClient(new dgraph.DgraphClientStub(s.url));
});
afterAll(() => s.close());
beforeEach(async () => {
  await client.alter({ dropAll: true });
  await client.alter({ schema: 'name: string @index(exact) .\nemail: string @index(exact) @upsert .' });
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const names = async (): Promise<any> =>
  (await client.newTxn({ readOnly: true }).query('{ q(func: has(name), orderasc: name) { name } }')).data;

describe('dgraph-js-http', () => {
  it('sets JSON in a transaction and commits it', async () => {
    const transaction = client.newTxn();
    const assigned = await transaction.mutate({ setJson: { uid: '_:a', name: 'Alice' } });
    expect(Object.keys(assigned.data.uids)).toEqual(['a']);
    expect(await names()).toEqual({ q: [] });
    await transaction.commit();
    expect(await names()).toEqual({ q: [{ name: 'Alice' }] });
  });

  it('sets and deletes N-Quads at once', async () => {
    const assigned = await client.newTxn().mutate({ setNquads: '_:a <name> "Alice" .', commitNow: true });
    await client.newTxn().mutate({ deleteNquads: `<${assigned.data.uids['a']}> <name> * .`, commitNow: true });
    expect(await names()).toEqual({ q: [] });
  });

  it('takes variables', async () => {
    await client.newTxn().mutate({ setJson: [{ name: 'Alice' }, { name: 'Bob' }], commitNow: true });
    const found = await client
      .newTxn()
      .queryWithVars('query all($a: string) { all(func: eq(name, $a)) { name } }', { $a: 'Bob' });
    expect(found.data).toEqual({ all: [{ name: 'Bob' }] });
  });

  it('of two transactions on one upsert key the second is aborted', async () => {
    const [one, two] = [client.newTxn(), client.newTxn()];
    await one.mutate({ setJson: { email: 'a@x', name: 'One' } });
    await two.mutate({ setJson: { email: 'a@x', name: 'Two' } });
    await one.commit();
    await expect(two.commit()).rejects.toThrow(/aborted/);
    expect(await names()).toEqual({ q: [{ name: 'One' }] });
  });

  it('a discarded transaction leaves nothing; best-effort reads work', async () => {
    const transaction = client.newTxn();
    await transaction.mutate({ setJson: { name: 'Draft' } });
    await transaction.discard();
    const best = await client.newTxn({ readOnly: true, bestEffort: true }).query('{ q(func: has(name)) { name } }');
    expect(best.data).toEqual({ q: [] });
  });

  it('is told the health of all servers and the state of the cluster', async () => {
    const stub = new dgraph.DgraphClientStub(s.url);
    const address = new URL(s.url).host;
    const own = { instance: 'alpha', address, status: 'healthy', group: '1', lastEcho: expect.any(Number) };
    expect(await stub.getHealth()).toMatchObject([own]);
    expect(await stub.getHealth(true)).toMatchObject([{ ...own, instance: 'zero', group: '0' }, own]);
    const state = await stub.getState();
    expect(state).toMatchObject({
      counter: expect.stringMatching(/^\d+$/),
      groups: { 1: { members: { 1: { id: '1', addr: address, leader: true } } } },
    });
    expect(state).toHaveProperty(['groups', '1', 'tablets', 'dgraph.type', 'predicate'], 'dgraph.type');
    expect(state).toHaveProperty('groups.1.tablets.email.groupId', 1);
  });

  it('a mistake is thrown with its reason', async () => {
    await expect(client.newTxn().query('{ q(func: eq(name, "x") { name } }')).rejects.toThrow();
  });

  it('a mistake speaks of dgraph.type', async () => {
    const sorted = client.newTxn().query('{ q(func: has(name), orderasc: dgraph.type) { name } }');
    await expect(sorted).rejects.toThrow(/(?<!\w)dgraph\.type holds lists/);
  });
});
