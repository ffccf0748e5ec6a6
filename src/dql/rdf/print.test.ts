import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GraphChange } from '../../graph/index.js';
import type { Value } from '../../values/index.js';
import { nquadLineParser } from './line.js';
import { printChange } from './print.js';

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text): Value => ({ type: 'string', value: text })),
  fc.maxSafeInteger().map((number): Value => ({ type: 'int', value: number })),
  fc.boolean().map((flag): Value => ({ type: 'bool', value: flag })),
  fc.integer().map((number): Value => ({ type: 'float', value: number / 8 })),
);

describe('N-Quads as printed', () => {
  it('read back to the same value and facets', () => {
    fc.assert(
      fc.property(value, value, (stored, facet) => {
        const change: GraphChange = {
          op: 'setValue',
          uid: 0xabc,
          predicate: 'p.q',
          value: stored,
          lang: '',
          facets: [{ key: 'k', value: facet }],
        };
        const triple = nquadLineParser()(printChange(change));
        expect(triple).toMatchObject({
          subject: { kind: 'uid', uid: 0xabc },
          predicate: 'p.q',
          object: { kind: 'literal', value: stored },
        });
        expect(triple?.facets[0].value.value).toEqual(facet.value);
      }),
    );
  });

  it('edges name both nodes', () => {
    expect(printChange({ op: 'setEdge', uid: 1, predicate: 'friend', object: 255 })).toBe('<0x1> <friend> <0xff> .');
  });
});
