// The published gRPC client of the peer, unchanged: transactions, upserts, retries, best-effort reads.
import { createRequire } from 'node:module';
import type * as Dgraph from 'dgraph-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

const dgraph = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;
let s: TestService;
let stub: Dgraph.DgraphClientStub;
let client: Dgraph.DgraphClient;

beforeAll(async () => {
  s = await startService({ compat: 'dgraph', grpcPort: 0 });
  stub = new dgraph.DgraphClientStub(`127.0.0.1:${s.service.grpcPort}`);
  client = new dgraph.DgraphClient(stub);
});
afterAll(async () => {
  stub?.close();
  await s?.close();
});
beforeEach(async () => {
  const drop = new dgraph.Operation();
  drop.setDropAll(true);
  await client.alter(drop);
  const schema = new dgraph.Operation();
  schema.setSchema(
    'name: string @index(exact) .\nemail: string @index(exact) @upsert .\nage: int .\nfriend: [uid] @reverse .',
  );
  await client.alter(schema);
});

async function set(transaction: Dgraph.Txn, json: unknown, commitNow = false): Promise<Dgraph.Response> {
  const mutation = new dgraph.Mutation();
  mutation.setSetJson(json as object);
  mutation.setCommitNow(commitNow);
  return transaction.mutate(mutation);
}

const people = async () =>
  (
    await client.newTxn({ readOnly: true }).query('{ q(func: has(name), orderasc: name) { name age friend { name } } }')
  ).getJson();

describe('dgraph-js', () => {
  it('sets JSON, reads it back, and tells the uids', async () => {
    const transaction = client.newTxn();
    const response = await set(transaction, {
      uid: '_:alice',
      name: 'Alice',
      age: 26,
      friend: [{ name: 'Bob', age: 24 }],
    });
    expect(response.getUidsMap().get('alice')).toMatch(/^0x/);
    await transaction.commit();
    expect(await people()).toEqual({
      q: [
        { name: 'Alice', age: 26, friend: [{ name: 'Bob' }] },
        { name: 'Bob', age: 24 },
      ],
    });
  });

  it('takes variables, and RDF to set and to delete', async () => {
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:a <name> "Alice" .\n_:a <age> "26" .');
    mutation.setCommitNow(true);
    const uid = (await client.newTxn().mutate(mutation)).getUidsMap().get('a');
    const found = await client
      .newTxn()
      .queryWithVars('query all($a: string) { all(func: eq(name, $a)) { uid age } }', { $a: 'Alice' });
    expect(found.getJson()).toEqual({ all: [{ uid, age: 26 }] });
    const remove = new dgraph.Mutation();
    remove.setDelNquads(`<${uid}> <age> * .`);
    remove.setCommitNow(true);
    await client.newTxn().mutate(remove);
    expect(await people()).toEqual({ q: [{ name: 'Alice' }] });
  });

  it('of two transactions on one upsert key the second commit is aborted, and a retry succeeds', async () => {
    const [one, two] = [client.newTxn(), client.newTxn()];
    await set(one, { email: 'a@x', name: 'One' });
    await set(two, { email: 'a@x', name: 'Two' });
    await one.commit();
    await expect(two.commit()).rejects.toThrow(dgraph.ERR_ABORTED.message);
    const again = client.newTxn();
    await set(again, { email: 'b@x', name: 'Two' });
    await again.commit();
    expect(await people()).toMatchObject({ q: [{ name: 'One' }, { name: 'Two' }] });
  });

  it('runs conditional upserts in one request', async () => {
    const upsert = async (name: string) => {
      const mutation = new dgraph.Mutation();
      mutation.setSetNquads(`uid(u) <email> "a@x" .\nuid(u) <name> "${name}" .`);
      mutation.setCond('@if(eq(len(u), 0))');
      const request = new dgraph.Request();
      request.setQuery('query { q(func: eq(email, "a@x")) { u as uid } }');
      request.setMutationsList([mutation]);
      request.setCommitNow(true);
      await client.newTxn().doRequest(request);
    };
    await upsert('First');
    await upsert('Second');
    expect(await people()).toEqual({ q: [{ name: 'First' }] });
  });

  it('sees its own writes before the commit; a discarded transaction leaves nothing', async () => {
    const transaction = client.newTxn();
    await set(transaction, { name: 'Draft' });
    expect((await transaction.query('{ q(func: eq(name, "Draft")) { name } }')).getJson()).toEqual({
      q: [{ name: 'Draft' }],
    });
    expect(await people()).toEqual({ q: [] });
    await transaction.discard();
    expect(await people()).toEqual({ q: [] });
  });

  it('reads best-effort, drops attributes, and is told the version', async () => {
    await set(client.newTxn(), { name: 'Kept', age: 3 }, true);
    const best = await client.newTxn({ readOnly: true, bestEffort: true }).query('{ q(func: has(name)) { name } }');
    expect(best.getJson()).toEqual({ q: [{ name: 'Kept' }] });
    const drop = new dgraph.Operation();
    drop.setDropAttr('age');
    await client.alter(drop);
    expect(await people()).toEqual({ q: [{ name: 'Kept' }] });
    const version = await stub.checkVersion(new dgraph.Check());
    expect(version.getTag().length).toBeGreaterThan(0);
  });

  it('a mistake arrives with its reason', async () => {
    await expect(client.newTxn().query('{ q(func: eq(nme, "x")) { name ')).rejects.toThrow();
  });

  it('a mistake speaks of dgraph.type', async () => {
    const sorted = client.newTxn().query('{ q(func: has(name), orderasc: dgraph.type) { name } }');
    await expect(sorted).rejects.toThrow(/(?<!\w)dgraph\.type holds lists/);
  });
});
