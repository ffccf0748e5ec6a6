import type { JsonWriter } from '../../base/index.js';

/** Nodes met for the first time before it is clear that rows share none. */
const PATIENCE = 256;

/**
 * Where nodes of a level stand in the answer: rows often share nodes, and what was written once is copied after that.
 * A node reads the same wherever it stands, unless an error was noted: errors name their place.
 */
export class WrittenNodes {
  readonly #starts = new Map<number, number>();
  readonly #ends = new Map<number, number>();
  #out: JsonWriter | undefined;
  #cuts = 0;
  #misses = 0;

  /** Copies a node that stands in the answer already; false when it does not. */
  copy(uid: number, out: JsonWriter): boolean {
    if (this.#misses > PATIENCE) return false;
    if (out !== this.#out || out.cuts !== this.#cuts) this.#restart(out);
    const start = this.#starts.get(uid);
    if (start === undefined) {
      this.#misses++;
      return false;
    }
    this.#misses -= 4;
    out.again(start, this.#ends.get(uid) as number);
    return true;
  }

  /** Notes a node that was just written, from `start` to the end of the answer. */
  note(uid: number, start: number, out: JsonWriter): void {
    if (this.#misses > PATIENCE || out !== this.#out || out.cuts !== this.#cuts) return;
    this.#starts.set(uid, start);
    this.#ends.set(uid, out.length);
  }

  #restart(out: JsonWriter): void {
    this.#out = out;
    this.#cuts = out.cuts;
    this.#starts.clear();
    this.#ends.clear();
  }
}
