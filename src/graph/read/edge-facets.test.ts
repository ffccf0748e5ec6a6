import { expect, it } from 'vitest';
import type { Steps } from '../../base/index.js';
import { encodeEntries } from '../entry-map.js';
import { edgeKey, encodeFacets } from '../facet.js';
import { StoredColumn } from '../stored-column.js';
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
  const { pauses, result } = walked(facetsOfRows([row, row.subarray(0, 2)], StoredColumn.of([payload, undefined])));
  expect(pauses).toBeGreaterThan(EDGES / 600);
  expect(result[0].map((facets) => facets?.[0].value.value)).toEqual(Array.from(row, (_, i) => i));
  expect(result[1]).toEqual([]);
  expect(await inTurns([row], facetsOfRows([row], StoredColumn.of([payload])))).toEqual([result[0]]);
  expect(inTurns([row.subarray(0, 3)], facetsOfRows([row.subarray(0, 3)], StoredColumn.of([payload])))).toEqual([
    result[0].slice(0, 3),
  ]);
});

it('and those of the edges to a node, which lie with many', () => {
  const one = (i: number) => encodeEntries(new Map([[edgeKey(7), facetsOf(i)]]));
  const payloads = Array.from(row, (_, i) => (i % 2 === 0 ? one(i) : undefined));
  const { pauses, result } = walked(facetsOfReverse(Float64Array.of(7), [row], row, StoredColumn.of(payloads)));
  expect(pauses).toBeGreaterThan(EDGES / 600);
  expect(result[0].map((facets) => facets?.[0].value.value)).toEqual(
    Array.from(row, (_, i) => (i % 2 === 0 ? i : undefined)),
  );
});

it('in whatever order the facets lie, and whatever else lies beside them', () => {
  const named = (...objects: number[]) =>
    encodeEntries(
      new Map(
        objects.map((o) => [edgeKey(o), encodeFacets([{ key: `k${o % 100}`, value: { type: 'int', value: o } }])]),
      ),
    );
  const many = Array.from({ length: 300 }, (_, i) => ((i * 7) % 300) + 1);
  const rows = [Float64Array.of(2, 5, 9), new Float64Array(0), Float64Array.from(many).sort()];
  const { result } = walked(facetsOfRows(rows, StoredColumn.of([named(9, 2, 4), named(1), named(...many)])));
  const keysAndValues = result.map((row) =>
    row.map((facets) => facets?.map(({ key, value }) => `${key}=${value.value}`)),
  );
  expect(keysAndValues).toEqual([[['k2=2'], undefined, ['k9=9']], [], [...rows[2]].map((o) => [`k${o % 100}=${o}`])]);

  const subjects = Float64Array.of(3, 4, 8);
  const toNodes = [Float64Array.of(3, 8), Float64Array.of(4, 8), Float64Array.of(4)];
  const behind = StoredColumn.of([named(20, 30), named(50), named(30, 10, 20)]);
  const reverse = walked(facetsOfReverse(Float64Array.of(10, 20, 40), toNodes, subjects, behind)).result;
  expect(reverse.map((row) => row.map((facets) => facets?.[0].value.value))).toEqual([
    [undefined, 10],
    [undefined, 20],
    [],
  ]);
});
