import { describe, expect, it } from 'vitest';
import { graphTarget } from './graph-target.js';

describe('where a graph connection goes', () => {
  const target = (grpcTarget: string, key?: string) => graphTarget({ type: 'graph', grpcTarget, key });

  it('is a host and a port, without TLS', () => {
    expect(target('graph.example:9080')).toEqual({ address: 'graph.example:9080', tls: 'none', metadata: {} });
    expect(target('[::1]:9080').address).toBe('[::1]:9080');
  });

  it('has TLS when it says so, and the key with each call', () => {
    expect(target('https://graph.example', 'k')).toEqual({
      address: 'graph.example:443',
      tls: 'verified',
      metadata: { authorization: 'Bearer k' },
    });
  });

  it("may be the peer's address, with all that it says", () => {
    const connStr = 'dgraph://ann:p%40ss@graph.example:9080?sslmode=require&bearertoken=b';
    expect(graphTarget({ type: 'dgraph', connStr })).toEqual({
      address: 'graph.example:9080',
      tls: 'encrypted',
      metadata: { authorization: 'Bearer b' },
      user: 'ann',
      password: 'p@ss',
    });
    expect(graphTarget({ type: 'dgraph', connString: 'dgraph://h:1?apikey=a' }).metadata).toEqual({
      authorization: 'a',
    });
  });

  it('is refused when it is none', () => {
    expect(() => target('not an address')).toThrow('host:port');
    expect(() => target('dgraph://h:1?sslmode=perhaps')).toThrow('sslmode');
  });
});
