import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MAX_UID } from '../../graph/index.js';
import { UidNumbers } from './uid-numbers.js';

it('uids have numbers in the order in which they came, and keep them', () => {
  const uids = fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: MAX_UID })));
  fc.assert(
    fc.property(uids, (given) => {
      const numbers = new UidNumbers();
      const model = new Map<number, number>();
      for (const uid of given) {
        if (!model.has(uid)) model.set(uid, model.size);
        expect(numbers.of(uid)).toBe(model.get(uid));
      }
      expect(numbers.size).toBe(model.size);
      expect([...numbers.uids.subarray(0, numbers.size)]).toEqual([...model.keys()]);
    }),
  );
});
