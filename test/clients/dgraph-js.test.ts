// The published gRPC client of the peer, unchanged: transactions, upserts, retries, best-effort reads.
import { createRequire } from 'node:module';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { GraphsteadError } from '../../src/base/index.js';
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

function upsertOf(query: string, ...mutations: Dgraph.Mutation[]): Dgraph.Request {
  const request = new dgraph.Request();
  request.setQuery(query);
  request.setMutationsList(mutations);
  request.setCommitNow(true);
  return request;
}

type SetValue = readonly [set: 'setStrVal' | 'setDefaultVal' | 'setIntVal', value: string | number];

function statement(subject: string, predicate: string, object: string, value?: SetValue): Dgraph.NQuad {
  const nquad = new dgraph.NQuad();
  nquad.setSubject(subject);
  nquad.setPredicate(predicate);
  nquad.setObjectId(object);
  if (value === undefined) return nquad;
  const [set, given] = value;
  const holder = new dgraph.Value();
  holder[set](given as never);
  nquad.setObjectValue(holder);
  return nquad;
}

async function made(name: string): Promise<{ uid: string }> {
  const response = await set(client.newTxn(), { uid: '_:made', name }, true);
  return { uid: response.getUidsMap().get('made') as string };
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

  it('is told to try again where a transaction was forgotten to make room', async () => {
    const small = await startService({ compat: 'dgraph', grpcPort: 0, limits: { transactions: 1 } });
    const own = new dgraph.DgraphClientStub(`127.0.0.1:${small.service.grpcPort}`);
    const [one, two] = [0, 1].map(() => new dgraph.DgraphClient(own).newTxn());
    for (const transaction of [one, two]) await transaction.query('{ q(func: uid(1)) { uid } }');
    await expect(set(one, { name: 'Ada' })).rejects.toBe(dgraph.ERR_ABORTED);
    await set(two, { name: 'Ada' }, true);
    own.close();
    await small.close();
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

  it('gives the query of an upsert its variables', async () => {
    await set(client.newTxn(), { name: 'Alice', age: 26 }, true);
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('uid(u) <age> "27" .');
    const request = upsertOf('query find($n: string) { u as q(func: eq(name, $n)) { name } }', mutation);
    request.getVarsMap().set('$n', 'Alice');
    expect((await client.newTxn().doRequest(request)).getJson()).toEqual({ q: [{ name: 'Alice' }] });
    expect(await people()).toEqual({ q: [{ name: 'Alice', age: 27 }] });
  });

  it('takes N-Quads, JSON and NQuad messages in one request', async () => {
    const { uid } = await made('Alice');
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:b <name> "Bob" .');
    mutation.setSetJson({ uid: '_:c', name: 'Carl' });
    mutation.addSet(statement(uid, 'friend', '_:b'));
    mutation.addSet(statement(uid, 'age', '', ['setIntVal', 26]));
    mutation.addSet(statement('_:d', 'name', '', ['setStrVal', 'Dora "D"\nDoe']));
    const other = new dgraph.Mutation();
    other.setSetJson({ uid: '_:d', age: 4 });
    await client.newTxn().doRequest(upsertOf('', mutation, other));
    const remove = new dgraph.Mutation();
    remove.addDel(statement(uid, 'name', '', ['setDefaultVal', '_STAR_ALL']));
    await client.newTxn().doRequest(upsertOf('', remove));
    expect(await people()).toEqual({
      q: [{ name: 'Bob' }, { name: 'Carl' }, { name: 'Dora "D"\nDoe', age: 4 }],
    });
    const alice = await client.newTxn().query(`{ q(func: uid(${uid})) { name age friend { name } } }`);
    expect(alice.getJson()).toEqual({ q: [{ age: 26, friend: [{ name: 'Bob' }] }] });
  });

  it('refuses an NQuad message that it cannot keep whole', async () => {
    const refused = async (make: (one: Dgraph.NQuad) => void, reason: RegExp) => {
      const one = statement('_:a', 'name', '', ['setStrVal', 'A']);
      make(one);
      const mutation = new dgraph.Mutation();
      mutation.addSet(one);
      await expect(client.newTxn().doRequest(upsertOf('', mutation))).rejects.toThrow(reason);
    };
    const facet = new dgraph.Facet();
    facet.setKey('since');
    await refused((one) => one.addFacets(facet), /facets are not taken .*set_nquads/);
    await refused((one) => one.getObjectValue()?.setGeoVal(Buffer.from([1])), /other than text, numbers/);
    await refused((one) => one.getObjectValue()?.setIntVal(2 ** 60), /beyond 2\^53/);
    await refused((one) => one.setPredicate('name> "B" . _:b <name'), /">" cannot stand/);
    expect(await people()).toEqual({ q: [] });
  });

  it('refuses what HTTP refuses: bytes that are no text, a change that only reads, a drop of nothing', async () => {
    const broken = new dgraph.Mutation();
    broken.setSetNquads(Buffer.from([...Buffer.from('_:a <name> "'), 0xff, ...Buffer.from('" .')]));
    await expect(client.newTxn().doRequest(upsertOf('', broken))).rejects.toThrow(/set_nquads is not valid UTF-8/);
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:a <name> "A" .');
    const reading = upsertOf('', mutation);
    reading.setReadOnly(true);
    await expect(client.newTxn().doRequest(reading)).rejects.toThrow(/only reads/);
    expect(await people()).toEqual({ q: [] });
    for (const kind of [dgraph.Operation.DropOp.ATTR, dgraph.Operation.DropOp.TYPE]) {
      const drop = new dgraph.Operation();
      drop.setDropOp(kind);
      await expect(client.alter(drop)).rejects.toThrow(/DropValue must not be empty/);
    }
    for (const kind of [dgraph.Operation.DropOp.ALL, dgraph.Operation.DropOp.DATA]) {
      const drop = new dgraph.Operation();
      drop.setDropOp(kind);
      drop.setDropValue('name');
      await expect(client.alter(drop)).rejects.toThrow(/DropValue must be empty/);
    }
    const both = new dgraph.Operation();
    both.setDropAll(true);
    both.setDropAttr('name');
    await expect(client.alter(both)).rejects.toThrow(/asks for drop_all and drop_attr/);
  });

  it('says where a mistake stands, in which part', async () => {
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:a <name> "A" .\n_:a <age> "x"^^<xs:int> .');
    await expect(client.newTxn().doRequest(upsertOf('', mutation))).rejects.toThrow(/set_nquads line 2 column 11: "x"/);
    await expect(client.newTxn().query('{\n q(func: eqq(name, "x")) { name } }')).rejects.toThrow(
      / line 2 column \d+: /,
    );
  });

  it('tells how many uids it touched, and how long it took', async () => {
    await set(client.newTxn(), { name: 'A', friend: [{ name: 'B' }] }, true);
    const response = await client.newTxn().query('{ q(func: eq(name, "A")) { friend { name } } }');
    expect(response.getMetrics()?.getNumUidsMap().get('friend')).toBe(1);
    expect(response.getLatency()?.getAssignTimestampNs()).toBeGreaterThan(0);
  });

  it('reads no part of a request as another', async () => {
    const { uid } = await made('Kept');
    for (const text of [`_:a <name> "A" .\n} delete { <${uid}> <name> * .`, `_:a <name> "A" .\n} }`]) {
      const mutation = new dgraph.Mutation();
      mutation.setSetNquads(text);
      await expect(client.newTxn().doRequest(upsertOf('', mutation))).rejects.toThrow(/a subject, found "}/);
    }
    expect(await people()).toEqual({ q: [{ name: 'Kept' }] });
  });

  it('runs a text of any kind in one call, and leases uids, as newer clients ask', async () => {
    const raw = new grpc.Client(`127.0.0.1:${s.service.grpcPort}`, grpc.credentials.createInsecure());
    const same = (bytes: Buffer) => bytes;
    const call = (method: string, ...fields: Buffer[]) =>
      new Promise<Buffer>((resolve, reject) => {
        const message = Buffer.concat(fields);
        const path = `/api.Dgraph/${method}`;
        raw.makeUnaryRequest(path, same, same, message, (error, answer) => (error ? reject(error) : resolve(answer!)));
      });
    const text = (field: number, value: string | Buffer) => {
      const bytes = Buffer.from(value as string);
      expect(bytes.length).toBeLessThan(128);
      return Buffer.concat([Buffer.from([field * 8 + 2, bytes.length]), bytes]);
    };
    const number = (field: number, ...varint: number[]) => Buffer.from([field * 8, ...varint]);
    const run = async (...fields: Buffer[]) =>
      dgraph.Response.deserializeBinary(await call('RunDQL', ...fields)) as Dgraph.Response;
    const jsonOf = (response: Dgraph.Response) => JSON.parse(Buffer.from(response.getJson_asU8()).toString());
    const READ_ONLY = number(3, 1);
    try {
      const set = await run(text(1, '# two\n{ set {\n_:a <name> "A" .\n_:a <age> "3" .\n} }'));
      expect(set.getUidsMap().get('a')).toMatch(/^0x/);
      const change = 'upsert { query { u as var(func: eq(name, "A")) } mutation { set { uid(u) <age> "4" . } } }';
      await run(text(1, change));
      const variables = text(2, Buffer.concat([text(1, '$n'), text(2, 'A')]));
      const read = 'query q($n: string) { set(func: eq(name, $n)) { age } }';
      expect(jsonOf(await run(text(1, read), variables, READ_ONLY))).toEqual({ set: [{ age: 4 }] });
      expect(jsonOf(await run(text(1, '{ set(func: eq(name, "A")) { age } }')))).toEqual({ set: [{ age: 4 }] });
      const rdf = await run(text(1, '{ q(func: eq(name, "A")) { name } }'), number(5, 1));
      expect(Buffer.from(rdf.getRdf_asU8()).toString()).toMatch(/ <name> "A" \.\n$/);
      await expect(run(text(1, change), READ_ONLY)).rejects.toThrow(/only reads/);
      await expect(run(text(1, '{ q(func: nothing(name)) { uid } }'))).rejects.toThrow(/no function nothing/);

      const leased = dgraph.TxnContext.deserializeBinary(await call('AllocateIDs', number(1, 0xac, 2), number(2, 1)));
      expect(leased.getCommitTs() - leased.getStartTs()).toBe(299);
      await expect(call('AllocateIDs', number(1, 5), number(2, 2))).rejects.toThrow(/timestamps are not leased/);
      await expect(call('AllocateIDs', number(2, 1))).rejects.toThrow(/0 uids/);
      await expect(call('ListNamespaces')).rejects.toThrow(/UNIMPLEMENTED: .*ListNamespaces/);
    } finally {
      raw.close();
    }
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

  it.each([
    ['OVERLOADED', grpc.status.UNAVAILABLE],
    ['INDEX_BUILDING', grpc.status.UNAVAILABLE],
    ['STORE_FENCED', grpc.status.UNAVAILABLE],
    ['STORE_CORRUPT', grpc.status.DATA_LOSS],
    ['OUTCOME_UNKNOWN', grpc.status.UNKNOWN],
  ] as const)('%s is no mistake of the request', async (code, status) => {
    const failing = vi
      .spyOn(s.service.core.dql, 'query')
      .mockRejectedValue(new GraphsteadError(code, 'said so', { fix: 'do something else' }));
    const told = await people().catch((error: grpc.ServiceError) => error);
    failing.mockRestore();
    expect(told).toMatchObject({ code: status, details: 'said so (do something else)' });
  });

  it('a mistake arrives with its reason', async () => {
    await expect(client.newTxn().query('{ q(func: eq(nme, "x")) { name ')).rejects.toThrow();
  });

  it('a mistake speaks of dgraph.type', async () => {
    const sorted = client.newTxn().query('{ q(func: has(name), orderasc: dgraph.type) { name } }');
    await expect(sorted).rejects.toThrow(/(?<!\w)dgraph\.type holds lists/);
  });
});
