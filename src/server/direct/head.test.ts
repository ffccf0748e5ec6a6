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
    expect(plainHead(headWith(['X-Api-Key:\t a b \t', 'Connection: Keep-Alive', 'empty:']))).toEqual({
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

  it.each<[string, string]>([
    ['another method', headWith([], { 0: 'GET /graphql HTTP/1.1' })],
    ['another path', headWith([], { 0: 'POST /graphql/ HTTP/1.1' })],
    ['a query string', headWith([], { 0: 'POST /graphql?a=b HTTP/1.1' })],
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
    ['the prototype', headWith(['__proto__: 1'])],
  ])('has not %s', (_, text) => {
    expect(plainHead(text)).toBeUndefined();
  });
});
