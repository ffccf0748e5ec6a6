import { GraphsteadError } from '../base/index.js';
import type { ConflictKey } from './contract.js';

/** The last commits that held one key; 0 for none. */
interface Held {
  readonly key: string;
  exclusive: number;
  shared: number;
  /** the last commit when the key was put into the ring */
  queued: number;
}

const COMPACT = 4_096;

/** What clients of the graph language expect to read, word for word. */
export const ABORTED = 'Transaction has been aborted. Please retry.';

/** TXN_ABORTED, as every loser of a conflict is told. */
export function aborted(): GraphsteadError {
  return new GraphsteadError('TXN_ABORTED', ABORTED, { fix: 'Run the whole operation again in a new transaction.' });
}

/**
 * Remembers which conflict keys were committed when, within a bound: keys that were not committed for long are
 * forgotten first, and the floor rises to them. A transaction that started below the floor cannot be judged: it aborts.
 */
export class ConflictOracle {
  readonly #held = new Map<string, Held>();
  /** each held key once, in the order of `queued`; a key that was committed again goes round once more */
  #ring: Held[] = [];
  #head = 0;
  readonly #capacity: number;
  #floor: number;

  /** @param floor everything up to this timestamp was committed by an earlier process, with keys unknown */
  constructor(capacity: number, floor: number) {
    this.#capacity = capacity;
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Whether a transaction that started at `startTs` (0: it read nothing) loses to one that committed since. */
  conflicts(startTs: number, keys: readonly ConflictKey[]): boolean {
    if (startTs === 0) return false;
    if (startTs < this.#floor) return true;
    for (const { key, exclusive } of keys) {
      const held = this.#held.get(key);
      if (held === undefined) continue;
      if (held.exclusive > startTs || (exclusive && held.shared > startTs)) return true;
    }
    return false;
  }

  /** Notes a commit; commits come in the order of their timestamps. */
  commit(commitTs: number, keys: readonly ConflictKey[]): void {
    for (const { key, exclusive } of keys) {
      let held = this.#held.get(key);
      if (held === undefined) {
        held = { key, exclusive: 0, shared: 0, queued: commitTs };
        this.#held.set(key, held);
        this.#ring.push(held);
      }
      if (exclusive) held.exclusive = commitTs;
      else held.shared = commitTs;
    }
    while (this.#held.size > this.#capacity) this.#forgetOne();
  }

  #forgetOne(): void {
    for (;;) {
      const held = this.#ring[this.#head++];
      const last = Math.max(held.exclusive, held.shared);
      if (last === held.queued) {
        this.#floor = Math.max(this.#floor, last);
        this.#held.delete(held.key);
        break;
      }
      held.queued = last;
      this.#ring.push(held);
    }
    if (this.#head < COMPACT || this.#head * 2 < this.#ring.length) return;
    this.#ring = this.#ring.slice(this.#head);
    this.#head = 0;
  }
}
