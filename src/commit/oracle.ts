import { GraphsteadError } from '../base/index.js';
import { type Fingerprints, KEY_WORDS } from './fingerprint.js';
import { Generation } from './generation.js';

/** Stretches of time that are remembered: all but the last of them are full, and the oldest is forgotten at once. */
const GENERATIONS = 64;

/** What clients of the graph language expect to read, word for word. */
export const ABORTED = 'Transaction has been aborted. Please retry.';

/** TXN_ABORTED, as every loser of a conflict is told. */
export function aborted(cause?: unknown): GraphsteadError {
  const fix = 'Run the whole operation again in a new transaction.';
  return new GraphsteadError('TXN_ABORTED', ABORTED, { cause, fix });
}

/**
 * Remembers which conflict keys were committed when, within a bound: the keys of the oldest commits are forgotten first,
 * and the floor rises to them. A transaction that started below the floor cannot be judged: it aborts.
 * Keys are kept as fingerprints. Two that share one abort a transaction for nothing, once in 10^12 or so; none is missed.
 */
export class ConflictOracle {
  /** the newest last */
  readonly #generations: Generation[] = [];
  readonly #kept: number;
  readonly #share: number;
  #floor: number;

  /**
   * @param capacity keys to remember
   * @param floor everything up to this timestamp was committed by an earlier process, with keys unknown
   */
  constructor(capacity: number, floor: number) {
    this.#kept = Math.min(GENERATIONS, capacity);
    this.#share = Math.floor(capacity / this.#kept);
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  /** keys remembered; one that is committed again and again counts in each stretch of time */
  get size(): number {
    return this.#generations.reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether a transaction that started at `startTs` (0: it read nothing) loses to one that committed since. */
  conflicts(startTs: number, keys: Fingerprints): boolean {
    if (startTs === 0) return false;
    if (startTs < this.#floor) return true;
    for (let i = this.#generations.length - 1; i >= 0; i--) {
      const generation = this.#generations[i];
      if (generation.last <= startTs) return false;
      if (generation.conflicts(keys, startTs)) return true;
    }
    return false;
  }

  /** Notes a commit; commits come in the order of their timestamps. */
  commit(commitTs: number, keys: Fingerprints): void {
    for (let from = 0; from < keys.length; from += KEY_WORDS) {
      if (this.#generations.at(-1)?.note(keys, from, commitTs)) continue;
      this.#next(commitTs).note(keys, from, commitTs);
    }
  }

  #next(commitTs: number): Generation {
    const generation = new Generation(this.#share, commitTs);
    this.#generations.push(generation);
    if (this.#generations.length > this.#kept)
      this.#floor = Math.max(this.#floor, this.#generations.shift()?.last ?? 0);
    return generation;
  }
}

/** The same between the intents of one group, each of which started before any of it commits. */
export class GroupConflicts {
  /** 53 bits of the fingerprint, to whether somebody held the key exclusively */
  readonly #held = new Map<number, boolean>();

  conflicts(startTs: number, keys: Fingerprints): boolean {
    if (startTs === 0 || this.#held.size === 0) return false;
    for (let from = 0; from < keys.length; from += KEY_WORDS) {
      const held = this.#held.get(numberOf(keys, from));
      if (held !== undefined && (held || keys[from + 2] === 1)) return true;
    }
    return false;
  }

  /** Notes that an intent is in the group. */
  admit(keys: Fingerprints): void {
    for (let from = 0; from < keys.length; from += KEY_WORDS) {
      const key = numberOf(keys, from);
      this.#held.set(key, keys[from + 2] === 1 || this.#held.get(key) === true);
    }
  }
}

function numberOf(keys: Fingerprints, from: number): number {
  return keys[from] + (keys[from + 1] & 0x1f_ffff) * 2 ** 32;
}
