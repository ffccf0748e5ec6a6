import { describe, expect, it } from 'vitest';
import { ApiKeys, isLoopback, keyOf } from './keys.js';

describe('API keys', () => {
  it('are found in X-API-Key and as a bearer', () => {
    const keys = ApiKeys.fromText('one, two');
    expect(keys.size).toBe(2);
    expect(keys.has(keyOf({ 'x-api-key': 'two' }))).toBe(true);
    expect(keys.has(keyOf({ authorization: 'Bearer one' }))).toBe(true);
    expect(keys.has(keyOf({ authorization: 'Bearer three' }))).toBe(false);
    expect(keys.has(undefined)).toBe(false);
  });

  it('an empty list has no key, not even the empty one', () => {
    expect(ApiKeys.fromText('').has('')).toBe(false);
  });

  it('loopback is what only this machine reaches', () => {
    expect(['127.0.0.1', '127.8.8.8', '::1', 'localhost', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true);
    expect(['0.0.0.0', '10.0.0.1', '::', '192.168.0.1'].some(isLoopback)).toBe(false);
  });
});
