import { type Fingerprints, KEY_WORDS } from './fingerprint.js';

/** Words of one slot: two of the fingerprint, then the last exclusive and the last shared commit, 0 for none. */
const WORDS = 4;
const EXCLUSIVE = 2;
const SHARED = 3;
const MOST = 0xffff_ffff;

/**
 * The conflict keys of the commits of one stretch of time, in memory of a fixed size: a hash table of fingerprints.
 * Commits are counted from the stretch's beginning.
 */
export class Generation {
  readonly #slots: Uint32Array;
  readonly #mask: number;
  readonly #capacity: number;
  readonly #before: number;
  #size = 0;
  #last = 0;

  /** @param capacity keys it holds @param first timestamp of its first commit */
  constructor(capacity: number, first: number) {
    const slots = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.#slots = new Uint32Array(slots * WORDS);
    this.#mask = slots - 1;
    this.#capacity = capacity;
    this.#before = first - 1;
  }

  /** keys in it */
  get size(): number {
    return this.#size;
  }

  /** timestamp of its last commit */
  get last(): number {
    return this.#last;
  }

  /** Notes that a commit held the key that begins at `from`; answers false when there is no room. Commits come in order. */
  note(keys: Fingerprints, from: number, commitTs: number): boolean {
    const at = this.#find(keys[from], keys[from + 1]);
    const isNew = this.#isFree(at);
    const count = commitTs - this.#before;
    if ((isNew && this.#size === this.#capacity) || count > MOST) return false;
    if (isNew) {
      this.#slots[at] = keys[from];
      this.#slots[at + 1] = keys[from + 1];
      this.#size++;
    }
    this.#slots[at + (keys[from + 2] === 1 ? EXCLUSIVE : SHARED)] = count;
    this.#last = commitTs;
    return true;
  }

  /** Whether a commit after `startTs` held one of the keys, at least one of the two exclusively. */
  conflicts(keys: Fingerprints, startTs: number): boolean {
    const start = Math.max(0, startTs - this.#before);
    for (let from = 0; from < keys.length; from += KEY_WORDS) {
      const at = this.#find(keys[from], keys[from + 1]);
      if (this.#slots[at + EXCLUSIVE] > start) return true;
      if (keys[from + 2] === 1 && this.#slots[at + SHARED] > start) return true;
    }
    return false;
  }

  /** Where the key stands, else the free slot where it would; half of the slots are free. */
  #find(low: number, high: number): number {
    for (let slot = low & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * WORDS;
      if ((this.#slots[at] === low && this.#slots[at + 1] === high) || this.#isFree(at)) return at;
    }
  }

  #isFree(at: number): boolean {
    return this.#slots[at + EXCLUSIVE] === 0 && this.#slots[at + SHARED] === 0;
  }
}
