import fc from 'fast-check';
import { expect, it } from 'vitest';
import { levenshteinWithin } from './index.js';

it('levenshtein counts edits of code points', () => {
  expect(levenshteinWithin('kitten', 'sitting', 3)).toBe(true);
  expect(levenshteinWithin('kitten', 'sitting', 2)).toBe(false);
  expect(levenshteinWithin('', 'abc', 3)).toBe(true);
  expect(levenshteinWithin('😀a', 'a', 1)).toBe(true);
  expect(levenshteinWithin('same', 'same', 0)).toBe(true);
});

it('levenshtein looks at no more than what lies within the distance', () => {
  const edits = (a: string, b: string): number => {
    if (a === '' || b === '') return a.length + b.length;
    const [x, y] = [a.slice(1), b.slice(1)];
    return Math.min(edits(x, y) + (a[0] === b[0] ? 0 : 1), edits(x, b) + 1, edits(a, y) + 1);
  };
  const word = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
  fc.assert(
    fc.property(word, word, fc.nat(4), (a, b, max) => {
      expect(levenshteinWithin(a, b, max)).toBe(edits(a, b) <= max);
    }),
  );
  // 10^10 steps if every row were gone through from end to end
  expect(levenshteinWithin('a'.repeat(100_000), `${'a'.repeat(99_999)}b`, 1)).toBe(true);
});
