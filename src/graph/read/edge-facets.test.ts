import { expect, it } from 'vitest';
import type { Steps } from '../../base/index.js';
import { encodeEntries } from '../entry-map.js';
import { edgeKey, encodeFacets } from '../facet.js';
import { facetsOfReverse, facetsOfRows, inTurns } from './edge-facets.js';

const EDGES = 5_000;
const row = Float64Array.from({ length: EDGES }, (_, i) => i + 1);
const facetsOf = (i: number) => encodeFacets([{ key: 'w', value: { type: 'int', value: i } }]);
const payload = encodeEntries(new Map(Array.from(row, (object, i) => [edgeKey(object), facetsOf(i)])));

function walked<T>(steps: Steps<T>): { pauses: number; result: T } {
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return { pauses, result: step.value };
    pauses++;
  }
}

it('facets of a node with many edges are decoded in steps', async () => {
  const { pauses, result } = walked(facetsOfRows([row, row.subarray(0, 2)], [payload, undefined]));
  expect(pauses).toBeGreaterThan(30);
  expect(result[0].map((facets) => facets?.[0].value.value)).toEqual(Array.from(row, (_, i) => i));
  expect(result[1]).toEqual([]);
  expect(await inTurns([row], facetsOfRows([row], [payload]))).toEqual([result[0]]);
  expect(inTurns([row.subarray(0, 3)], facetsOfRows([row.subarray(0, 3)], [payload]))).toEqual([result[0].slice(0, 3)]);
});

it('and those of the edges to a node, which lie with many', () => {
  const one = (i: number) => encodeEntries(new Map([[edgeKey(7), facetsOf(i)]]));
  const payloads = Array.from(row, (_, i) => (i % 2 === 0 ? one(i) : undefined));
  const { pauses, result } = walked(facetsOfReverse(Float64Array.of(7), [row], row, payloads));
  expect(pauses).toBeGreaterThan(30);
  expect(result[0].map((facets) => facets?.[0].value.value)).toEqual(
    Array.from(row, (_, i) => (i % 2 === 0 ? i : undefined)),
  );
});
