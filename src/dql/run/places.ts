import { countBits } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import { placeOf } from './uid-set.js';

/** Numbers between the first and the last uid, for each uid, up to which a bitmap beats searching. */
const SPREAD = 64;
const FEW = 8;

/** Where the uids of a list stand in it: a bitmap with the count of uids before each of its words stays in the cache. */
export class Places {
  readonly #first: number;
  readonly #range: number;
  readonly #bits: Int32Array;
  readonly #before: Int32Array;

  private constructor(uids: UidList, range: number) {
    this.#first = uids[0];
    this.#range = range;
    this.#bits = new Int32Array((range >>> 5) + 1);
    this.#before = new Int32Array(this.#bits.length);
    for (let i = 0; i < uids.length; i++) {
      const offset = uids[i] - this.#first;
      this.#bits[offset >>> 5] |= 1 << (offset & 31);
    }
    for (let word = 1; word < this.#bits.length; word++) {
      this.#before[word] = this.#before[word - 1] + countBits(this.#bits[word - 1]);
    }
  }

  /** undefined for lists in which searching is as good */
  static of(uids: UidList): Places | undefined {
    const range = uids[uids.length - 1] - uids[0];
    return uids.length < FEW || range > uids.length * SPREAD ? undefined : new Places(uids, range);
  }

  /** How places are found in a list, by bitmap or by search. */
  static finder(uids: UidList): (uid: number) => number {
    const places = Places.of(uids);
    return places ? (uid) => places.place(uid) : (uid) => placeOf(uids, uid);
  }

  /** Place of a uid, or -1. */
  place(uid: number): number {
    const offset = uid - this.#first;
    if (!(offset >= 0 && offset <= this.#range)) return -1;
    const bits = this.#bits[offset >>> 5];
    const bit = 1 << (offset & 31);
    return (bits & bit) === 0 ? -1 : this.#before[offset >>> 5] + countBits(bits & (bit - 1));
  }
}
