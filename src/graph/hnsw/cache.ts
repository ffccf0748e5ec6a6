import type { VectorPoint } from '../../values/index.js';
import type { Links } from './record.js';

/** What an entry of a Map and the objects behind it take besides their numbers, about. */
const ENTRY_BYTES = 200;

/** What searches have read of one state of an index. */
export class IndexMemory {
  readonly links = new Map<number, Links>();
  readonly vectors = new Map<number, VectorPoint>();
  bytes = 0;
  readonly #makeRoom: (bytes: number) => boolean;

  /** @param makeRoom answers whether so much more may be kept */
  constructor(
    readonly stamp: number,
    makeRoom: (bytes: number) => boolean,
  ) {
    this.#makeRoom = makeRoom;
  }

  keepLinks(uid: number, links: Links): boolean {
    const count = links.reduce((sum, level) => sum + level.length, 0);
    return this.#admits(count * Float64Array.BYTES_PER_ELEMENT) && this.links.set(uid, links) !== undefined;
  }

  keepVector(uid: number, point: VectorPoint): boolean {
    return this.#admits(point.vector.byteLength) && this.vectors.set(uid, point) !== undefined;
  }

  #admits(bytes: number): boolean {
    const all = bytes + ENTRY_BYTES;
    if (!this.#makeRoom(all)) return false;
    this.bytes += all;
    return true;
  }
}

/**
 * Links and vectors of indexes as searches last read them: decoded, and without a look into the store. An index names each of
 * its states by a stamp, which stands in the snapshot that is searched, so that nothing here is ever older than that.
 */
export class IndexCache {
  /** by predicate, the one that was searched last at the end */
  readonly #memories = new Map<number, IndexMemory>();
  readonly #limit: number;

  /** @param limit bytes of all of them, about */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    let bytes = 0;
    for (const memory of this.#memories.values()) bytes += memory.bytes;
    return bytes;
  }

  /** What is kept of this state; undefined where a newer one is. */
  of(predicate: number, stamp: number): IndexMemory | undefined {
    const known = this.#memories.get(predicate);
    if (known && known.stamp > stamp) return undefined;
    this.#memories.delete(predicate);
    const memory = known?.stamp === stamp ? known : this.#begin(predicate, stamp);
    this.#memories.set(predicate, memory);
    return memory;
  }

  #begin(predicate: number, stamp: number): IndexMemory {
    const memory: IndexMemory = new IndexMemory(
      stamp,
      (bytes) => this.#memories.get(predicate) === memory && this.#makeRoom(memory, bytes),
    );
    return memory;
  }

  /** Indexes that nobody searched lately go for the one that somebody does. */
  #makeRoom(memory: IndexMemory, bytes: number): boolean {
    for (const [predicate, other] of this.#memories) {
      if (this.bytes + bytes <= this.#limit || other === memory) break;
      this.#memories.delete(predicate);
    }
    return this.bytes + bytes <= this.#limit;
  }
}
