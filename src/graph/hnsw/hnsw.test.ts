import { expect, it } from 'vitest';
import { latin1 } from '../../base/index.js';
import { encodeValue, vectorDistance } from '../../values/index.js';
import type { Source } from '../source.js';
import { Hnsw } from './hnsw.js';
import { HnswStore } from './store.js';

/** An index over vectors in memory; each step reads what the one before has written. */
class Index {
  readonly vectors = new Map<number, Float32Array>();
  readonly #keys = new Map<string, Uint8Array | undefined>();
  readonly #source: Source = {
    getMany: (keys) => keys.map((key) => this.#keys.get(latin1(key))),
    range: () => {
      throw new Error('the index reads no range');
    },
  };

  async set(vectors: ReadonlyMap<number, Float32Array>): Promise<void> {
    for (const [uid, vector] of vectors) this.vectors.set(uid, vector);
    const { store, hnsw } = this.#open();
    for (const uid of vectors.keys()) await hnsw.insert(uid);
    store.write((key, value) => this.#keys.set(latin1(key), value));
  }

  async search(vector: Float32Array, ef: number): Promise<number[]> {
    return (await this.#open().hnsw.search(vector, ef)).map(({ uid }) => uid);
  }

  #open() {
    const own = (uid: number) => {
      const value = this.vectors.get(uid);
      return { stored: value && encodeValue({ type: 'float32vector', value }) };
    };
    const store = new HnswStore(this.#source, 1, own);
    return { store, hnsw: new Hnsw(store, { metric: 'euclidean' }) };
  }
}

/** Points on a spiral: near uids are near each other. */
function points(uids: readonly number[], dimensions: number): Map<number, Float32Array> {
  const at = (uid: number) => Float32Array.from({ length: dimensions }, (_, i) => uid * Math.cos(uid / 10 + i));
  return new Map(uids.map((uid) => [uid, at(uid)]));
}

it('finds vectors of either length while those of one are replaced by others', async () => {
  const index = new Index();
  const uids = Array.from({ length: 300 }, (_, i) => i + 1);
  await index.set(points(uids, 3));
  for (let at = 0; at < 280; at += 20) {
    await index.set(points(uids.slice(at, at + 20), 5));
    for (const length of [3, 5]) {
      const query = points([at + 20], length).get(at + 20)!;
      const exact = [...index.vectors]
        .filter(([, vector]) => vector.length === length)
        .map(([uid, vector]) => ({ uid, distance: vectorDistance('euclidean', query, vector) }))
        .sort((a, b) => a.distance - b.distance || a.uid - b.uid);
      const found = await index.search(query, 64);
      expect(found.slice(0, 5)).toEqual(exact.slice(0, 5).map(({ uid }) => uid));
    }
  }
});
