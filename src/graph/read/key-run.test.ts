import fc from 'fast-check';
import { expect, it } from 'vitest';
import { blockKey, FAMILY } from '../key.js';
import { BlockKeys, ListedKeys } from './key-run.js';

it('writes the keys of blocks as they stand by themselves', () => {
  const block = fc.oneof(
    fc.nat(300),
    fc.nat(100_000),
    fc.maxSafeNat().map((uid) => Math.floor(uid / 32)),
  );
  fc.assert(
    fc.property(fc.nat(5_000), fc.array(block, { minLength: 1, maxLength: 20 }), (predicate, blocks) => {
      const keys = blocks.map((one) => blockKey(predicate, FAMILY.edge, one, 0));
      const run = new BlockKeys(predicate, FAMILY.edge, blocks.length);
      for (const one of blocks) run.push(one);
      expect(run.length).toBe(blocks.length);
      for (const each of [run, new ListedKeys(keys)]) {
        const written = keys.map((_, i) => {
          const target = new Uint8Array(64);
          return target.slice(5, each.write(i, target, 5));
        });
        expect(written).toEqual(keys);
        expect(keys.map((_, i) => each.key(i))).toEqual(keys);
      }
    }),
  );
});
