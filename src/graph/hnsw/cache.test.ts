import { expect, it } from 'vitest';
import { VectorPoint } from '../../values/index.js';
import { IndexCache, type IndexMemory } from './cache.js';

const point = new VectorPoint(Float32Array.of(1, 2));

/** Fills it with one uid after the other; answers how many it took. */
function fill(memory: IndexMemory | undefined): number {
  let uid = 0;
  while (memory?.keepVector(uid + 1, point)) uid++;
  return uid;
}

it('keeps what was read of the newest state, and nothing of one before it', () => {
  const cache = new IndexCache(100_000);
  cache.of(1, 10)?.keepVector(7, point);
  expect(cache.of(1, 10)?.vectors.get(7)).toBe(point);
  expect(cache.of(1, 12)?.vectors.size).toBe(0);
  expect(cache.of(1, 10)).toBeUndefined();
});

it('holds no more than its limit, and lets go of what was searched longest ago', () => {
  const cache = new IndexCache(10_000);
  const first = cache.of(1, 10);
  const most = fill(first);
  expect(most).toBeGreaterThan(10);
  expect(cache.bytes).toBeLessThanOrEqual(10_000);
  expect(first?.keepLinks(1, [[2, 3]])).toBe(false);
  expect(fill(cache.of(2, 10))).toBe(most);
  expect(cache.bytes).toBeLessThanOrEqual(10_000);
  // searches that are under way with what is gone keep no more of it
  expect(fill(first)).toBe(0);
  expect(cache.of(1, 10)?.vectors.size).toBe(0);
});
