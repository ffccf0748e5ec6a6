import type { VectorMetric } from './contract.js';
import { invalidValue, shown } from './failure.js';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A vector from `[1.0, 2.0]`; commas, blanks or both between the numbers; one without dimensions from an empty text. Throws INVALID_VALUE. */
export function parseVector(text: string): Float32Array {
  const body = text.trim();
  if (body === '') return new Float32Array();
  if (!body.startsWith('[') || !body.endsWith(']')) throw notAVector(text);
  const inside = body.slice(1, -1).trim();
  const items = inside === '' ? [] : inside.split(/\s*,\s*|\s+/);
  if (!items.every((item) => NUMBER.test(item))) throw notAVector(text);
  return vectorOf(items.map(Number));
}

/** A vector of finite numbers within 32-bit range. Throws INVALID_VALUE. */
function vectorOf(numbers: readonly number[]): Float32Array {
  const vector = Float32Array.from(numbers);
  if (!vector.every(Number.isFinite)) {
    throw invalidValue('a vector holds finite 32-bit numbers only', 'Scale its numbers below 3.4e38.');
  }
  return vector;
}

function notAVector(text: string): Error {
  return invalidValue(`${shown(text)} is not a vector`, 'Write it as "[1.0, 2.0, 3.0]".');
}

/** The shortest decimal text that gives the same 32-bit float again. */
export function float32Text(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

export function vectorText(vector: Float32Array): string {
  return `[${Array.from(vector, float32Text).join(',')}]`;
}

/** Smaller is nearer: euclidean distance, 1 - cosine, negative dot product. Throws INVALID_VALUE unless the lengths agree. */
export function vectorDistance(metric: VectorMetric, a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) {
    throw invalidValue(
      `vectors of ${a.length} and ${b.length} dimensions cannot be compared`,
      'Give a vector of as many numbers as the stored ones have.',
    );
  }
  return distanceBetween(metric, vectorPoint(a), vectorPoint(b));
}

/** A vector, and its dot product with itself, which every cosine asks for. */
export interface VectorPoint {
  readonly vector: Float32Array;
  readonly square: number;
}

export function vectorPoint(vector: Float32Array): VectorPoint {
  return { vector, square: dot(vector, vector) };
}

/** As vectorDistance; a shorter vector counts as one that ends in zeros. */
export function distanceBetween(metric: VectorMetric, a: VectorPoint, b: VectorPoint): number {
  if (metric === 'euclidean') return Math.sqrt(squaredDistance(a.vector, b.vector));
  const product = dot(a.vector, b.vector);
  if (metric === 'dotproduct') return -product;
  const size = Math.sqrt(a.square * b.square);
  return size === 0 ? 1 : 1 - product / size;
}

// Four sums at a time: each step of one would have to wait for the step before.

function squaredDistance(a: Float32Array, b: Float32Array): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (; i + 4 <= short.length; i += 4) {
    s0 += (short[i] - long[i]) ** 2;
    s1 += (short[i + 1] - long[i + 1]) ** 2;
    s2 += (short[i + 2] - long[i + 2]) ** 2;
    s3 += (short[i + 3] - long[i + 3]) ** 2;
  }
  for (; i < short.length; i++) s0 += (short[i] - long[i]) ** 2;
  for (; i < long.length; i++) s0 += long[i] ** 2;
  return s0 + s1 + s2 + s3;
}

function dot(a: Float32Array, b: Float32Array): number {
  const length = Math.min(a.length, b.length);
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < length; i++) s0 += a[i] * b[i];
  return s0 + s1 + s2 + s3;
}
