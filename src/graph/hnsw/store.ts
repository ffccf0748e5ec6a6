import type { UidList } from '../contract.js';
import { chain, type MaybePromise } from '../../base/index.js';
import { decodeValue, VectorPoint } from '../../values/index.js';
import { FAMILY, hnswKey } from '../key.js';
import { readSlots } from '../read/slot-reader.js';
import { retyped } from '../retype.js';
import type { PutKey, Source } from '../source.js';
import { sortedUids } from '../uid-list.js';
import type { IndexCache, IndexMemory } from './cache.js';
import { decodeEntry, decodeLinks, type Entry, encodeEntry, encodeLinks, type Links } from './record.js';

const METRICS = { keysRead: 0, uidsRead: 0 };

/** Links and vectors of one index, each read once; changes stay here until they are written. */
export class HnswStore {
  readonly #links = new Map<number, Links | undefined>();
  readonly #vectors = new Map<number, VectorPoint | undefined>();
  readonly #changed = new Set<number>();
  #entry: { readonly value: Entry | undefined } | undefined;
  #entryChanged = false;
  /** what searches of the same state have read, for one that changes nothing */
  #memory: IndexMemory | undefined;

  /** @param own vectors that the source does not have, as they are until `setVector` tells another */
  constructor(
    readonly source: Source,
    readonly predicate: number,
    readonly own?: (uid: number) => { readonly stored: Uint8Array | undefined } | undefined,
    readonly cache?: IndexCache,
  ) {}

  entry(): MaybePromise<Entry | undefined> {
    if (this.#entry) return this.#entry.value;
    return chain(this.source.getMany([hnswKey(this.predicate, 0)]), ([bytes]) => {
      const value = bytes && decodeEntry(bytes);
      this.#entry = { value };
      if (value?.stamp !== undefined) this.#memory = this.cache?.of(this.predicate, value.stamp);
      return value;
    });
  }

  setEntry(entry: Entry | undefined): void {
    this.#entry = { value: entry };
    this.#entryChanged = true;
  }

  links(uid: number): MaybePromise<Links | undefined> {
    const kept = this.#memory?.links.get(uid);
    if (kept) return kept;
    if (this.#links.has(uid)) return this.#links.get(uid);
    return chain(this.source.getMany([hnswKey(this.predicate, uid)]), ([bytes]) => {
      const links = bytes && decodeLinks(bytes);
      if (!links || !this.#memory?.keepLinks(uid, links)) this.#links.set(uid, links);
      return links;
    });
  }

  setLinks(uid: number, links: Links | undefined): void {
    this.#links.set(uid, links);
    this.#changed.add(uid);
  }

  /** What a vector is from now on: undefined for one that is taken out. */
  setVector(uid: number, stored: Uint8Array | undefined): void {
    this.#vectors.set(uid, vectorOf(stored));
  }

  /** The vectors of these uids, undefined for one that has none. What is not known yet is read in one batch. */
  points(uids: readonly number[]): MaybePromise<readonly (VectorPoint | undefined)[]> {
    const points: (VectorPoint | undefined)[] = [];
    const missing: number[] = [];
    for (const uid of uids) {
      const known = this.vector(uid);
      points.push(known);
      if (known || this.#vectors.has(uid)) continue;
      const own = this.own?.(uid);
      if (own) this.#vectors.set(uid, (points[points.length - 1] = vectorOf(own.stored)));
      else missing.push(uid);
    }
    if (missing.length === 0) return points;
    return chain(this.#read(sortedUids(missing)), () => uids.map((uid) => this.vector(uid)));
  }

  #read(uids: UidList): MaybePromise<void> {
    const wanted = { predicate: this.predicate, family: FAMILY.value, uids };
    return chain(readSlots(this.source, wanted, { ...METRICS }), (payloads) => {
      payloads.forEach((payload, i) => {
        const point = vectorOf(payload);
        if (!point || !this.#memory?.keepVector(uids[i], point)) this.#vectors.set(uids[i], point);
      });
    });
  }

  /** A vector that was asked for before. */
  vector(uid: number): VectorPoint | undefined {
    return this.#memory?.vectors.get(uid) ?? this.#vectors.get(uid);
  }

  /** @param stamp see Entry */
  write(put: PutKey, stamp?: number): void {
    for (const uid of this.#changed) {
      const links = this.#links.get(uid);
      put(hnswKey(this.predicate, uid), links && encodeLinks(links));
    }
    if (!this.#entryChanged) return;
    const entry = this.#entry?.value;
    put(hnswKey(this.predicate, 0), entry && encodeEntry({ ...entry, stamp }));
  }
}

function vectorOf(stored: Uint8Array | undefined): VectorPoint | undefined {
  const typed = stored && retyped(stored, 'float32vector');
  const value = typed && decodeValue(typed);
  return value?.type === 'float32vector' ? new VectorPoint(value.value) : undefined;
}
