import { describe, expect, it } from 'vitest';
import { ApiKeys, isLoopback } from './keys.js';

const environment = {
  GRAPHSTEAD_API_KEYS: 'one, two',
  GRAPHSTEAD_CLIENT_KEYS: 'page',
  GRAPHSTEAD_METRICS_KEYS: 'scraper',
};

describe('API keys', () => {
  const keys = ApiKeys.of(environment);
  const opened = (headers: Record<string, string>, url?: string) =>
    ['/graphql', '/metrics', '/query', undefined].filter((path) => keys.open(path, { headers, url }));

  it('are found in X-API-Key and as a bearer', () => {
    expect(keys.size).toBe(4);
    expect(opened({ 'x-api-key': 'two' })).toHaveLength(4);
    expect(opened({ authorization: 'Bearer one' })).toHaveLength(4);
    expect(opened({ authorization: 'Bearer three' })).toEqual([]);
    expect(opened({})).toEqual([]);
  });

  it('open what their list says', () => {
    expect(opened({ 'x-api-key': 'page' })).toEqual(['/graphql']);
    expect(opened({ 'x-api-key': 'scraper' })).toEqual(['/metrics']);
    expect(opened({ 'x-api-key': 'page', authorization: 'Bearer one' })).toHaveLength(4);
    expect(keys.opensOnly({ headers: { 'x-api-key': 'page' } })).toEqual(['/graphql', '/mcp']);
    expect(keys.opensOnly({ headers: { 'x-api-key': 'one' } })).toBeUndefined();
  });

  it('stand in an address when they are for clients, never when they open everything', () => {
    expect(opened({}, '/graphql?query=x&apiKey=page')).toEqual(['/graphql']);
    expect(opened({}, '/graphql?apiKey=one')).toEqual([]);
    expect(opened({}, '/graphql?apiKey=three')).toEqual([]);
  });

  it('are taken from what rules see', () => {
    const headers = { 'x-api-key': 'page', authorization: 'Bearer token', 'dg-auth': undefined };
    expect(keys.taken(headers)).toEqual({ authorization: 'Bearer token' });
  });

  it('an empty list has no key, not even the empty one', () => {
    expect(ApiKeys.of({ GRAPHSTEAD_API_KEYS: '' }).open('/graphql', { headers: { 'x-api-key': '' } })).toBe(false);
  });

  it('a key of two kinds is refused, and not shown', () => {
    const twice = () => ApiKeys.of({ ...environment, GRAPHSTEAD_CLIENT_KEYS: 'page two' });
    expect(twice).toThrow('one key stands in GRAPHSTEAD_API_KEYS and in GRAPHSTEAD_CLIENT_KEYS');
    expect(() => ApiKeys.of({ GRAPHSTEAD_API_KEYS: 'one one' })).not.toThrow();
  });

  it('loopback is what only this machine reaches', () => {
    expect(['127.0.0.1', '127.8.8.8', '::1', 'localhost', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true);
    expect(['0.0.0.0', '10.0.0.1', '::', '192.168.0.1'].some(isLoopback)).toBe(false);
  });
});
