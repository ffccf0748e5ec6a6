import { describe, expect, it } from 'vitest';
import { outgoingHeaders } from './header.js';
import { readGraphqlReply, readRestReply } from './reply.js';
import { Secret } from '../base/index.js';

const reply = (status: number, body: unknown) => ({
  status,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

describe('replies', () => {
  it('keep every digit of large integers', () => {
    const body = '{"id":1231723732206411776,"near":9007199254740991}';
    expect(readRestReply(reply(200, body)).value).toEqual({ id: '1231723732206411776', near: 9007199254740991 });
  });

  it('of REST give the value, or the list of errors of a failure', () => {
    expect(readRestReply(reply(200, [1]))).toEqual({ value: [1], errors: [] });
    expect(readRestReply(reply(204, ''))).toEqual({ value: null, errors: [] });
    const told = { message: 'no', path: ['a', 0], locations: [{ line: 5, column: 4 }], other: 1 };
    expect(readRestReply(reply(400, { errors: [told, { nothing: true }] }))).toEqual({
      value: null,
      errors: [{ message: 'no', path: ['a', 0], locations: [{ line: 5, column: 4 }] }],
    });
    expect(() => readRestReply(reply(404, 'not found'))).toThrow(/status 404/);
    expect(() => readRestReply(reply(200, '<html>'))).toThrow(/not JSON/);
  });

  it('lose what nests so deep in an error that nothing could be answered with it', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const errors = [20, 20_000].map((depth) => `{"message":"m${depth}","extensions":${nested(depth)}}`);
    const told = readRestReply(reply(400, `{"errors":[${errors.join()}]}`)).errors;
    expect(told.map((error) => [error.message, 'extensions' in error])).toEqual([
      ['m20', true],
      ['m20000', false],
    ]);
  });

  it('of GraphQL keep the data beside the errors', () => {
    const both = { data: { user: { id: 1 } }, errors: [{ message: 'half' }] };
    expect(readGraphqlReply(reply(200, both), 'user')).toEqual({ value: { id: 1 }, errors: [{ message: 'half' }] });
    expect(readGraphqlReply(reply(400, { errors: [{ message: 'bad' }] }), 'user').errors).toHaveLength(1);
    expect(() => readGraphqlReply(reply(200, { data: {} }), 'user')).toThrow(/no data.user/);
    expect(() => readGraphqlReply(reply(500, 'x'), 'user')).toThrow(/status 500/);
  });
});

describe('headers', () => {
  it('are forwarded and added by their rules, and never those of the connection', () => {
    const headers = outgoingHeaders({
      forward: [
        { remote: 'X-App-Token', local: 'App' },
        { remote: 'Content-Length', local: 'Content-Length' },
        { remote: 'Accept-Encoding', local: 'Accept-Encoding' },
        { remote: 'User-Agent', local: 'User-Agent' },
        { remote: 'X-None', local: 'X-None' },
      ],
      secret: [
        { remote: 'Authorization', local: 'token' },
        { remote: 'X-Missing', local: 'missing' },
      ],
      incoming: {
        app: 'app-token',
        'content-length': '5',
        'accept-encoding': 'gzip',
        'user-agent': 'a',
        authorization: 'Bearer user',
      },
      secrets: new Map([['token', new Secret('hidden')]]),
    });
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'authorization',
      'content-type',
      'user-agent',
      'x-app-token',
    ]);
    expect(headers).toMatchObject({ accept: 'application/json', 'user-agent': 'a' });
    expect(outgoingHeaders({})['user-agent']).toBe('graphstead');
    expect(headers['x-app-token']).toBe('app-token');
    expect(JSON.stringify(headers)).not.toContain('hidden');
  });
});
