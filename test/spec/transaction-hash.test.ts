// A transaction belongs to whoever began it: where clients have keys, its timestamp alone, which can be guessed, opens it to nobody.
import { createRequire } from 'node:module';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import type * as DgraphHttp from 'dgraph-js-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

const require = createRequire(import.meta.url);
const dgraph = require('dgraph-js') as typeof Dgraph;
const dgraphHttp = require('dgraph-js-http') as typeof DgraphHttp;

const environment = { GRAPHSTEAD_API_KEYS: 'one,two' };
let s: TestService;
beforeAll(async () => {
  s = await startService({ grpcPort: 0, environment });
});
afterAll(() => s.close());

const note = '{ set { _:a <text> "mine" . } }';
const notes = '{ q(func: has(text)) { text } }';

async function begun(service: TestService): Promise<{ start_ts: number; hash: string }> {
  return (await service.post('/mutate', note, 'application/rdf')).body.extensions.txn;
}

describe('a transaction of a service with keys', () => {
  it('is opened by its hash, and not by its timestamp alone', async () => {
    const { start_ts, hash } = await begun(s);
    const requests = [
      ['/query', notes, 'application/dql'],
      ['/mutate', note, 'application/rdf'],
      ['/commit', '', 'application/json'],
    ] as const;
    for (const [path, body, type] of requests) {
      for (const more of ['', '&hash=', '&hash=0123456789abcdef', path === '/commit' ? '&abort=true' : '']) {
        const refused = await s.post(`${path}?startTs=${start_ts}${more}`, body, type);
        expect([path, more, refused.body.errors?.[0].extensions.code]).toEqual([path, more, 'FORBIDDEN']);
      }
    }
    const committed = await s.post(`/commit?startTs=${start_ts}&hash=${hash}`, '', 'application/json');
    expect(committed.body.data.code).toBe('Success');
    const repeated = await s.post(`/commit?startTs=${start_ts}`, '', 'application/json');
    expect(repeated.body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  it('is one over gRPC, too, where clients send the hash by themselves', async () => {
    const stub = new dgraph.DgraphClientStub(`127.0.0.1:${s.service.grpcPort}`, grpc.credentials.createInsecure());
    try {
      const client = new dgraph.DgraphClient(stub);
      const transaction = client.newTxn();
      const mutation = new dgraph.Mutation();
      mutation.setSetNquads('_:a <text> "theirs" .');
      await transaction.mutate(mutation);
      expect((await transaction.query(notes)).getJson().q).toContainEqual({ text: 'theirs' });
      await transaction.commit();

      const request = new dgraph.Request();
      request.setQuery(notes);
      request.setStartTs((await begun(s)).start_ts);
      await expect(stub.query(request)).rejects.toThrow(/hash/);
    } finally {
      stub.close();
    }
  });
});

describe('no hash is needed', () => {
  const commit = async (service: TestService) => {
    const { start_ts } = await begun(service);
    return (await service.post(`/commit?startTs=${start_ts}`, '', 'application/json')).body;
  };

  it('where no key opens the graph language', async () => {
    const open = await startService({ environment: { GRAPHSTEAD_METRICS_KEYS: 'scraper' } });
    try {
      expect(await commit(open)).toMatchObject({ data: { code: 'Success' } });
    } finally {
      await open.close();
    }
  });

  it('under --compat dgraph, whose HTTP client sends none', async () => {
    const peer = await startService({ compat: 'dgraph', environment });
    try {
      expect(await commit(peer)).toMatchObject({ data: { code: 'Success' } });
      const transaction = new dgraphHttp.DgraphClient(new dgraphHttp.DgraphClientStub(peer.url)).newTxn();
      await transaction.mutate({ setNquads: '_:a <text> "again" .' });
      expect((await transaction.query(notes)).data).toMatchObject({ q: [{ text: 'mine' }, { text: 'again' }] });
      await transaction.commit();
    } finally {
      await peer.close();
    }
  });
});
