import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import * as door from './index.js';

it('distances are smaller for what is nearer', () => {
  const [a, b, c] = ['[1 0]', '[1, 1]', '[-1, 0]'].map(door.parseVector);
  expect(door.vectorDistance('euclidean', a, c)).toBe(2);
  expect(door.vectorDistance('cosine', a, b)).toBeCloseTo(1 - Math.SQRT1_2);
  expect(door.vectorDistance('dotproduct', a, b)).toBe(-1);
  expect(() => door.vectorDistance('euclidean', a, door.parseVector('[1]'))).toThrow(/dimensions/);
});

it('distances are those of the plain sums, a shorter vector with zeros behind it', () => {
  const numbers = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { maxLength: 11 });
  const point = (of: readonly number[]) => new door.VectorPoint(Float32Array.from(of));
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

it('vectors are the same wherever their bytes lie', () => {
  const value = Float32Array.from({ length: 300 }, (_, i) => Math.sin(i));
  const stored = door.encodeValue({ type: 'float32vector', value });
  for (let before = 0; before < 9; before++) {
    for (const behind of [0, 5]) {
      const buffer = new ArrayBuffer(before + stored.length + behind);
      const bytes = new Uint8Array(buffer, before, stored.length);
      bytes.set(stored);
      expect(door.decodeValue(bytes)).toEqual({ type: 'float32vector', value });
    }
  }
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
