import type { VectorMetric } from './contract.js';
import { invalidValue, shown } from './failure.js';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A vector from `[1.0, 2.0]`; commas, blanks or both between the numbers. Throws INVALID_VALUE. */
export function parseVector(text: string): Float32Array {
  const body = text.trim();
  if (!body.startsWith('[') || !body.endsWith(']')) throw notAVector(text);
  const inside = body.slice(1, -1).trim();
  const items = inside === '' ? [] : inside.split(/\s*,\s*|\s+/);
  if (!items.every((item) => NUMBER.test(item))) throw notAVector(text);
  return vectorOf(items.map(Number));
}

/** A vector of finite numbers within 32-bit range. Throws INVALID_VALUE. */
function vectorOf(numbers: readonly number[]): Float32Array {
  const vector = Float32Array.from(numbers);
  if (!vector.every(Number.isFinite)) throw invalidValue('a vector holds finite 32-bit numbers only');
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

/** Smaller is nearer: euclidean distance, 1 - cosine, negative dot product. Lengths must agree. */
export function vectorDistance(metric: VectorMetric, a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) {
    throw invalidValue(`vectors of ${a.length} and ${b.length} dimensions cannot be compared`);
  }
  if (metric === 'euclidean') return Math.sqrt(squaredDistance(a, b));
  if (metric === 'dotproduct') return -dot(a, b);
  const size = Math.sqrt(dot(a, a) * dot(b, b));
  return size === 0 ? 1 : 1 - dot(a, b) / size;
}

function squaredDistance(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const d = a[i] - b[i];
    sum += d * d;
  }
  return sum;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
