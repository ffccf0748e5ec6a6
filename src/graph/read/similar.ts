import { decodeValue, type VectorMetric, vectorDistance } from '../../values/index.js';
import type { GraphReader, IndexSpec, Predicate } from '../contract.js';

export interface Neighbour {
  readonly uid: number;
  readonly distance: number;
}

/** The metric of an hnsw index. */
export function metricOf(index: IndexSpec): VectorMetric {
  const named = index.options['metric'];
  return named === 'cosine' || named === 'dotproduct' ? named : 'euclidean';
}

/** The k nearest vectors by comparing with every stored one: exact, and linear in their number. */
export async function nearest(
  reader: GraphReader,
  predicate: Predicate,
  index: IndexSpec,
  vector: Float32Array,
  k: number,
  options: { readonly distanceThreshold?: number; readonly filter?: (uid: number) => boolean },
): Promise<readonly Neighbour[]> {
  const metric = metricOf(index);
  const limit = options.distanceThreshold ?? Number.POSITIVE_INFINITY;
  let best: Neighbour[] = [];
  for await (const page of reader.having(predicate)) {
    const uids = options.filter ? page.filter(options.filter) : page;
    const values = await reader.values(predicate, uids);
    values.forEach((stored, i) => {
      const value = stored && decodeValue(stored);
      if (value?.type !== 'float32vector' || value.value.length !== vector.length) return;
      const distance = vectorDistance(metric, vector, value.value);
      if (distance <= limit) best.push({ uid: uids[i], distance });
    });
    best.sort((a, b) => a.distance - b.distance || a.uid - b.uid);
    if (best.length > k) best = best.slice(0, k);
  }
  return best;
}
