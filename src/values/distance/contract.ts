/** What distances are made of, over the first `length` numbers of two vectors; `length` is a multiple of LANES. */
export interface DistanceLoops {
  /** the sum of products */
  dot(a: Float32Array, b: Float32Array, length: number): number;
  /** the sum of squared differences */
  squares(a: Float32Array, b: Float32Array, length: number): number;
}
