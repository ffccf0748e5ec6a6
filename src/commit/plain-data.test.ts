import { isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../base/index.js';
import { serializePlain as plainSteps } from './plain-data.js';

const serializePlain = (value: unknown): Buffer => atOnce(plainSteps(value));

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

/** What V8 wrote of the changes below; it leaves arrays another shape where a test runner has touched their prototype. */
const BY_V8 = [
  'ff0f41016f220567726170686f22046b696e6422076368616e67657322056e616d6573410222046e616d6522056772f6df65240002220663',
  '726561746541016f22046e616d6522036167652204747970652203696e7422046c6973744622046c616e67547b0424000122036f70735c01',
  '020101220a707265646963617465735c060800000000010000002204756964735c08100000000000001c4000000000000070422205627974',
  '65735c0a04766965772203666577410649004901497e49800149feffffff0f49ffffffff0f24000622056f746865726f220468616c664e00',
  '0000000000f83f22056c617267654e000000000000e04122047a65726f4e00000000000000807b0322076e6f7468696e674104305f546f7b',
  '002400047b0a7b01240001',
];

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
    expect(serializePlain([{ graph: changes }]).toString('hex')).toBe(BY_V8.join(''));
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

it('puts the bytes of long views in between in steps, byte for byte as V8 does', () => {
  const bytes = new Uint8Array(3_000_000).map((_, i) => i % 251);
  const value = {
    first: bytes,
    part: bytes.subarray(10, 5_000),
    few: Uint32Array.of(1, 2),
    words: new Uint32Array(5_000).fill(0xabcdef01),
    numbers: new Float64Array(600_000).map((_, i) => i / 7),
    last: Buffer.from(bytes.subarray(7, 9_000)),
    after: ['end'],
  };
  const steps = plainSteps(value);
  let stops = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) stops++;
  expect(stops).toBeGreaterThanOrEqual(6);
  expect(Buffer.compare(step.value, serialize(value))).toBe(0);
  // not by `toEqual`, which looks at each of the millions of bytes by itself
  expect(isDeepStrictEqual(deserialize(step.value), value)).toBe(true);
});

it('loses nothing where what is nested ends at the end of its room', () => {
  for (const item of [1, 1.5, 'text']) {
    const lengths = { number: item === 1 ? 8_100 : 1_790, string: 2_310 };
    const first = lengths[typeof item as 'number' | 'string'];
    for (let length = first; length < first + 100; length++) {
      let value: unknown = Array.from({ length }, () => item);
      for (let depth = 0; depth < 25; depth++) value = depth % 2 === 0 ? { a: value } : [value];
      expect(deserialize(serializePlain(value))).toEqual(value);
    }
  }
});
