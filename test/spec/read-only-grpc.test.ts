// A service that only reads and knows where the one that writes speaks gRPC: the peer's client finds one service, whichever it asks.
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { afterEach, describe, expect, it } from 'vitest';
import { scratch, serve } from '../cli/command.js';
import { freePort } from '../free-port.js';
import { startService, type TestService } from '../service.js';

const dgraph = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;
const NAMES = '{ q(func: has(name), orderasc: name) { name } }';
const READ_ONLY = { readOnly: true };

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function service(options: Parameters<typeof startService>[0]): Promise<TestService> {
  const started = await startService({ grpcPort: 0, ...options });
  opened.push(() => started.close());
  return started;
}

const grpcUrl = ({ service: { grpcPort } }: TestService) => `http://127.0.0.1:${grpcPort}`;

async function written(options = {}): Promise<{ readonly writer: TestService; readonly data: string }> {
  const folder = scratch();
  opened.push(() => folder.remove());
  const data = folder.path('data');
  return { writer: await service({ data, ...options }), data };
}

/** One that writes, and one beside it that looks for nothing by itself. */
async function pair() {
  const { writer, data } = await written();
  const readOnly = { data, readOnly: true, limits: { followMs: 60_000 } };
  const reader = await service({ ...readOnly, writerGrpc: grpcUrl(writer) });
  return { writer, reader, readOnly };
}

/** A reader of a store that is there, with something else in the place of the service that writes. */
async function readerOf(writerGrpc: string, limits = {}): Promise<TestService> {
  const { readOnly } = await pair();
  return service({ ...readOnly, writerGrpc, limits: { ...readOnly.limits, ...limits } });
}

