import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import * as door from './index.js';

it('levenshtein counts edits of code points', () => {
  expect(door.levenshteinWithin('kitten', 'sitting', 3)).toBe(true);
  expect(door.levenshteinWithin('kitten', 'sitting', 2)).toBe(false);
  expect(door.levenshteinWithin('', 'abc', 3)).toBe(true);
  expect(door.levenshteinWithin('😀a', 'a', 1)).toBe(true);
  expect(door.levenshteinWithin('same', 'same', 0)).toBe(true);
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
      expect(door.levenshteinWithin(a, b, max)).toBe(edits(a, b) <= max);
    }),
  );
  // 10^10 steps if every row were gone through from end to end
  expect(door.levenshteinWithin('a'.repeat(100_000), `${'a'.repeat(99_999)}b`, 1)).toBe(true);
});

it('distances are smaller for what is nearer', () => {
  const [a, b, c] = ['[1 0]', '[1, 1]', '[-1, 0]'].map(door.parseVector);
  expect(door.vectorDistance('euclidean', a, c)).toBe(2);
  expect(door.vectorDistance('cosine', a, b)).toBeCloseTo(1 - Math.SQRT1_2);
  expect(door.vectorDistance('dotproduct', a, b)).toBe(-1);
  expect(() => door.vectorDistance('euclidean', a, door.parseVector('[1]'))).toThrow(/dimensions/);
});

it('distances are those of the plain sums, a shorter vector with zeros behind it', () => {
  const numbers = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { maxLength: 11 });
  const point = (of: readonly number[]) => door.vectorPoint(Float32Array.from(of));
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      const at = (of: readonly number[], i: number) => of[i] ?? 0;
      const sum = (each: (i: number) => number) => [...Array(11).keys()].reduce((all, i) => all + each(i), 0);
      const product = sum((i) => at(a, i) * at(b, i));
      const size = Math.sqrt(sum((i) => at(a, i) ** 2) * sum((i) => at(b, i) ** 2));
      expect(door.distanceBetween('dotproduct', point(a), point(b))).toBe(-product);
      expect(door.distanceBetween('cosine', point(a), point(b))).toBe(size === 0 ? 1 : 1 - product / size);
      const squares = sum((i) => (at(a, i) - at(b, i)) ** 2);
      expect(door.distanceBetween('euclidean', point(a), point(b))).toBe(Math.sqrt(squares));
    }),
  );
});

it('texts have an order in each language', () => {
  expect(['z', 'ä', 'a'].sort((x, y) => door.compareTexts(x, y, 'de'))).toEqual(['a', 'ä', 'z']);
  expect(['z', 'ä', 'a'].sort((x, y) => door.compareTexts(x, y, 'sv'))).toEqual(['a', 'z', 'ä']);
});

it('languages that are kept for their order are bounded', () => {
  const made = vi.spyOn(Intl.Collator, 'supportedLocalesOf');
  const compare = (lang: string) => expect(door.compareTexts('a', 'b', lang)).toBe(-1);
  compare('fi');
  compare('fi');
  expect(made).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 1_000; i++) compare(`fi-x-a${i}`);
  compare('fi');
  expect(made).toHaveBeenCalledTimes(1_002);
  made.mockRestore();
});
