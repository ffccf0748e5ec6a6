import { expect, it } from 'vitest';
import type { ValuesDoor } from './contract.js';
import * as door from './index.js';

it('the door offers what its contract lists', () => {
  // the types say so; that each is there at run time is seen here
  const listed: ValuesDoor = door;
  expect(Object.values(listed).filter((offered) => typeof offered !== 'function')).toEqual([]);
});

it('levenshtein counts edits of code points', () => {
  expect(door.levenshteinWithin('kitten', 'sitting', 3)).toBe(true);
  expect(door.levenshteinWithin('kitten', 'sitting', 2)).toBe(false);
  expect(door.levenshteinWithin('', 'abc', 3)).toBe(true);
  expect(door.levenshteinWithin('😀a', 'a', 1)).toBe(true);
  expect(door.levenshteinWithin('same', 'same', 0)).toBe(true);
});

it('distances are smaller for what is nearer', () => {
  const [a, b, c] = ['[1 0]', '[1, 1]', '[-1, 0]'].map(door.parseVector);
  expect(door.vectorDistance('euclidean', a, c)).toBe(2);
  expect(door.vectorDistance('cosine', a, b)).toBeCloseTo(1 - Math.SQRT1_2);
  expect(door.vectorDistance('dotproduct', a, b)).toBe(-1);
  expect(() => door.vectorDistance('euclidean', a, door.parseVector('[1]'))).toThrow(/dimensions/);
});

it('texts have an order in each language', () => {
  expect(['z', 'ä', 'a'].sort((x, y) => door.compareTexts(x, y, 'de'))).toEqual(['a', 'ä', 'z']);
  expect(['z', 'ä', 'a'].sort((x, y) => door.compareTexts(x, y, 'sv'))).toEqual(['a', 'z', 'ä']);
});