/** Something that stands where the service that writes should speak gRPC. */
async function standIn(listener: (stream: ServerHttp2Stream) => void): Promise<string> {
  const server = createServer();
  server.on('session', (session) => opened.push(() => session.destroy()));
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    listener(stream);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  opened.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function clientOf({ service: { grpcPort } }: { readonly service: { readonly grpcPort?: number } }) {
  const stub = new dgraph.DgraphClientStub(`127.0.0.1:${grpcPort}`);
  opened.push(() => stub.close());
  return new dgraph.DgraphClient(stub);
}

function rdf(text: string, commitNow = true): Dgraph.Mutation {
  const mutation = new dgraph.Mutation();
  mutation.setSetNquads(text);
  mutation.setCommitNow(commitNow);
  return mutation;
}

const A = rdf('_:a <name> "A" .');
const A_NOW = requestOf(A);

/** A request that is no part of a transaction. */
function requestOf(mutation: Dgraph.Mutation): Buffer {
  const request = new dgraph.Request();
  request.setMutationsList([mutation]);
  request.setCommitNow(true);
  return Buffer.from(request.serializeBinary());
}

/** What a call is refused with. */
async function refusal(asked: Promise<unknown>): Promise<{ code: string; status: grpc.status; details: string }> {
  const error = (await asked.then(
    () => expect.unreachable('it was not refused'),
    (thrown: unknown) => thrown,
  )) as grpc.ServiceError;
  return { code: String(error.metadata.get('graphstead-code')[0]), status: error.code, details: error.details };
}

/** A call whose answer nobody looks into. */
function raw(
  { service: { grpcPort } }: TestService,
  method: string,
  request: Buffer,
  headers: Record<string, string> = {},
) {
  const client = new grpc.Client(`127.0.0.1:${grpcPort}`, grpc.credentials.createInsecure());
  opened.push(() => client.close());
  const same = (bytes: Buffer) => bytes;
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const options = { deadline: Date.now() + 2_000 };
  return new Promise<Buffer>((answered, refused) => {
    client.makeUnaryRequest(`/api.Dgraph/${method}`, same, same, request, metadata, options, (error, answer) =>
      error ? refused(error) : answered(answer as Buffer),
    );
  });
}

describe('gRPC at a service that only reads and knows the one that writes', () => {
  it('takes schema, changes and transactions of several requests, and shows them at once', async () => {
    const { writer, reader } = await pair();
    const client = clientOf(reader);
    const schema = new dgraph.Operation();
    schema.setSchema('name: string @index(exact) @upsert .');
    await client.alter(schema);
    expect((await client.newTxn().mutate(A)).getUidsMap().get('a')).toMatch(/^0x/);
    const transaction = client.newTxn();
    expect((await transaction.query(NAMES)).getJson()).toEqual({ q: [{ name: 'A' }] });
    await transaction.mutate(rdf('_:b <name> "B" .', false));
    expect((await transaction.query(NAMES)).getJson().q).toHaveLength(2);
    expect((await client.newTxn(READ_ONLY).query(NAMES)).getJson().q).toHaveLength(1);
    await transaction.commit();
    const both = { q: [{ name: 'A' }, { name: 'B' }] };
    expect((await client.newTxn(READ_ONLY).query(NAMES)).getJson()).toEqual(both);
    expect((await writer.data(NAMES)).q).toHaveLength(2);
    // what newer clients call
    const text = '{ set { _:c <name> "C" . } }';
    await raw(reader, 'RunDQL', Buffer.concat([Buffer.from([10, text.length]), Buffer.from(text)]));
    expect((await client.newTxn(READ_ONLY).query(NAMES)).getJson().q).toHaveLength(3);
    expect(await raw(reader, 'AllocateIDs', Buffer.from([8, 5, 16, 1]))).not.toHaveLength(0);
  });

  it('tells a conflict and a mistake as the one that writes does', async () => {
    const { writer, reader } = await pair();
    await writer.alter('name: string @index(exact) @upsert .');
    const [first, second] = [clientOf(reader).newTxn(), clientOf(writer).newTxn()];
    for (const one of [first, second]) {
      await one.query('{ q(func: eq(name, "A")) { uid } }');
      await one.mutate(rdf('_:a <name> "A" .', false));
    }
    await second.commit();
    await expect(first.commit()).rejects.toBe(dgraph.ERR_ABORTED);
    const wrong = () => rdf('_:a <name> .');
    const told = await refusal(clientOf(writer).newTxn().mutate(wrong()));
    expect(told).toMatchObject({ code: 'SYNTAX', status: grpc.status.INVALID_ARGUMENT });
    expect(await refusal(clientOf(reader).newTxn().mutate(wrong()))).toEqual(told);
  });

  it('answers by itself who says that he only reads, also while the one that writes is gone', async () => {
    const { writer, reader } = await pair();
    const client = clientOf(reader);
    await client.newTxn().mutate(A);
    await writer.close();
    expect((await client.newTxn(READ_ONLY).query(NAMES)).getJson()).toEqual({ q: [{ name: 'A' }] });
    const away = { code: 'READ_ONLY_STORE', status: grpc.status.UNAVAILABLE };
    for (const ask of [() => client.newTxn().mutate(A), () => client.newTxn().query(NAMES)]) {
      const refused = await refusal(ask());
      expect(refused).toMatchObject(away);
      expect(refused.details).toContain(`127.0.0.1:${writer.service.grpcPort}`);
    }
  });

  it('says that it does not know where the one that writes breaks off, or is silent', async () => {
    const cut = await readerOf(await standIn((stream) => stream.session?.destroy()));
    const reset = await readerOf(await standIn((stream) => stream.close(8)));
    const silent = await readerOf(await standIn(() => undefined), { forwardMs: 300 });
    for (const reader of [cut, reset, silent]) {
      const refused = await refusal(clientOf(reader).newTxn().mutate(A));
      expect(refused).toMatchObject({ code: 'OUTCOME_UNKNOWN', status: grpc.status.UNKNOWN });
    }
  });

  it('bounds what waits there, over HTTP too, and lets go of it with whoever waited', async () => {
    const arrived: ServerHttp2Stream[] = [];
    const left: Promise<unknown>[] = [];
    const url = await standIn((stream) => {
      arrived.push(stream);
      left.push(new Promise((closed) => stream.once('close', closed)));
    });
    const { readOnly } = await pair();
    const limits = { ...readOnly.limits, forwards: 1 };
    const reader = await service({ ...readOnly, writerGrpc: url, writer: 'http://127.0.0.1:1', limits });
    const waiting = refusal(raw(reader, 'Alter', Buffer.alloc(0)));
    while (arrived.length < 1) await new Promise(setImmediate);
    expect((await refusal(clientOf(reader).newTxn().mutate(A))).code).toBe('OVERLOADED');
    expect((await reader.rdf('x')).body.errors[0].extensions.code).toBe('OVERLOADED');
    expect((await waiting).status).toBe(grpc.status.DEADLINE_EXCEEDED);
    await left[0];
    while ((await reader.rdf('x')).body.errors[0].extensions.code === 'OVERLOADED') await new Promise(setImmediate);
  });

  it('sends nothing in circles', async () => {
    const { readOnly } = await pair();
    const port = await freePort();
    const own = await service({ ...readOnly, grpcPort: port, writerGrpc: `http://127.0.0.1:${port}` });
    expect((await refusal(clientOf(own).newTxn().mutate(A))).details).toMatch(/^this service only reads/);
  });

  it('asks for keys itself, and the one that writes asks again', async () => {
    const keys = (given: string) => ({ host: '0.0.0.0', environment: { GRAPHSTEAD_API_KEYS: given } });
    const { writer, data } = await written(keys('both,writers'));
    const reader = await service({ data, readOnly: true, ...keys('both,readers'), writerGrpc: grpcUrl(writer) });
    const change = (key: string) => raw(reader, 'Query', A_NOW, { authorization: key });
    await change('both');
    expect((await writer.post('/query', NAMES, 'application/dql', { 'x-api-key': 'both' })).body.data.q).toHaveLength(
      1,
    );
    expect((await refusal(change('readers'))).status).toBe(grpc.status.UNAUTHENTICATED);
    expect((await refusal(change('writers'))).status).toBe(grpc.status.UNAUTHENTICATED);
  });

  it('asks a service that speaks TLS where it trusts its certificate, and sends nothing where it does not', async () => {
    const file = (name: string) => resolve(import.meta.dirname, '../support/tls', name);
    const cert = file('localhost.pem');
    const { writer, data } = await written({ tls: { cert, key: file('localhost.key') } });
    const url = `https://localhost:${writer.service.grpcPort}`;
    const args = ['--data', data, '--read-only', '--writer-grpc', url];
    const grpcPort = await freePort();
    const trusting = await serve([...args, '--grpc-port', String(grpcPort)], {
      environment: { NODE_EXTRA_CA_CERTS: cert },
    });
    opened.push(() => trusting.stop());
    await clientOf({ service: { grpcPort } }).newTxn().mutate(A);
    const doubting = await service({ data, readOnly: true, writerGrpc: url });
    expect((await refusal(clientOf(doubting).newTxn().mutate(A))).code).toBe('READ_ONLY_STORE');
    expect((await doubting.data(NAMES)).q).toEqual([{ name: 'A' }]);
  });

  it('is told an address that is one, and nothing where it writes by itself', async () => {
    const { readOnly } = await pair();
    for (const writerGrpc of ['10.0.0.1:9080', 'dns:a:9080', 'http://user:pa55@a']) {
      const refused = await startService({ ...readOnly, writerGrpc }).catch((thrown: Error) => thrown);
      expect(refused).toMatchObject({ code: 'CONFIG', fix: expect.stringMatching(/http:\/\/host:9080/) });
      expect(String(refused)).not.toContain('pa55');
    }
    const environment = { GRAPHSTEAD_WRITER_GRPC: 'http://a:1' };
    await expect(startService({ environment })).rejects.toMatchObject({ code: 'CONFIG', fix: /--writer-grpc/ });
    const set = await service({ ...readOnly, environment: { GRAPHSTEAD_WRITER_GRPC: 'http://127.0.0.1:1' } });
    expect((await refusal(clientOf(set).newTxn().mutate(A))).details).toContain('127.0.0.1:1');
    expect(set.service.warnings).toEqual([]);
  });
});
