import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonWriter } from './json-writer.js';

it('writes whole numbers as JavaScript shows them', () => {
  const any = fc.oneof(
    fc.nat(120),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }),
  );
  fc.assert(
    fc.property(any, (value) => {
      const out = new JsonWriter(undefined, 4);
      out.integer(value);
      out.integer(0);
      expect(out.view().toString()).toBe(`${value}0`);
    }),
  );
});
