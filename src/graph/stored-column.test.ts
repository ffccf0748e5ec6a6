import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COLUMN_BATCH, StoredColumn } from './stored-column.js';

const value = fc.uint8Array({ minLength: 1, maxLength: 300 });
const values = fc.array(fc.option(value, { nil: undefined }), { maxLength: 60 });

/** As many places as fill a part and a little more, with values at both ends of each part. */
function long(places: number): (Uint8Array | undefined)[] {
  return Array.from({ length: places }, (_, i) => (i % 3 === 0 ? undefined : Uint8Array.of(i & 255, (i >> 8) & 255)));
}

describe('a column of stored values', () => {
  it('gives back what was put, in any order, and knows what is absent', () => {
    fc.assert(
      fc.property(values, (given) => {
        const column = new StoredColumn(given.length);
        for (let i = given.length - 1; i >= 0; i--) {
          const bytes = given[i];
          if (bytes) column.put(i, Uint8Array.of(1, ...bytes, 2), 1, 1 + bytes.length);
        }
        expect(column.map((value) => value)).toEqual(given);
        expect(column.map((_, i) => column.has(i))).toEqual(given.map((bytes) => bytes !== undefined));
        expect(StoredColumn.of(given).map((value) => value)).toEqual(given);
      }),
    );
  });

  it('tells where a value lies', () => {
    const column = StoredColumn.of([Uint8Array.of(1, 2), undefined, Uint8Array.of(3)]);
    expect(column.seek(2)).toBe(true);
    expect([...column.bytes.subarray(column.start, column.end)]).toEqual([3]);
    expect(column.seek(1)).toBe(false);
  });

  it('keeps values that were handed out while it grows', () => {
    const column = new StoredColumn(2);
    column.put(0, Uint8Array.of(7), 0, 1);
    const first = column.at(0);
    column.put(1, new Uint8Array(4_000).fill(8), 0, 4_000);
    expect(first).toEqual(Uint8Array.of(7));
    expect(column.at(1)).toEqual(new Uint8Array(4_000).fill(8));
  });

  it('is joined from batches, the last of any length', () => {
    const given = long(COLUMN_BATCH * 2 + 5);
    const batches = [0, 1, 2].map((i) => StoredColumn.of(given.slice(i * COLUMN_BATCH, (i + 1) * COLUMN_BATCH)));
    expect(StoredColumn.join(batches).map((value) => value)).toEqual(given);
    expect(StoredColumn.of(given).map((value) => value)).toEqual(given);
    expect(() => StoredColumn.join([StoredColumn.of([undefined]), batches[0]])).toThrow(/part/);
  });
});
