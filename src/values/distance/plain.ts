import type { DistanceLoops } from './contract.js';

/** Sums that are kept side by side: each step of one alone would have to wait for the step before. */
export const LANES = 8;

/** The loops in JavaScript. The kernel adds in the same order: what differs in the last bit would be another index. */
export const PLAIN: DistanceLoops = {
  dot(a, b, length) {
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    let s4 = 0;
    let s5 = 0;
    let s6 = 0;
    let s7 = 0;
    for (let i = 0; i < length; i += LANES) {
      s0 += a[i] * b[i];
      s1 += a[i + 1] * b[i + 1];
      s2 += a[i + 2] * b[i + 2];
      s3 += a[i + 3] * b[i + 3];
      s4 += a[i + 4] * b[i + 4];
      s5 += a[i + 5] * b[i + 5];
      s6 += a[i + 6] * b[i + 6];
      s7 += a[i + 7] * b[i + 7];
    }
    return s0 + s2 + s4 + s6 + (s1 + s3 + s5 + s7);
  },

  squares(a, b, length) {
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    let s4 = 0;
    let s5 = 0;
    let s6 = 0;
    let s7 = 0;
    for (let i = 0; i < length; i += LANES) {
      const d0 = a[i] - b[i];
      const d1 = a[i + 1] - b[i + 1];
      const d2 = a[i + 2] - b[i + 2];
      const d3 = a[i + 3] - b[i + 3];
      const d4 = a[i + 4] - b[i + 4];
      const d5 = a[i + 5] - b[i + 5];
      const d6 = a[i + 6] - b[i + 6];
      const d7 = a[i + 7] - b[i + 7];
      s0 += d0 * d0;
      s1 += d1 * d1;
      s2 += d2 * d2;
      s3 += d3 * d3;
      s4 += d4 * d4;
      s5 += d5 * d5;
      s6 += d6 * d6;
      s7 += d7 * d7;
    }
    return s0 + s2 + s4 + s6 + (s1 + s3 + s5 + s7);
  },
};
