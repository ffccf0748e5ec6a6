// On loopback nothing needs a key. A page whose own name was pointed at 127.0.0.1 (DNS rebinding) must reach nothing there.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService({
    explorer: true,
    environment: { GRAPHSTEAD_API_KEYS: 'k', GRAPHSTEAD_HOST_NAMES: 'app.example' },
  });
  await s.schema('type Note { id: ID! text: String }');
});
afterAll(() => s.close());

interface Told {
  readonly status: number | undefined;
  readonly text: string;
}

function ask(
  path: string,
  host: string,
  { key, body, of = s }: { key?: string; body?: string; of?: TestService } = {},
): Promise<Told> {
  const { hostname, port } = new URL(of.url);
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json', ...(key ? { 'x-api-key': key } : {}) };
    const sent = request({ hostname, port, path, method: body ? 'POST' : 'GET', headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      reply.on('end', () => resolve({ status: reply.statusCode, text }));
    });
    sent.on('error', reject).end(body);
  });
}

const graphql = { body: '{"query":"{ queryNote { text } }"}' };

describe('a request under another name', () => {
  it.each([
    ['/graphql', graphql],
    ['/query', { body: '{"query":"{ q(func: has(Note.text)) { uid } }"}' }],
    ['/admin/schema', {}],
    ['/metrics', {}],
    ['/explorer/api/agents', {}],
  ])('%s is refused, with a code and what to do', async (path, options) => {
    const { status, text } = await ask(path, 'evil.example:8686', options);
    expect(status).toBe(403);
    expect(JSON.parse(text).errors[0].extensions).toMatchObject({
      code: 'HOST_REFUSED',
      fix: expect.stringContaining('GRAPHSTEAD_HOST_NAMES'),
    });
  });

  it('is refused with the same status under --compat dgraph', async () => {
    const of = await startService({ compat: 'dgraph' });
    try {
      expect((await ask('/query', 'evil.example', { body: '{ q(func: has(name)) { uid } }', of })).status).toBe(403);
    } finally {
      await of.close();
    }
  });

  it('is answered with a key, and by the probes', async () => {
    expect((await ask('/graphql', 'evil.example', { ...graphql, key: 'k' })).status).toBe(200);
    expect((await ask('/graphql', 'evil.example', { ...graphql, key: 'wrong' })).status).toBe(403);
    expect((await ask('/health', 'evil.example')).status).toBe(200);
    expect((await ask('/health/?x', 'evil.example')).status).toBe(200);
    expect((await ask('/explorer/', 'evil.example')).status).toBe(200);
  });
});

describe('the names of the service', () => {
  it.each(['127.0.0.1:1', 'localhost', 'my.localhost:80', '[::1]:8686', 'APP.example:443'])('%s', async (host) => {
    expect((await ask('/graphql', host, graphql)).status).toBe(200);
  });
});
