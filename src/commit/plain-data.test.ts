import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serializePlain } from './plain-data.js';

const view = fc.oneof(
  fc.uint8Array({ maxLength: 100 }),
  fc.uint32Array({ maxLength: 20 }),
  fc.float64Array({ maxLength: 20 }),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  fc.int16Array({ maxLength: 20 }),
);
const plain = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: false,
  values: [fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), view],
});

describe('plain data as commits hold it', () => {
  it('is read back by V8 as what V8 itself would have written', () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(deserialize(serializePlain(value))).toStrictEqual(deserialize(serialize(value)));
      }),
    );
  });

  it('is, for the changes of a graph, byte for byte what V8 writes', () => {
    const bytes = Buffer.from('a view into a larger buffer').subarray(2, 6);
    const changes = {
      kind: 'changes',
      names: ['name', 'größe'],
      create: [{ name: 'age', type: 'int', list: false, lang: true }],
      ops: Uint8Array.of(1, 1),
      predicates: Uint32Array.of(0, 1),
      uids: Float64Array.of(7, 2 ** 40),
      bytes,
      few: [0, -1, 63, 64, 2 ** 31 - 1, -(2 ** 31)],
      other: { half: 1.5, large: 2 ** 31, zero: -0 },
      nothing: [null, undefined, true, {}],
    };
    expect(serializePlain([{ graph: changes }])).toEqual(serialize([{ graph: changes }]));
  });

  it('is left to V8 where it is large, deep, or not so plain', () => {
    let deep: unknown = 'end';
    for (let i = 0; i < 1_000; i++) deep = [deep];
    const round: { self?: unknown } = {};
    round.self = round;
    const large = Array.from({ length: 10_000 }, (_, i) => i);
    const holes = new Array(3);
    for (const value of [deep, round, large, 'x'.repeat(300), new Uint8Array(20_000), { 1: 'one' }, holes, 'Ω']) {
      expect(serializePlain(value)).toEqual(serialize(value));
    }
    expect(() => serializePlain({ call: () => 1 })).toThrow('could not be cloned');
    expect(() => serializePlain([Symbol('s')])).toThrow('could not be cloned');
  });
});
