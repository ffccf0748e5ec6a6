import { expect, it } from 'vitest';
import { DocumentCache } from './document-cache.js';

it('keeps documents by text and variables, the least recently used go first', () => {
  const cache = new DocumentCache(2);
  let parsed = 0;
  const parse = () => {
    parsed++;
    return { blocks: [] };
  };
  const first = cache.get('a', undefined, parse);
  expect(cache.get('a', {}, parse)).toBe(first);
  expect(cache.get('a', { $x: '1' }, parse)).not.toBe(first);
  expect(cache.get('a', undefined, parse)).toBe(first);
  expect(parsed).toBe(2);
  cache.get('b', undefined, parse);
  expect(cache.get('a', undefined, parse)).toBe(first);
  cache.get('a', { $x: '1' }, parse);
  expect(parsed).toBe(4);
});

it('keeps no long texts, and nothing of a text that failed', () => {
  const cache = new DocumentCache(10);
  const long = 'x'.repeat(100_000);
  expect(cache.get(long, undefined, () => ({ blocks: [] }))).not.toBe(
    cache.get(long, undefined, () => ({ blocks: [] })),
  );
  const fail = () => {
    throw new Error('no');
  };
  expect(() => cache.get('a', undefined, fail)).toThrow('no');
  expect(cache.get('a', undefined, () => ({ blocks: [] }))).toEqual({ blocks: [] });
});
