import type { MaybePromise } from '../../base/index.js';
import { distanceBetween, type VectorMetric, VectorPoint } from '../../values/index.js';
import { compareNeighbours, type Neighbour, NeighbourHeap } from './heap.js';
import type { Links } from './record.js';
import type { HnswStore } from './store.js';

// Hierarchical navigable small worlds, after Malkov and Yashunin (2016): every vector is linked to near ones on the ground
// level, fewer and fewer of them on the levels above, and a search walks down from the top. The level of a vector follows
// from its uid, so that building the index again from the same commits gives the same levels.

/** Links of a vector on the levels above the ground, and on the ground. */
const LINKS = 16;
const GROUND_LINKS = 32;
/** Room that a full list is left with when its links are chosen anew, which costs as much as a search. */
const SPARE_LINKS = 8;
const LEVELS = 8;
const EF_CONSTRUCTION = 96;
export const EF_SEARCH = 96;
/** Hops of a search, each to some thirty vectors, between two looks whether to pause. */
const PAUSE_HOPS = 16;

export interface HnswOptions {
  readonly metric: VectorMetric;
  readonly efConstruction?: number;
  readonly maxLevels?: number;
}

/** One index of nearest neighbours over a store of links and vectors. */
export class Hnsw {
  readonly #store: HnswStore;
  readonly #options: HnswOptions;

  constructor(store: HnswStore, options: HnswOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Adds a vector, which the store must hold. One that is there already is taken out first. */
  async insert(uid: number): Promise<void> {
    if (await this.#store.links(uid)) await this.#unlink(uid);
    const [vector] = await this.#store.points([uid]);
    if (!vector) return;
    const level = levelOf(uid, Math.min(LEVELS, this.#options.maxLevels ?? LEVELS));
    const links: Links = Array.from({ length: level + 1 }, () => []);
    const entry = await this.#store.entry();
    if (!entry) {
      this.#store.setLinks(uid, links);
      this.#store.setEntry({ uid, level, count: 1 });
      return;
    }
    let near = await this.#descend(vector, entry.uid, entry.level, level);
    const ef = this.#options.efConstruction ?? EF_CONSTRUCTION;
    for (let at = Math.min(level, entry.level); at >= 0; at--) {
      const found = await this.#searchLevel(vector, near, ef, at);
      links[at] = this.#choose(found, at === 0 ? GROUND_LINKS / 2 : LINKS);
      near = found.slice(0, ef);
    }
    this.#store.setLinks(uid, links);
    for (let at = 0; at < links.length; at++) for (const other of links[at]) await this.#link(other, uid, at);
    const top = level > entry.level ? { uid, level } : entry;
    this.#store.setEntry({ uid: top.uid, level: top.level, count: entry.count + 1 });
  }

  /** Takes a vector out; its neighbours are linked with each other instead. */
  async remove(uid: number): Promise<void> {
    await this.#unlink(uid);
    this.#store.setVector(uid, undefined);
  }

  async #unlink(uid: number): Promise<void> {
    const links = await this.#store.links(uid);
    if (!links) return;
    this.#store.setLinks(uid, undefined);
    for (let level = 0; level < links.length; level++) {
      for (const other of links[level]) await this.#bridge(other, uid, links[level], level);
    }
    await this.#moveEntry(uid, links);
  }

  /** Links one neighbour of a removed vector with the others. */
  async #bridge(other: number, gone: number, candidates: readonly number[], level: number): Promise<void> {
    const own = await this.#store.links(other);
    if (!own?.[level]) return;
    const all = new Set([...own[level], ...candidates]);
    all.delete(gone);
    all.delete(other);
    await this.#setLevel(other, own, level, [...all]);
  }

  async #moveEntry(gone: number, links: Links): Promise<void> {
    const entry = await this.#store.entry();
    if (!entry) return;
    const count = Math.max(0, entry.count - 1);
    if (entry.uid !== gone) {
      this.#store.setEntry({ ...entry, count });
      return;
    }
    for (let level = links.length - 1; level >= 0; level--) {
      for (const uid of links[level]) {
        const own = await this.#store.links(uid);
        if (!own) continue;
        this.#store.setEntry({ uid, level: own.length - 1, count });
        return;
      }
    }
    this.#store.setEntry(undefined);
  }

  /** Adds a link; the farthest or most redundant one goes when there are too many. */
  async #link(from: number, to: number, level: number): Promise<void> {
    const own = await this.#store.links(from);
    if (!own?.[level] || own[level].includes(to)) return;
    await this.#setLevel(from, own, level, [...own[level], to]);
  }

