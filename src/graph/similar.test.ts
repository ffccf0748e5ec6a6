import { describe, expect, it } from 'vitest';
import { vectorDistance } from '../values/index.js';
import type { GraphChange, Transaction } from './contract.js';
import { type GraphFixture, openFixture, read, setValue, write } from './fixture.js';

const DIMENSIONS = 6;

/** Numbers that repeat from run to run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

function vectors(count: number, seed: number): Float32Array[] {
  const next = random(seed);
  return Array.from({ length: count }, () => Float32Array.from({ length: DIMENSIONS }, next));
}

function setVector(uid: number, value: Float32Array): GraphChange {
  return setValue(uid, 'v', { type: 'float32vector', value });
}

async function ask(fixture: GraphFixture, vector: Float32Array, k: number, filter?: (uid: number) => boolean) {
  return read(fixture.graph, (r) =>
    r.similar(r.schema.predicate('v')!, vector, k, filter === undefined ? {} : { filter }),
  );
}

function exact(all: ReadonlyMap<number, Float32Array>, vector: Float32Array, k: number): number[] {
  const measured = [...all].map(([uid, v]) => ({ uid, distance: vectorDistance('euclidean', vector, v) }));
  return measured
    .sort((a, b) => a.distance - b.distance || a.uid - b.uid)
    .slice(0, k)
    .map(({ uid }) => uid);
}

const SCHEMA = 'v: float32vector @index(hnsw(metric: "euclidean")) .';

/** A graph of so many vectors, by uids from 1 on. */
async function filled(count: number, seed: number): Promise<{ fixture: GraphFixture; all: Map<number, Float32Array> }> {
  const fixture = await openFixture();
  await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
  const all = new Map(vectors(count, seed).map((v, i) => [i + 1, v]));
  await write(fixture.graph, ...[...all].map(([uid, v]) => setVector(uid, v)));
  return { fixture, all };
}

