import { expect, it } from 'vitest';
import { FORWARDED, headersBack, headersOn } from './headers.js';

const ANEW = { id: 'r1', host: 'writer:8686', length: undefined };

it('tell the service that writes what the client said, and anew what is between the two of them', () => {
  const said = {
    host: 'reader:8687',
    expect: '100-continue',
    'x-request-id': 'of the client',
    [FORWARDED]: 'by hand',
    authorization: 'Bearer k',
    'content-length': '12',
    cookie: undefined,
    'x-list': ['a', 'b'] as unknown as string,
  };
  expect(headersOn(said, ANEW)).toEqual({
    host: 'writer:8686',
    'x-request-id': 'r1',
    [FORWARDED]: '1',
    authorization: 'Bearer k',
    'content-length': '12',
    'x-list': ['a', 'b'],
  });
  expect(headersOn(said, { ...ANEW, length: 0 })['content-length']).toBe('0');
});

it('leave out either way what belongs to one connection, also by the names that it gives', () => {
  const between = {
    connection: 'keep-alive, X-Hop , x-other',
    'keep-alive': 'timeout=5',
    'transfer-encoding': 'chunked',
    'x-hop': '1',
    'x-other': '2',
    'proxy-authenticate': 'Basic',
    'x-kept': '3',
  };
  expect(headersBack(between)).toEqual({ 'x-kept': '3' });
  expect(headersOn(between, ANEW)).toEqual({
    host: 'writer:8686',
    'x-request-id': 'r1',
    [FORWARDED]: '1',
    'x-kept': '3',
  });
});
