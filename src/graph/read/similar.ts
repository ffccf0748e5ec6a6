import { GraphsteadError } from '../../base/index.js';
import { decodeValue, distanceBetween, type VectorMetric, VectorPoint } from '../../values/index.js';
import type { GraphReader, IndexSpec, Predicate, SimilarOptions } from '../contract.js';
import { type Neighbour, NeighbourHeap } from '../hnsw/heap.js';
import { EF_SEARCH, Hnsw, type HnswOptions } from '../hnsw/hnsw.js';
import type { IndexCache } from '../hnsw/cache.js';
import { HnswStore } from '../hnsw/store.js';
import type { Source } from '../source.js';

/** Up to so many vectors, comparing with each is as fast as walking the index, and exact. */
const SCAN_VECTORS = 2_000;
/** Vectors that a walk compares with, each read by itself, for one that it keeps; about. */
const COMPARED_PER_KEPT = 10;
/** Vectors that a scan reads at once, some milliseconds' work. */
const SCAN_BATCH = 256;

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

/** What a search looks through, and how. */
interface Search extends SimilarOptions {
  readonly predicate: Predicate;
  readonly metric: VectorMetric;
  readonly vector: Float32Array;
  readonly k: number;
}

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
  const { metric } = settings;
  const store = new HnswStore(source, predicate.id, undefined, cache);
  const entry = await store.entry();
  if (!entry) return [];
  const search = { ...options, ef: options.ef ?? settings.efSearch ?? EF_SEARCH, predicate, metric, vector, k };
  const walked = entry.count > SCAN_VECTORS && (await walk(new Hnsw(store, settings), entry.count, search));
  const found = walked || (await scan(reader, search));
  const shift = metric === 'dotproduct' ? DOT_PRODUCT_SHIFT : 0;
  const limit = (options.distanceThreshold ?? Number.POSITIVE_INFINITY) - shift;
  return found.flatMap(({ uid, distance }) => (distance <= limit ? [{ uid, distance: distance + shift }] : []));
}

/**
 * What the index finds of them: where too few pass, it keeps more candidates, since near ones may be hidden behind those that do
 * not. Undefined where to compare with each that passes is less work, or nothing tells how many those are.
 */
async function walk(hnsw: Hnsw, count: number, search: Search & { ef: number }): Promise<Neighbour[] | undefined> {
  const { vector, k, filter, pause } = search;
  for (let ef = Math.max(k, search.ef); ; ) {
    const found = await hnsw.search(vector, ef, pause);
    const passing = filter ? found.filter(({ uid }) => filter(uid)) : found;
    if (passing.length >= Math.min(k, count)) return passing.slice(0, k);
    const share = passing.length / ef;
    ef = Math.ceil((2 * k) / share);
    if (ef * COMPARED_PER_KEPT > share * count) return undefined;
  }
}

/** Compares with each that passes, some at a time: vectors are long. */
async function scan(
  reader: GraphReader,
  { predicate, metric, vector, k, filter, pause }: Search,
): Promise<Neighbour[]> {
  const point = new VectorPoint(vector);
  const best = new NeighbourHeap('farthest');
  let other: number | undefined;
  for await (const page of reader.having(predicate)) {
    const passing = filter ? page.filter(filter) : page;
    await pause?.();
    for (let from = 0; from < passing.length; from += SCAN_BATCH) {
      const uids = passing.subarray(from, from + SCAN_BATCH);
      const values = await reader.values(predicate, uids);
      for (let i = 0; i < uids.length; i++) {
        const stored = values.at(i);
        const value = stored && decodeValue(stored);
        if (value?.type !== 'float32vector') continue;
        if (value.value.length !== vector.length) {
          other = value.value.length;
          continue;
        }
        best.push({ uid: uids[i], distance: distanceBetween(metric, point, new VectorPoint(value.value)) });
        if (best.size > k) best.pop();
      }
      await pause?.();
    }
  }
  if (best.size === 0 && other !== undefined) throw otherLength(predicate, other, vector.length);
  return best.sorted();
}

function otherLength(predicate: Predicate, stored: number, asked: number): GraphsteadError {
  return new GraphsteadError(
    'INVALID_VALUE',
    `vectors of ${predicate.name} have ${stored} dimensions, and what is searched for has ${asked}`,
    { fix: 'Search with a vector of the model that made the stored ones.' },
  );
}
