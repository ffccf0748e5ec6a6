import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recent } from './recent.js';

describe('what was used recently', () => {
  it('keeps the half that was used last, and no more than it may', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 12 }),
        fc.array(fc.record({ text: fc.integer({ min: 0, max: 20 }).map(String), set: fc.boolean() }), {
          maxLength: 200,
        }),
        (most, uses) => {
          const recent = new Recent<string>(most);
          let order: string[] = [];
          for (const { text, set } of uses) {
            if (set) recent.set(text, `value of ${text}`);
            const found = recent.get(text);
            if (order.slice(0, most >> 1).includes(text)) expect(found).toBe(`value of ${text}`);
            if (found === undefined) continue;
            expect(found).toBe(`value of ${text}`);
            order = [text, ...order.filter((other) => other !== text)];
          }
          expect(recent.size).toBeLessThanOrEqual(most);
        },
      ),
    );
  });
});
