import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, DEFAULT_LIMITS, Secret } from '../base/index.js';
import { isRefusedAddress } from './address.js';
import type { HttpClient, OutboundRequest } from './contract.js';
import { createHttpClient, type HttpClientOptions } from './http-client.js';

const open: { client?: HttpClient; server?: Server } = {};
const clock: Clock & { now: number } = { now: 0, wall: () => 0, monotonic: () => clock.now };

afterEach(async () => {
  await open.client?.close();
  open.server?.closeAllConnections();
  await new Promise((done) => (open.server ? open.server.close(done) : done(undefined)));
  open.client = undefined;
  open.server = undefined;
});

async function serve(
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, Buffer.concat(chunks).toString(), response));
  });
  open.server = server;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(limits: Partial<HttpClientOptions['limits']> = {}, allowedHosts: string[] = []): HttpClient {
  open.client = createHttpClient({ limits: { ...DEFAULT_LIMITS, ...limits }, clock, allowedHosts });
  return open.client;
}

const get = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url,
  headers: {},
  idempotent: false,
  ...more,
});
const code = (expected: string) => expect.objectContaining({ code: expected });

describe('the client', () => {
  it('sends method, headers, secrets and a body, also with GET', async () => {
    const base = await serve((request, body, response) => {
      response.end(JSON.stringify([request.method, request.url, request.headers['x-key'], body]));
    });
    const reply = await client().send(
      get(`${base}/a?b=c+d`, { headers: { 'x-key': new Secret('hidden') }, body: '{"uid":"0x1"}' }),
    );
    expect(JSON.parse(reply.body.toString())).toEqual(['GET', '/a?b=c+d', 'hidden', '{"uid":"0x1"}']);
  });

  it('sends a user and a password of the address, unless a header says who calls', async () => {
    const base = await serve((request, _, response) => response.end(request.headers.authorization));
    const url = base.replace('//', '//ann:p%20w@');
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    expect((await client().send(get(url))).body.toString()).toBe(basic('ann:p w'));
    const odd = base.replace('//', '//ann:p%w@');
    expect((await open.client?.send(get(odd)))?.body.toString()).toBe(basic('ann:p%w'));
    const own = get(url, { headers: { Authorization: 'own' } });
    expect((await open.client?.send(own))?.body.toString()).toBe('own');
  });

  it.each([
    ['gzip', { 'content-encoding': 'gzip' }, gzipSync('"é"')],
    ['deflate, then brotli', { 'content-encoding': 'deflate, BR' }, brotliCompressSync(deflateSync('"é"'))],
    ['a byte order mark', {}, Buffer.from('\uFEFF"é"')],
    ['another character set', { 'content-type': 'application/json; charset=ISO-8859-1' }, Buffer.from('"é"', 'latin1')],
  ])('reads a reply with %s', async (_, headers, body) => {
    const base = await serve((_request, _body, response) => response.writeHead(200, headers).end(body));
    expect((await client().send(get(base))).body.toString()).toBe('"é"');
  });

  it.each([
    ['gzip', 'no gzip', 'the reply is no gzip, as it says'],
    ['zstd', 'x', 'the reply is compressed by zstd, which is not known'],
    ['gzip', gzipSync('x'.repeat(2000)), 'the reply is larger than 1000 bytes (limits.outboundReplyBytes)'],
  ])('refuses a reply that cannot be decompressed: %s', async (encoding, body, message) => {
    const base = await serve((_, __, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
    const sent = client({ outboundReplyBytes: 1000 }).send(get(`${base}/a`));
    await expect(sent).rejects.toMatchObject({ code: 'REMOTE_REPLY', message: `GET ${base}/a: ${message}` });
  });

  it('tries idempotent calls again, and others not', async () => {
    let calls = 0;
    const base = await serve((request, _, response) => {
      calls++;
      if (calls < 3) request.socket.destroy();
      else response.end('ok');
    });
    const outbound = client();
    expect((await outbound.send(get(base, { idempotent: true }))).status).toBe(200);
    expect(calls).toBe(3);
    calls = 0;
    await expect(outbound.send(get(base))).rejects.toThrow(code('REMOTE_FAILED'));
    expect(calls).toBe(1);
    await expect(outbound.send(get('http://127.0.0.1:1'))).rejects.toMatchObject({ fix: /Check that the server runs/ });
  });

  it('gives up in time', async () => {
    const base = await serve(() => {});
    await expect(client({ outboundMs: 50 }).send(get(`${base}/slow?key=1`, { idempotent: true }))).rejects.toThrow(
      expect.objectContaining({
        code: 'REMOTE_TIMEOUT',
        message: expect.not.stringContaining('key=1') as string,
        fix: 'Look why the server is slow, or raise the limit.',
      }),
    );
  });

  it('is cancelled with its request', async () => {
    const abort = new AbortController();
    const base = await serve(() => abort.abort());
    await expect(client().send(get(base, { signal: abort.signal }))).rejects.toThrow(code('CANCELLED'));
  });

  it('refuses replies that are too large', async () => {
    const base = await serve((_, __, response) => response.end('x'.repeat(2_000)));
    await expect(client({ outboundReplyBytes: 1_000 }).send(get(base))).rejects.toThrow(code('REMOTE_REPLY'));
  });

  it('does not follow redirects', async () => {
    const base = await serve((_, __, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' });
      response.end();
    });
    expect((await client().send(get(base))).status).toBe(302);
  });

  it('stops calling what keeps failing, and tries again later', async () => {
    let status = 500;
    const base = await serve((_, __, response) => {
      response.statusCode = status;
      response.end();
    });
    const outbound = client({ circuitFailures: 2, circuitOpenMs: 1_000 });
    await outbound.send(get(base));
    await outbound.send(get(base));
    await expect(outbound.send(get(base))).rejects.toThrow(
      expect.objectContaining({ code: 'CIRCUIT_OPEN', message: expect.stringContaining(base) as string }),
    );
    clock.now += 1_001;
    const [one, other] = [outbound.send(get(base)), outbound.send(get(base))];
    await expect(other).rejects.toThrow(code('CIRCUIT_OPEN'));
    expect((await one).status).toBe(500);
    clock.now += 1_001;
    status = 200;
    await outbound.send(get(base));
    expect((await outbound.send(get(base))).status).toBe(200);
  });

  it.each([
    'http://169.254.169.254/latest',
    'http://2852039166/',
    'http://[fe80::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://metadata.google.internal/',
    'http://METADATA./',
    'ftp://example.com/',
    'file:///etc/passwd',
  ])('refuses %s', async (url) => {
    await expect(async () => client().send(get(url))).rejects.toThrow(code('REMOTE_REFUSED'));
  });
});

it('addresses of the machine and of private networks may be called', () => {
  for (const address of ['127.0.0.1', '10.0.0.1', '192.168.1.1', '::1', 'fd00::1', '::ffff:127.0.0.1', '8.8.8.8']) {
    expect(isRefusedAddress(address)).toBe(false);
  }
});
