import type { VectorMetric } from '../contract.js';
import { invalidValue } from '../failure.js';
import { distanceLoops } from './kernel.js';
import { LANES } from './plain.js';

/** Smaller is nearer: euclidean distance, 1 - cosine, negative dot product. Throws INVALID_VALUE unless the lengths agree. */
export function vectorDistance(metric: VectorMetric, a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) {
    throw invalidValue(
      `vectors of ${a.length} and ${b.length} dimensions cannot be compared`,
      'Give a vector of as many numbers as the stored ones have.',
    );
  }
  return distanceBetween(metric, new VectorPoint(a), new VectorPoint(b));
}

/** A vector, and its dot product with itself, which every cosine asks for. The vector must not change. */
export class VectorPoint {
  #square: number | undefined;

  constructor(readonly vector: Float32Array) {}

  get square(): number {
    this.#square ??= dot(this.vector, this.vector);
    return this.#square;
  }
}

/** As vectorDistance; a shorter vector counts as one that ends in zeros. The first of many comparisons with one vector. */
export function distanceBetween(metric: VectorMetric, a: VectorPoint, b: VectorPoint): number {
  if (metric === 'euclidean') return Math.sqrt(squaredDistance(a.vector, b.vector));
  const product = dot(a.vector, b.vector);
  if (metric === 'dotproduct') return -product;
  const size = Math.sqrt(a.square * b.square);
  return size === 0 ? 1 : 1 - product / size;
}

function squaredDistance(a: Float32Array, b: Float32Array): number {
  const common = Math.min(a.length, b.length);
  const whole = common - (common % LANES);
  let sum = distanceLoops().squares(a, b, whole);
  for (let i = whole; i < common; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  const longer = a.length > b.length ? a : b;
  for (let i = common; i < longer.length; i++) sum += longer[i] * longer[i];
  return sum;
}

function dot(a: Float32Array, b: Float32Array): number {
  const common = Math.min(a.length, b.length);
  const whole = common - (common % LANES);
  let sum = distanceLoops().dot(a, b, whole);
  for (let i = whole; i < common; i++) sum += a[i] * b[i];
  return sum;
}
