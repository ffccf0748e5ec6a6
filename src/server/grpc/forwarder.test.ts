import { EventEmitter, once } from 'node:events';
import * as grpc from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLimits, noTrace } from '../../base/index.js';
import { FORWARDED, Places } from '../forward/index.js';
import { GrpcForwarder } from './forwarder.js';

const asItIs = (bytes: Buffer) => bytes;
const PATH = '/api.Dgraph/Query';
const SERVICE = {
  query: {
    path: PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  },
};

let server: grpc.Server;
let port: number;
let answer: grpc.handleUnaryCall<Buffer, Buffer>;
beforeEach(async () => {
  server = new grpc.Server();
  server.addService(SERVICE, { query: (...given: Parameters<typeof answer>) => answer(...given) });
  port = await new Promise((resolve, reject) => {
    const bound = (error: Error | null, at: number) => (error ? reject(error) : resolve(at));
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), bound);
  });
});
afterEach(() => server.forceShutdown());

function forwarder(limits = {}, headers = {}) {
  const trace = { ...noTrace, headers: () => headers };
  const terms = { limits: makeLimits(limits), trace, places: new Places(1) };
  const made = new GrpcForwarder(new URL(`http://127.0.0.1:${port}`), terms);
  return (call: { signal?: AbortSignal; metadata?: grpc.Metadata; deadline?: number } = {}) =>
    made.ask({
      path: PATH,
      request: Buffer.from('asked'),
      metadata: new grpc.Metadata(),
      deadline: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
      ...call,
    });
}

describe('a call that is sent on', () => {
  it('ends there when its client leaves, and gives its place to the next one', async () => {
    const told = new EventEmitter();
    answer = (call) => {
      told.emit('asked');
      call.on('cancelled', () => told.emit('cancelled'));
    };
    const ask = forwarder();
    const client = new AbortController();
    const [asked, cancelled] = [once(told, 'asked'), once(told, 'cancelled')];
    const left = expect(ask({ signal: client.signal })).rejects.toMatchObject({ code: 'CANCELLED' });
    await asked;
    await expect(ask()).rejects.toMatchObject({ code: 'OVERLOADED' });
    client.abort();
    await Promise.all([left, cancelled]);
    await expect(ask({ signal: client.signal })).rejects.toMatchObject({ code: 'CANCELLED' });
    answer = (_, done) => done(null, Buffer.from('answered'));
    expect(String(await ask())).toBe('answered');
  });

  it('is answered however much it is', async () => {
    answer = (_, done) => done(null, Buffer.alloc(5_000_000));
    expect((await forwarder()()).length).toBe(5_000_000);
  });

  it.each([
    ['its own time', {}, 200],
    ['that of the service', { forwardMs: 200 }, 600_000],
  ])('waits for no longer than %s', async (_, limits, ms) => {
    answer = () => undefined;
    await expect(forwarder(limits)({ deadline: Date.now() + ms })).rejects.toMatchObject({
      code: expect.stringMatching(/^(OUTCOME_UNKNOWN|READ_ONLY_STORE)$/),
    });
  });

  it('tells what its client has said, but for what is of the connection', async () => {
    let said: Record<string, unknown> = {};
    answer = ({ metadata }, done) => {
      said = metadata.getMap();
      done(null, Buffer.alloc(0));
    };
    const metadata = new grpc.Metadata();
    const given = {
      'x-mine': '1',
      'user-agent': 'curl',
      'grpc-trace': 'a',
      'proxy-authorization': 'b',
      traceparent: 'old',
    };
    for (const [name, value] of Object.entries(given)) metadata.set(name, value);
    await forwarder({}, { traceparent: 'new' })({ metadata });
    expect(said).toMatchObject({ 'x-mine': '1', traceparent: 'new', [FORWARDED]: '1' });
    expect(said['user-agent']).not.toContain('curl');
    for (const name of ['grpc-trace', 'proxy-authorization']) expect(said).not.toHaveProperty([name]);
    expect(metadata.getMap()).toEqual(given);
  });

  it.each([
    ['UNIMPLEMENTED', {}, true],
    ['RESOURCE_EXHAUSTED', {}, true],
    ['UNAVAILABLE', { 'graphstead-code': 'OVERLOADED' }, true],
    ['UNAVAILABLE', {}, false],
    ['INTERNAL', {}, false],
  ] as const)('that is answered with %s, and with %j, was refused there: %s', async (code, said, isRefused) => {
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(said)) metadata.set(name, value);
    answer = (_, done) => done({ code: grpc.status[code], details: 'no', metadata });
    const told = isRefused ? { status: { code: grpc.status[code], details: 'no' } } : { code: 'OUTCOME_UNKNOWN' };
    await expect(forwarder()()).rejects.toMatchObject(told);
  });

  it('is not sent where nobody is', async () => {
    server.forceShutdown();
    await expect(forwarder()()).rejects.toMatchObject({ code: 'READ_ONLY_STORE' });
  });
});
