import { GraphsteadError } from '../base/index.js';
import type { ConflictKey } from './contract.js';

/** The last commits that held one key; 0 for none. */
interface Held {
  exclusive: number;
  shared: number;
}

/** What clients of the graph language expect to read, word for word. */
export const ABORTED = 'Transaction has been aborted. Please retry.';

/** TXN_ABORTED, as every loser of a conflict is told. */
export function aborted(): GraphsteadError {
  return new GraphsteadError('TXN_ABORTED', ABORTED, { fix: 'Run the whole operation again in a new transaction.' });
}

/**
 * Remembers which conflict keys were committed when, within a bound: the keys that were committed longest ago are
 * forgotten first, and the floor rises to them. A transaction that started below the floor cannot be judged: it aborts.
 */
export class ConflictOracle {
  // In order of the last commit that held them: a Map keeps the order of insertion.
  readonly #held = new Map<string, Held>();
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
      const held = this.#held.get(key) ?? { exclusive: 0, shared: 0 };
      if (exclusive) held.exclusive = commitTs;
      else held.shared = commitTs;
      this.#held.delete(key);
      this.#held.set(key, held);
    }
    this.#forget();
  }

  #forget(): void {
    if (this.#held.size <= this.#capacity) return;
    for (const [key, held] of this.#held) {
      this.#floor = Math.max(this.#floor, held.exclusive, held.shared);
      this.#held.delete(key);
      if (this.#held.size <= this.#capacity) return;
    }
  }
}
