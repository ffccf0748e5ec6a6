import { describe, expect, it } from 'vitest';
import { randomTexts } from './random-texts.js';

describe('random texts', () => {
  it.each([
    ['hex', 8, /^[0-9a-f]{16}$/],
    ['base64url', 15, /^[\w-]{20}$/],
  ] as const)('in %s are of one length, and none comes twice', (encoding, bytes, form) => {
    const next = randomTexts(bytes, encoding);
    const texts = Array.from({ length: 2_000 }, next);
    expect(texts.filter((text) => !form.test(text))).toEqual([]);
    expect(new Set(texts).size).toBe(2_000);
  });
});
