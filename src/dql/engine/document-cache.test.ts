import { expect, it } from 'vitest';
import { makeLimits, type Steps } from '../../base/index.js';
import { parseQuerySteps } from '../parse/index.js';
import type { QueryDocument } from '../syntax/index.js';
import { DocumentCache } from './document-cache.js';

const cacheOf = (limits: Parameters<typeof makeLimits>[0]) => new DocumentCache(makeLimits(limits));
const noPause = () => undefined;

it('keeps documents by text and variables, the least recently used go first', () => {
  const cache = cacheOf({ documentCache: 2 });
  let parsed = 0;
  // biome-ignore lint/correctness/useYield: a short text is read in one step
  const parse = function* (): Steps<QueryDocument> {
    parsed++;
    return { blocks: [] };
  };
  const get = (text: string, variables?: Record<string, string>) => cache.get(text, variables, parse, noPause);
  const first = get('a');
  expect(get('a', {})).toBe(first);
  expect(get('a', { $x: '1' })).not.toBe(first);
  expect(get('a')).toBe(first);
  expect(parsed).toBe(2);
  get('b');
  expect(get('a')).toBe(first);
  get('a', { $x: '1' });
  expect(parsed).toBe(4);
});

it('keeps nothing of a text that failed', () => {
  const cache = cacheOf({ documentCache: 10 });
  const get = (text: string) => cache.get('a', undefined, () => parseQuerySteps(text), noPause);
  expect(() => get('{')).toThrow('not closed');
  expect(get('{ q(func: uid(0x1)) { uid } }')).toMatchObject({ blocks: [{ name: 'q' }] });
});

it('keeps no long texts, and reads them with a pause after each block', async () => {
  const cache = cacheOf({});
  const long = `{ ${Array.from({ length: 5_000 }, (_, i) => `q${i}(func: uid(0x1)) { uid }`).join(' ')} }`;
  let pauses = 0;
  const get = () =>
    cache.get(
      long,
      undefined,
      () => parseQuerySteps(long),
      () => void pauses++,
    );
  const [first, second] = await Promise.all([get(), get()]);
  expect(first.blocks).toHaveLength(5_000);
  expect(first).not.toBe(second);
  expect(pauses).toBeGreaterThan(2 * 5_000);
});

it('keeps documents while there is room for their texts and the fields that fragments make', () => {
  const cache = cacheOf({ documentCacheBytes: 4_000 });
  const get = (text: string) => cache.get(text, undefined, () => parseQuerySteps(text), noPause);
  const twice =
    '{ q(func: uid(0x1)) { ...a } } fragment a { x { ...b } y { ...b } } fragment b { x { ...c } y { ...c } }';
  const small = `${twice} fragment c { uid }`;
  const large = `${twice} fragment c { x { ...d } y { ...d } } fragment d { a b c d e }`;
  expect(get(small)).toBe(get(small));
  expect(get(large)).not.toBe(get(large));
});
