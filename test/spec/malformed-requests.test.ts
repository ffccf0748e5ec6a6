// What RFC 9112 wants refused is refused with `errors` as everything else is: on a connection that is new, whose first request
// the service reads itself, and on one that the HTTP library has.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService();
});
afterAll(() => s.close());

const BODY = '{"query":"{ __typename }"}';
const TYPE = 'Content-Type: application/json';
const LENGTH = `Content-Length: ${BODY.length}`;
const OK = 'GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n';
const request = (lines: readonly string[], body = BODY) => `${lines.join('\r\n')}\r\n\r\n${body}`;
const post = (...headers: string[]) => request(['POST /graphql HTTP/1.1', ...headers, TYPE, LENGTH]);

/** All that comes for these texts, each sent once the answer to the one before has come, up to the end of the connection. */
function told(...texts: string[]): Promise<string> {
  const { hostname, port } = new URL(s.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(texts[0]));
    let [seen, sent] = ['', 1];
    socket.setEncoding('latin1').on('data', (part: string) => {
      seen += part;
      const answers = seen.split(/HTTP\/1\.1 \d+ /).length - 1;
      if (sent < texts.length && answers === sent) socket.write(texts[sent++]);
    });
    socket.on('error', reject).on('close', () => resolve(seen));
  });
}

const statuses = (seen: string) => [...seen.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
const lastBody = (seen: string) => JSON.parse(seen.slice(seen.lastIndexOf('\r\n\r\n'))) as { errors: unknown };

describe.each([
  ['on a new connection', []],
  ['on one of the library', [OK]],
] as const)('a request in a wrong form, %s,', (_, before) => {
  it.each([
    ['two Host headers', 400, post('Host: localhost', 'Host: evil.example')],
    ['no Host header', 400, post()],
    ['an expectation', 417, post('Host: localhost', 'Expect: 200-maybe')],
    ['HTTP/2.0', 505, request(['POST /graphql HTTP/2.0', 'Host: localhost', TYPE, LENGTH])],
    ['HTTP/0.9', 505, 'GET /health\r\n\r\n'],
    [
      'a transfer coding',
      501,
      request(['POST /graphql HTTP/1.1', 'Host: localhost', TYPE, 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'),
    ],
    [
      'a transfer coding whose end nobody knows',
      501,
      request(['POST /graphql HTTP/1.1', 'Host: localhost', TYPE, 'Transfer-Encoding: identity']),
    ],
    ['CONNECT', 405, request(['CONNECT localhost:443 HTTP/1.1', 'Host: localhost'], '')],
    [
      'a WebSocket with two hosts',
      400,
      request(['GET /graphql HTTP/1.1', 'Host: a', 'Host: b', 'Connection: Upgrade', 'Upgrade: websocket'], ''),
    ],
  ])('is told why, and its connection ends: %s', async (__, status, text) => {
    const seen = await told(...before, text);
    expect(statuses(seen)).toEqual([...before.map(() => 200), status]);
    expect(lastBody(seen)).toMatchObject({ errors: [{ extensions: { fix: expect.any(String) } }] });
    expect(seen).toContain('connection: close');
  });

  it('is no HTTP/1.0 without a host', async () => {
    const seen = await told(...before, request(['POST /graphql HTTP/1.0', TYPE, LENGTH]));
    expect(statuses(seen)).toEqual([...before.map(() => 200), 200]);
  });

  it('is asked for under the host of its target, where that names one', async () => {
    const asked = (target: string) =>
      told(...before, request([`POST ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', TYPE, LENGTH]));
    expect(statuses(await asked('http://localhost/graphql')).at(-1)).toBe(200);
    const evil = await asked('http://evil.example/graphql');
    expect(statuses(evil).at(-1)).toBe(403);
    expect(lastBody(evil)).toMatchObject({ errors: [{ extensions: { code: 'HOST_REFUSED' } }] });
  });
});

describe('what is no HTTP behind a request', () => {
  it('is refused behind the answer to that, not in its place', async () => {
    const set = '{ set { <0x1> <name> "x" . } }';
    const type = 'Content-Type: application/rdf';
    const head = ['POST /mutate?commitNow=true HTTP/1.1', 'Host: localhost', type, `Content-Length: ${set.length}`];
    const seen = await told(`${request(head, set)}GARBAGE\r\n\r\n`);
    expect(statuses(seen)).toEqual([200, 400]);
    expect(seen).toContain('"code":"Success"');
  });

  it('does not stand in the middle of a stream', async () => {
    const seen = new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(s.url);
      const socket = connect(Number(port), hostname, () =>
        socket.write('GET /changes HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      );
      let [text, asked] = ['', false];
      socket.setEncoding('latin1').on('data', (part: string) => {
        text += part;
        if (!asked && text.includes('id: ')) {
          asked = true;
          socket.write('GARBAGE\r\n\r\n');
          void s.rdf('{ set { <0x2> <name> "y" . } }');
        }
        if (text.includes('0x2')) socket.destroy();
      });
      socket.on('error', reject).on('close', () => resolve(text));
    });
    expect(statuses(await seen)).toEqual([200]);
    expect(await seen).toContain('0x2');
  });
});
