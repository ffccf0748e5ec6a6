import { maxHeaderSize } from 'node:http';
import { describe, expect, it } from 'vitest';
import { plainHead } from './head.js';

const PLAIN = [
  'POST /graphql HTTP/1.1',
  'Host: localhost:8686',
  'Content-Type: application/json',
  'Content-Length: 12',
];

/** The head of the plain request with some of its lines replaced, and more behind them. */
function headWith(more: readonly string[], replaced: Readonly<Record<number, string>> = {}): string {
  return [...PLAIN.map((line, i) => replaced[i] ?? line), ...more].join('\r\n');
}

describe('a plain head', () => {
  it('is read as the library reads it', () => {
    expect(plainHead(headWith(['X-Api-Key:  a b  ', 'Connection: Keep-Alive', 'empty:']))).toEqual({
      path: '/graphql',
      url: '/graphql',
      query: {},
      headers: {
        host: 'localhost:8686',
        'content-type': 'application/json',
        'content-length': '12',
        'x-api-key': 'a b',
        connection: 'Keep-Alive',
        empty: '',
      },
      length: 12,
    });
  });

  it('may have parameters that need no decoding', () => {
    const line = 'POST /mutate?commitNow=true&timeout=1.5s&hash= HTTP/1.1';
    expect(plainHead(headWith([], { 0: line }))).toMatchObject({
      path: '/mutate',
      url: '/mutate?commitNow=true&timeout=1.5s&hash=',
      query: { commitNow: 'true', timeout: '1.5s', hash: '' },
    });
  });

  it.each<[string, string]>([
    ['another method', headWith([], { 0: 'GET /graphql HTTP/1.1' })],
    ['a slash behind its path', headWith([], { 0: 'POST /graphql/ HTTP/1.1' })],
    ['a path in two parts', headWith([], { 0: 'POST /admin/schema HTTP/1.1' })],
    ['no path', headWith([], { 0: 'POST / HTTP/1.1' })],
    ['a whole address', headWith([], { 0: 'POST http://localhost/graphql HTTP/1.1' })],
    ['a parameter without a value', headWith([], { 0: 'POST /mutate?commitNow HTTP/1.1' })],
    ['a parameter without a name', headWith([], { 0: 'POST /mutate?=true HTTP/1.1' })],
    ['a parameter twice', headWith([], { 0: 'POST /mutate?a=1&a=2 HTTP/1.1' })],
    ['a parameter that needs decoding', headWith([], { 0: 'POST /mutate?a=%41 HTTP/1.1' })],
    ['a parameter with a blank', headWith([], { 0: 'POST /mutate?a=1+2 HTTP/1.1' })],
    ['a parameter with two equals signs', headWith([], { 0: 'POST /mutate?a=1=2 HTTP/1.1' })],
    ['a parameter that every object has', headWith([], { 0: 'POST /mutate?constructor=1 HTTP/1.1' })],
    ['an empty query string', headWith([], { 0: 'POST /mutate? HTTP/1.1' })],
    ['HTTP/1.0', headWith([], { 0: 'POST /graphql HTTP/1.0' })],
    ['two blanks in the request line', headWith([], { 0: 'POST  /graphql HTTP/1.1' })],
    ['no host', headWith([], { 1: 'x: y' })],
    ['an empty host', headWith([], { 1: 'Host: ' })],
    ['no length', headWith([], { 3: 'x: y' })],
    ['a length with a sign', headWith([], { 3: 'Content-Length: +12' })],
    ['a length in two parts', headWith([], { 3: 'Content-Length: 12, 12' })],
    ['a length twice', headWith(['content-length: 12'])],
    ['chunks', headWith(['Transfer-Encoding: chunked'])],
    ['a packed body', headWith(['Content-Encoding: gzip'])],
    ['a body that is asked for', headWith(['Expect: 100-continue'])],
    ['another protocol', headWith(['Upgrade: websocket'])],
    ['headers that are to come behind the body', headWith(['Trailer: x'])],
    ['the wish for such headers', headWith(['TE: trailers'])],
    ['a connection that is to end', headWith(['Connection: close'])],
    ['a list of what the connection is to be', headWith(['Connection: keep-alive, x'])],
    ['a header twice', headWith(['X-A: 1', 'x-a: 2'])],
    ['a folded header', headWith(['x-a: 1', ' 2'])],
    ['a blank before the colon', headWith(['x-a : 1'])],
    ['a line without a colon', headWith(['x-a'])],
    ['a header without a name', headWith([': 1'])],
    ['a bare line feed', headWith(['x-a: 1\nx-b: 2'])],
    ['a bare carriage return', headWith(['x-a: 1\rx-b: 2'])],
    ['a byte that is no text', headWith(['x-a: \0'])],
    ['a byte beyond ASCII', headWith(['x-a: \xe4'])],
    ['a name that every object has', headWith(['constructor: 1'])],
    ['a tab, which the library does not take everywhere', headWith([], { 3: 'Content-Length: 12\t' })],
    ['what proxies ask of a connection', headWith(['Proxy-Connection: close'])],
    ['more than the library reads', headWith([`x-a: ${'a'.repeat(maxHeaderSize)}`])],
    ['the prototype', headWith(['__proto__: 1'])],
  ])('has not %s', (_, text) => {
    expect(plainHead(text)).toBeUndefined();
  });
});
