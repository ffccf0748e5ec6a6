import { GraphsteadError } from '../../base/index.js';
import { decodeValue, distanceBetween, type VectorMetric, VectorPoint } from '../../values/index.js';
import type { GraphReader, IndexSpec, Predicate } from '../contract.js';
import { compareNeighbours, type Neighbour } from '../hnsw/heap.js';
import { EF_SEARCH, Hnsw, type HnswOptions } from '../hnsw/hnsw.js';
import type { IndexCache } from '../hnsw/cache.js';
import { HnswStore } from '../hnsw/store.js';
import type { Source } from '../source.js';

/** Up to so many vectors, comparing with each is as fast as walking the index, and exact. */
const SCAN_VECTORS = 2_000;

interface SimilarOptions {
  readonly ef?: number;
  readonly distanceThreshold?: number;
  readonly filter?: (uid: number) => boolean;
}

/** What an hnsw index is built with; names of options are read in any case. */
export function hnswOptions(index: IndexSpec): HnswOptions & { readonly efSearch?: number } {
  const options = new Map(Object.entries(index.options).map(([name, value]) => [name.toLowerCase(), value]));
  const number = (name: string) => (options.has(name) ? { value: Number(options.get(name)) } : undefined);
  const efConstruction = number('efconstruction')?.value;
  const maxLevels = number('maxlevels')?.value;
  const efSearch = number('efsearch')?.value;
  return {
    metric: metricNamed(options.get('metric')),
    ...(efConstruction ? { efConstruction } : {}),
    ...(maxLevels ? { maxLevels } : {}),
    ...(efSearch ? { efSearch } : {}),
  };
}

function metricNamed(name: string | undefined): VectorMetric {
  return name === 'cosine' || name === 'dotproduct' ? name : 'euclidean';
}

/** The distance by dot product is told as 1 - a·b, as the peer does, so that equal unit vectors are at 0 by each metric. */
const DOT_PRODUCT_SHIFT = 1;

/**
 * The k nearest vectors, nearest first: exact while there are few, or where a filter or vectors of another length leave
 * few of what the index finds. Throws INVALID_VALUE where each vector it could compare with has another length.
 */
export async function nearest(
  reader: GraphReader,
  source: Source,
  predicate: Predicate,
  index: IndexSpec,
  vector: Float32Array,
  k: number,
  options: SimilarOptions,
  cache?: IndexCache,
): Promise<readonly Neighbour[]> {
  const settings = hnswOptions(index);
  const store = new HnswStore(source, predicate.id, undefined, cache);
  const entry = await store.entry();
  if (!entry) return [];
  const shift = settings.metric === 'dotproduct' ? DOT_PRODUCT_SHIFT : 0;
  const limit = (options.distanceThreshold ?? Number.POSITIVE_INFINITY) - shift;
  const told = (found: readonly Neighbour[]) =>
    found.flatMap(({ uid, distance }) => (distance <= limit ? [{ uid, distance: distance + shift }] : []));
  if (entry.count > SCAN_VECTORS) {
    const ef = Math.max(k, options.ef ?? settings.efSearch ?? EF_SEARCH);
    const found = await new Hnsw(store, settings).search(vector, ef);
    const passing = options.filter ? found.filter(({ uid }) => options.filter!(uid)) : found;
    // what lets few through may hide near ones from the walk
    if (passing.length >= Math.min(k, entry.count)) {
      return told(passing.slice(0, k));
    }
  }
  return told(await scan(reader, predicate, settings.metric, vector, k, options.filter));
}

async function scan(
  reader: GraphReader,
  predicate: Predicate,
  metric: VectorMetric,
  vector: Float32Array,
  k: number,
  filter: SimilarOptions['filter'],
): Promise<readonly Neighbour[]> {
  const point = new VectorPoint(vector);
  let best: Neighbour[] = [];
  let compared = false;
  let other: number | undefined;
  for await (const page of reader.having(predicate)) {
    const uids = filter ? page.filter(filter) : page;
    const values = await reader.values(predicate, uids);
    for (let i = 0; i < uids.length; i++) {
      const stored = values.at(i);
      const value = stored && decodeValue(stored);
      if (value?.type !== 'float32vector') continue;
      if (value.value.length !== vector.length) {
        other = value.value.length;
        continue;
      }
      compared = true;
      best.push({ uid: uids[i], distance: distanceBetween(metric, point, new VectorPoint(value.value)) });
    }
    best.sort(compareNeighbours);
    if (best.length > k) best = best.slice(0, k);
  }
  if (!compared && other !== undefined) throw otherLength(predicate, other, vector.length);
  return best;
}

function otherLength(predicate: Predicate, stored: number, asked: number): GraphsteadError {
  return new GraphsteadError(
    'INVALID_VALUE',
    `vectors of ${predicate.name} have ${stored} dimensions, and what is searched for has ${asked}`,
    { fix: 'Search with a vector of the model that made the stored ones.' },
  );
}