describe('nearest neighbours', () => {
  it('are exact while there are few, with a filter and a distance', async () => {
    const { fixture, all } = await filled(200, 1);
    const [query] = vectors(1, 2);
    expect((await ask(fixture, query, 7)).map(({ uid }) => uid)).toEqual(exact(all, query, 7));
    const even = new Map([...all].filter(([uid]) => uid % 2 === 0));
    const filtered = await ask(fixture, query, 5, (uid) => uid % 2 === 0);
    expect(filtered.map(({ uid }) => uid)).toEqual(exact(even, query, 5));
    const near = await read(fixture.graph, (r) =>
      r.similar(r.schema.predicate('v')!, query, 50, { distanceThreshold: 0.3 }),
    );
    expect(near.every(({ distance }) => distance <= 0.3)).toBe(true);
    await expect(ask(fixture, Float32Array.of(1), 3)).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: 'vectors of v have 6 dimensions, and what is searched for has 1',
    });
    await fixture.close();
  });

  it('follow the metric when it is changed', async () => {
    const fixture = await openFixture();
    await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
    await write(fixture.graph, setVector(1, Float32Array.of(10, 10)), setVector(2, Float32Array.of(1, 0)));
    const uids = async () => (await ask(fixture, Float32Array.of(1, 1), 2)).map(({ uid }) => uid);
    expect(await uids()).toEqual([2, 1]);
    await fixture.graph.alter({ kind: 'schema', text: SCHEMA.replace('euclidean', 'cosine') });
    expect(await uids()).toEqual([1, 2]);
    await fixture.graph.alter({ kind: 'schema', text: 'v: float32vector .' });
    await expect(uids()).rejects.toMatchObject({ code: 'MISSING_INDEX' });
    await fixture.close();
  });

  it('leave out a node whose vector is set to one without dimensions', async () => {
    const fixture = await openFixture();
    await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
    await write(fixture.graph, setVector(1, Float32Array.of(1, 1)), setVector(2, Float32Array.of(2, 2)));
    await write(fixture.graph, setVector(1, Float32Array.of()), setVector(3, Float32Array.of()));
    expect((await ask(fixture, Float32Array.of(1, 1), 3)).map(({ uid }) => uid)).toEqual([2]);
    const stored = await read(fixture.graph, (r) => r.allValues(r.schema.predicate('v')!, Float64Array.of(1, 2, 3)));
    expect(stored.map((values) => values.length)).toEqual([0, 1, 0]);
    await write(fixture.graph, setVector(2, Float32Array.of()), setVector(2, Float32Array.of(3, 3)));
    expect((await ask(fixture, Float32Array.of(1, 1), 3)).map(({ uid }) => uid)).toEqual([2]);
    await fixture.close();
  });

  it.each([
    ['fewer', 3],
    ['more', 9_000],
  ])('have as many dimensions as the limit says, where it is set to %s', async (_, vectorDimensions) => {
    const { graph, close } = await openFixture({ limits: { vectorDimensions } });
    await graph.alter({ kind: 'schema', text: 'v: float32vector .' });
    const vector = (dimensions: number) => setValue(1, 'v', `[${new Array(dimensions).fill('1')}]`);
    const bulk = await graph.bulk({ folder: 'unused' });
    const refusal = { code: 'INVALID_VALUE', message: expect.stringContaining(`at most ${vectorDimensions} are kept`) };
    await expect(write(graph, vector(vectorDimensions + 1))).rejects.toMatchObject(refusal);
    expect(() => bulk.add(vector(vectorDimensions + 1))).toThrow(expect.objectContaining(refusal));
    expect(bulk.add(vector(vectorDimensions))).toBe(true);
    bulk.abandon();
    await write(graph, vector(vectorDimensions));
    await close();
  });

  it('are nearly all found by the index among many, as vectors come, change and go', async () => {
    const fixture = await openFixture();
    await write(fixture.graph, setVector(1, vectors(1, 5)[0]));
    const all = new Map(vectors(2_300, 3).map((v, i) => [i + 1, v]));
    await write(fixture.graph, ...[...all].slice(0, 1_000).map(([uid, v]) => setVector(uid, v)));
    await fixture.graph.alter({ kind: 'schema', text: SCHEMA });
    await write(fixture.graph, ...[...all].slice(1_000).map(([uid, v]) => setVector(uid, v)));
    const moved = vectors(200, 4);
    for (const [i, v] of moved.entries()) all.set(i + 500, v);
    await write(fixture.graph, ...moved.map((v, i) => setVector(i + 500, v)));
    const gone = Array.from({ length: 200 }, (_, i) => i * 3 + 1);
    for (const uid of gone) all.delete(uid);
    await write(fixture.graph, ...gone.map((uid): GraphChange => ({ op: 'deletePredicate', uid, predicate: 'v' })));
    let hits = 0;
    for (const query of vectors(20, 9)) {
      const found = (await ask(fixture, query, 10)).map(({ uid }) => uid);
      expect(found.every((uid) => all.has(uid))).toBe(true);
      const wanted = new Set(exact(all, query, 10));
      hits += found.filter((uid) => wanted.has(uid)).length;
    }
    expect(hits).toBeGreaterThan(190);
    const rare = await ask(fixture, vectors(1, 11)[0], 3, (uid) => uid === 2 || uid === 2_000);
    expect(rare.map(({ uid }) => uid).sort((a, b) => a - b)).toEqual([2, 2_000]);
    await fixture.close();
  });

  it('are as many as are asked for where a filter takes some, without a look at all', async () => {
    const { fixture, all } = await filled(2_100, 3);
    const [query] = vectors(1, 13);
    const [first] = exact(all, query, 1);
    let asked = 0;
    const filter = (uid: number) => ++asked > 0 && uid !== first;
    const found = await read(fixture.graph, (r) => r.similar(r.schema.predicate('v')!, query, 20, { ef: 20, filter }));
    expect(found).toHaveLength(20);
    expect(found.some(({ uid }) => uid === first)).toBe(false);
    expect(asked).toBeLessThan(200);
    await fixture.close();
  });

  it.each([
    ['all', 64 * 1024 * 1024],
    ['little', 20_000],
  ])('are those of each state, where searches keep %s of what they read', async (_, vectorCacheBytes) => {
    const fixture = await openFixture({ limits: { vectorCacheBytes } });
    const { graph } = fixture;
    await graph.alter({ kind: 'schema', text: SCHEMA });
    const all = new Map(vectors(2_100, 3).map((v, i) => [i + 1, v]));
    await write(graph, ...[...all].map(([uid, v]) => setVector(uid, v)));
    const [query] = vectors(1, 21);
    const nearest = async (transaction: Transaction): Promise<number> => {
      const reader = await transaction.reader();
      const [first] = await reader.similar(reader.schema.predicate('v')!, query, 1);
      reader.release();
      return first.uid;
    };
    const now = async () => nearest(await graph.begin({ readOnly: true }));
    const before = await now();
    expect(before).toBe(exact(all, query, 1)[0]);

    const old = await graph.begin();
    expect(await nearest(old)).toBe(before);
    const own = await graph.begin();
    await own.stage([setVector(77, query)]);
    expect([await nearest(own), await now()]).toEqual([77, before]);
    await own.commit();
    expect([await nearest(old), await now()]).toEqual([before, 77]);
    await write(graph, setVector(77, all.get(77)!), setVector(88, query));
    expect([await nearest(old), await now()]).toEqual([before, 88]);
    await write(graph, { op: 'deletePredicate', uid: 88, predicate: 'v' });
    expect([await nearest(old), await now()]).toEqual([before, before === 88 ? exact(all, query, 2)[1] : before]);
    old.abort();
    await fixture.close();
  });
});

it('finds all that are left where most vectors go in one commit', async () => {
  for (let seed = 1; seed <= 16; seed++) {
    const next = random(seed * 7_919);
    const own = await openFixture();
    await own.graph.alter({ kind: 'schema', text: SCHEMA });
    const uids = Array.from({ length: 100 }, (_, i) => i + 1);
    await write(own.graph, ...vectors(100, seed).map((vector, i) => setVector(uids[i], vector)));
    const gone = new Set([...uids].sort(() => next() - 0.5).slice(10));
    await write(own.graph, ...[...gone].map((uid) => ({ op: 'deletePredicate', uid, predicate: 'v' }) as const));
    const found = await ask(own, new Float32Array(DIMENSIONS), 100);
    expect(found.map(({ uid }) => uid).sort((a, b) => a - b)).toEqual(uids.filter((uid) => !gone.has(uid)));
    await own.close();
  }
});
