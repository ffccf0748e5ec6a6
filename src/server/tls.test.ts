import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { createRequire } from 'node:module';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openService, type Service } from './index.js';
import { readTls } from './tls.js';

const { DgraphClient, DgraphClientStub } = createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;
const file = (name: string) => fileURLToPath(new URL(`../../test/support/tls/${name}`, import.meta.url));
const files = { cert: file('localhost.pem'), key: file('localhost.key') };
const ca = readFileSync(files.cert);

describe('TLS', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({ port: 0, grpcPort: 0, logLevel: 'silent', environment: {}, tls: files });
  });
  afterAll(() => service.close());

  it('carries HTTP, and its address says so', async () => {
    expect(service.url).toMatch(/^https:\/\//);
    const status = await new Promise((resolve, reject) => {
      request(`${service.url}/health`, { ca }, (reply) => resolve(reply.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it('carries plain requests, others on the same connection, and plain ones behind those', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port), ca, servername: 'localhost' });
    let text = '';
    socket.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    await once(socket, 'secureConnect');
    const body = '{"query":"{ __typename }"}';
    const head = `host: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    const plain = `POST /graphql HTTP/1.1\r\n${head}\r\n\r\n${body}`;
    for (const [i, asked] of [plain, plain, 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n', plain].entries()) {
      socket.write(asked);
      await expect.poll(() => text.match(/HTTP\/1\.1 200/g)).toHaveLength(i + 1);
    }
    expect(text.match(/there is no GraphQL schema yet/g)).toHaveLength(3);
    socket.destroy();
  });

  it('carries WebSockets', async () => {
    const socket = new WebSocket(`${service.url.replace('https', 'wss')}/graphql`, 'graphql-transport-ws', { ca });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    expect(String((await once(socket, 'message'))[0])).toBe('{"type":"connection_ack"}');
    socket.terminate();
  });

  it('is the only thing that is spoken', async () => {
    await expect(fetch(`${service.url.replace('https', 'http')}/health`)).rejects.toThrow();
  });

  it('carries gRPC', async () => {
    const stub = new DgraphClientStub(`localhost:${service.grpcPort}`, grpc.credentials.createSsl(ca));
    const answer = await new DgraphClient(stub).newTxn().query('{ q(func: has(name)) { name } }');
    expect(answer.getJson()).toEqual({ q: [] });
    stub.close();
  });
});

it.each(['HTTP', 'gRPC'])('ends a connection of %s whose handshake does not come to its end', async (spoken) => {
  const limits = { requestMs: 50 };
  const service = await openService({ port: 0, grpcPort: 0, logLevel: 'silent', environment: {}, tls: files, limits });
  const port = spoken === 'gRPC' ? Number(service.grpcPort) : Number(new URL(service.url).port);
  const socket = connectPlain(port, '127.0.0.1').on('error', () => undefined);
  await once(socket.resume(), 'close');
  await service.close();
});

describe('the files of TLS', () => {
  const mistake = (cert: string, key: string) => () => readTls({ cert, key });

  it('must be there, be PEM, and belong together', () => {
    expect(mistake(file('none.pem'), files.key)).toThrow(/--tls-cert: .*none\.pem cannot be read/);
    expect(mistake(file('localhost.pem'), file('other.key'))).toThrow(/TLS cannot use/);
    expect(mistake(fileURLToPath(import.meta.url), files.key)).toThrow(/TLS cannot use/);
  });
});

describe('a certificate that is renewed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'graphstead-tls-'));
  const served = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const put = (cert: string, key: string) => {
    copyFileSync(file(cert), served.cert);
    copyFileSync(file(key), served.key);
  };
  let service: Service;
  beforeAll(async () => {
    put('localhost.pem', 'localhost.key');
    const limits = { tlsCheckMs: 5 };
    service = await openService({ port: 0, grpcPort: 0, logLevel: 'silent', environment: {}, tls: served, limits });
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  const renewed = new X509Certificate(readFileSync(file('other.pem'))).fingerprint256;
  const shown = async (port: number, servername?: string) => {
    const socket = connect({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      ...(servername ? { servername } : {}),
    });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };

  it('is shown to new connections, while open ones go on', async () => {
    const port = Number(new URL(service.url).port);
    const open = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
    await once(open, 'secureConnect');
    const stub = new DgraphClientStub(`localhost:${service.grpcPort}`, grpc.credentials.createSsl(ca));
    const ask = () => new DgraphClient(stub).newTxn().query('{ q(func: has(name)) { name } }');
    await ask();

    // a key that does not fit changes nothing
    put('localhost.pem', 'other.key');
    expect(await shown(port)).not.toBe(renewed);
    put('other.pem', 'other.key');
    await expect.poll(() => shown(port)).toBe(renewed);
    expect(await shown(port, 'localhost')).toBe(renewed);
    expect(await shown(service.grpcPort as number)).toBe(renewed);

    open.write('GET /health/ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    expect(String((await once(open, 'data'))[0])).toContain('200 OK');
    expect((await ask()).getJson()).toEqual({ q: [] });
    stub.close();
  });
});
