import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VectorMetric } from '../contract.js';
import type { DistanceLoops } from './contract.js';
import { distanceBetween, VectorPoint } from './distance.js';
import { loopsOf, type WasmEngine } from './kernel.js';
import { LANES, PLAIN } from './plain.js';

const { WebAssembly: engine } = globalThis as unknown as { readonly WebAssembly: WasmEngine };

/** Lengths on both sides of where the kernel begins and ends, most of them no whole lanes. */
const LENGTHS = [0, 1, 7, 8, 63, 64, 65, 71, 128, 129, 767, 768, 1_536, 1_543, 32_768, 32_769];

/** Floats of any size, so that no two orders of adding them give the same. */
function vector(length: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return ((state >>> 8) / 0x400000 - 1) * 10 ** ((state % 17) - 8);
  });
}

/** What is compared with, in plain sums. */
function model(metric: VectorMetric, a: Float32Array, b: Float32Array): number {
  const [x, y] = [a, b].map((one) => Array.from({ length: Math.max(a.length, b.length) }, (_, i) => one[i] ?? 0));
  const product = (p: number[], q: number[]) => p.reduce((sum, value, i) => sum + value * q[i], 0);
  if (metric === 'euclidean') return Math.hypot(...x.map((value, i) => value - y[i]));
  if (metric === 'dotproduct') return -product(x, y);
  const size = Math.sqrt(product(x, x) * product(y, y));
  return size === 0 ? 1 : 1 - product(x, y) / size;
}

/** The largest that a distance may be, which says what rounding may do to it. */
function scale(metric: VectorMetric, a: Float32Array, b: Float32Array): number {
  if (metric === 'cosine') return 1;
  return metric === 'euclidean' ? Math.hypot(...a, ...b) : Math.hypot(...a) * Math.hypot(...b);
}

it.each(['euclidean', 'cosine', 'dotproduct'] as const)(
  'distances by %s are those of plain sums, whatever the lengths',
  (metric) => {
    for (const [i, length] of LENGTHS.entries()) {
      for (const other of [length, 70, 3]) {
        const [a, b] = [vector(length, i + 1), vector(other, i + 50)];
        const distance = distanceBetween(metric, new VectorPoint(a), new VectorPoint(b));
        expect(Math.abs(distance - model(metric, a, b))).toBeLessThanOrEqual(1e-12 * scale(metric, a, b));
      }
    }
  },
);

describe('the loops in WebAssembly', () => {
  const kernel = loopsOf(engine);
  const whole = (length: number) => length - (length % LANES);
  const same = (loops: DistanceLoops, a: Float32Array, b: Float32Array) => {
    const length = whole(Math.min(a.length, b.length));
    expect(loops.dot(a, b, length)).toBe(PLAIN.dot(a, b, length));
    expect(loops.squares(a, b, length)).toBe(PLAIN.squares(a, b, length));
    expect(loops.dot(a, a, whole(a.length))).toBe(PLAIN.dot(a, a, whole(a.length)));
  };

  it('are there on this machine', () => expect(kernel).not.toBe(PLAIN));

  it('come to the same bits as those in JavaScript, in any order of questions', () => {
    const vectors = LENGTHS.map((length, i) => vector(length, i + 7));
    fc.assert(
      fc.property(fc.constantFrom(...vectors), fc.constantFrom(...vectors), (a, b) => same(kernel, a, b)),
      { numRuns: 300 },
    );
  });

  it('keep numbers at the ends of the range apart', () => {
    const of = (value: number) => new Float32Array(64).fill(value);
    for (const value of [3e38, 1e-45, -1e-38, 0]) same(kernel, of(value), of(-value / 3));
    expect(kernel.squares(of(3e38), of(-3e38), 64)).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(kernel.dot(of(1e-44), of(1e-44), 64)).toBeGreaterThan(0);
  });

  it('are left where there is no WebAssembly, no vectors in it, or no room', () => {
    const failing = (name: 'Module' | 'Instance'): WasmEngine => ({
      ...{ Module: engine.Module, Instance: engine.Instance },
      [name]: class {
        constructor() {
          throw new RangeError('not on this machine');
        }
      },
    });
    expect([undefined, failing('Module'), failing('Instance')].map(loopsOf)).toEqual([PLAIN, PLAIN, PLAIN]);
  });
});