  async #setLevel(uid: number, links: Links, level: number, wanted: readonly number[]): Promise<void> {
    const most = level === 0 ? GROUND_LINKS : LINKS;
    const kept = wanted.length <= most ? wanted : await this.#chosen(uid, wanted, most - SPARE_LINKS);
    this.#store.setLinks(
      uid,
      links.map((list, at) => (at === level ? [...kept] : list)),
    );
  }

  async #chosen(uid: number, wanted: readonly number[], most: number): Promise<number[]> {
    const [vector] = await this.#store.points([uid]);
    return vector ? this.#choose((await this.#measured(vector, wanted)).sort(compareNeighbours), most) : [];
  }

  /** From near ones, those that are nearer to the vector than to each other come first: links that reach apart. */
  #choose(near: readonly Neighbour[], most: number): number[] {
    const { metric } = this.#options;
    const chosen: number[] = [];
    const points: VectorPoint[] = [];
    const rest: number[] = [];
    for (const { uid, distance } of near) {
      if (chosen.length >= most) break;
      const point = this.#store.vector(uid);
      if (point && points.some((other) => distanceBetween(metric, point, other) < distance)) rest.push(uid);
      else {
        chosen.push(uid);
        if (point) points.push(point);
      }
    }
    return [...chosen, ...rest].slice(0, most);
  }

  /**
   * A shorter vector counts as one that ends in zeros. Where vectors of several lengths are kept, as while they are made
   * again by another model, links and walks would otherwise end at the first of another length.
   */
  async #measured(point: VectorPoint, uids: readonly number[]): Promise<Neighbour[]> {
    const points = await this.#store.points(uids);
    return uids.flatMap((uid, i) => {
      const other = points[i];
      return other ? [{ uid, distance: distanceBetween(this.#options.metric, point, other) }] : [];
    });
  }

  /** Walks from the top to just above `level`, always to the nearest. */
  async #descend(vector: VectorPoint, from: number, top: number, level: number): Promise<Neighbour[]> {
    let near = await this.#measured(vector, [from]);
    if (near.length === 0) near = [{ uid: from, distance: Number.MAX_VALUE }];
    for (let at = top; at > level; at--) near = (await this.#searchLevel(vector, near, 1, at)).slice(0, 1);
    return near;
  }

  /** The `ef` nearest on one level, nearest first. */
  async #searchLevel(
    vector: VectorPoint,
    from: readonly Neighbour[],
    ef: number,
    level: number,
    pause?: () => MaybePromise<void>,
  ): Promise<Neighbour[]> {
    const { metric } = this.#options;
    const seen = new Set<number>();
    const open = new NeighbourHeap('nearest');
    const best = new NeighbourHeap('farthest');
    for (const start of from) {
      seen.add(start.uid);
      open.push(start);
      best.push(start);
    }
    let hops = 0;
    for (let next = open.pop(); next; next = open.pop()) {
      const pausing = ++hops % PAUSE_HOPS === 0 ? pause?.() : undefined;
      if (pausing) await pausing;
      if (best.size >= ef && next.distance > best.top!.distance) break;
      const reading = this.#store.links(next.uid);
      const links = (reading instanceof Promise ? await reading : reading)?.[level] ?? [];
      const fresh: number[] = [];
      for (const uid of links) {
        if (seen.has(uid)) continue;
        seen.add(uid);
        fresh.push(uid);
      }
      const fetching = this.#store.points(fresh);
      const points = fetching instanceof Promise ? await fetching : fetching;
      for (let i = 0; i < fresh.length; i++) {
        const point = points[i];
        if (!point) continue;
        const distance = distanceBetween(metric, vector, point);
        if (best.size >= ef && distance >= best.top!.distance) continue;
        const found = { uid: fresh[i], distance };
        open.push(found);
        best.push(found);
        if (best.size > ef) best.pop();
      }
    }
    return best.sorted();
  }

  /**
   * The `ef` nearest vectors, nearest first.
   * @param pause awaited between steps of work
   */
  async search(vector: Float32Array, ef: number, pause?: () => MaybePromise<void>): Promise<Neighbour[]> {
    const entry = await this.#store.entry();
    if (!entry) return [];
    const point = new VectorPoint(vector);
    const near = await this.#descend(point, entry.uid, entry.level, 0);
    const found = await this.#searchLevel(point, near, ef, 0, pause);
    return found.filter(({ uid }) => this.#store.vector(uid)?.vector.length === vector.length);
  }
}

/** Level of a uid: one in sixteen reaches each level above the last. */
function levelOf(uid: number, most: number): number {
  let hash = (uid % 0x7fffffff) ^ Math.floor(uid / 0x7fffffff);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  hash = (hash ^ (hash >>> 16)) >>> 0;
  let level = 0;
  while ((hash & 15) === 0 && level < most - 1) {
    level++;
    hash >>>= 4;
  }
  return level;
}
