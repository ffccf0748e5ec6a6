import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('the files of TLS', () => {
  const mistake = (cert: string, key: string) => () => readTls({ cert, key });

  it('must be there, be PEM, and belong together', () => {
    expect(mistake(file('none.pem'), files.key)).toThrow(/--tls-cert: .*none\.pem cannot be read/);
    expect(mistake(file('localhost.pem'), file('other.key'))).toThrow(/TLS cannot use/);
    expect(mistake(fileURLToPath(import.meta.url), files.key)).toThrow(/TLS cannot use/);
  });
});
