// Clients that leave transactions open: whoever forgets `commitNow` takes nothing away from those who do not.
import { createRequire } from 'node:module';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

const dgraph = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;

let s: TestService;
beforeAll(async () => {
  s = await startService({ limits: { transactions: 3 } });
  await s.schema('type Note { id: ID! text: String! @search }');
});
afterAll(() => s.close());

const open = (text: string) => s.post('/mutate', `{ set { _:a <text> "${text}" . } }`, 'application/rdf');

it('are told the limit, while requests that end what they begin go on', async () => {
  for (const text of ['one', 'two', 'three']) expect((await open(text)).status).toBe(200);
  const refused = await open('four');
  expect([refused.status, refused.body.errors[0]]).toMatchObject([
    429,
    {
      message: 'clients hold 3 transactions open (limits.transactions)',
      extensions: {
        code: 'TOO_MANY_TRANSACTIONS',
        fix: 'Commit or abort transactions, or send changes with commitNow=true.',
      },
    },
  ]);
  const added = await s.graphql('mutation { addNote(input: [{ text: "five" }]) { note { text } } }');
  expect(added.body).toMatchObject({ data: { addNote: { note: [{ text: 'five' }] } } });
  expect((await s.graphql('{ queryNote { text } }')).body.data).toEqual({ queryNote: [{ text: 'five' }] });
  expect((await s.rdf('{ set { _:a <text> "six" . } }')).status).toBe(200);
  const read = await s.post('/query', '{ q(func: has(text)) { text } }', 'application/dql');
  expect([read.status, read.body.data]).toEqual([200, { q: [{ text: 'six' }] }]);
  const again = await s.post(
    `/query?startTs=${read.body.extensions.txn.start_ts}`,
    '{ q(func: has(text)) { text } }',
    'application/dql',
  );
  expect([again.status, again.body.errors[0].extensions.code]).toEqual([409, 'TXN_EXPIRED']);
});

describe('of several clients', () => {
  let s: TestService;
  beforeAll(async () => {
    const environment = { GRAPHSTEAD_API_KEYS: 'greedy modest' };
    s = await startService({ limits: { transactions: 3 }, environment, grpcPort: 0 });
  });
  afterAll(() => s.close());

  /** opens one by HTTP: past the library, and where it says what takes a closer look through it */
  async function open(headers: Record<string, string>): Promise<string> {
    const answer = await s.post('/mutate', '{ set { _:a <text> "a" . } }', 'application/rdf', headers);
    expect(answer.status).toBe(200);
    const { start_ts, hash } = answer.body.extensions.txn;
    return `startTs=${start_ts}&hash=${hash}`;
  }
  async function openByGrpc(key?: string): Promise<string> {
    const stub = new dgraph.DgraphClientStub(`127.0.0.1:${s.service.grpcPort}`);
    const metadata = new grpc.Metadata();
    if (key !== undefined) metadata.set('authorization', `Bearer ${key}`);
    const request = new dgraph.Request();
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:a <text> "a" .');
    request.setMutationsList([mutation]);
    const answer = await stub.query(request, metadata);
    stub.close();
    const transaction = answer.getTxn()!;
    return `startTs=${transaction.getStartTs()}&hash=${transaction.getHash()}`;
  }
  const commit = async (transaction: string) => (await s.post(`/commit?${transaction}`, '', 'application/json')).status;
  const greedy = { 'x-api-key': 'greedy' };

  it.each([
    ['a key in plain requests', () => open(greedy), () => open({ 'x-api-key': 'modest' })],
    [
      'a key in others',
      () => open({ ...greedy, 'x-no-compression': '1' }),
      () => open({ authorization: 'Bearer modest' }),
    ],
    ['a key over gRPC', () => openByGrpc('greedy'), () => openByGrpc('modest')],
    ['the address of who shows none', () => open({}), () => open(greedy)],
    ['the address over gRPC', () => openByGrpc(), () => openByGrpc('modest')],
    ['the address where a key does not count', () => open({ 'x-api-key': String(Math.random()) }), () => open(greedy)],
  ])('takes the oldest from the one who holds most, who is told by %s', async (_, openOne, openOther) => {
    const many = [await openOne(), await openOne(), await openOne()];
    const other = await openOther();
    expect([await commit(many[0]), await commit(other)]).toEqual([409, 200]);
    for (const transaction of many.slice(1)) expect(await commit(transaction)).toBe(200);
  });
});
