import type { JsonWriter } from '../../base/index.js';
import type { ResultNode } from '../contract.js';

/** Rows that name each of their nodes so often share them. */
const SHARED = 2;

/**
 * Where the nodes of a level stand in the answer, by their place in its columns: what several rows share is written
 * once and copied after that.
 */
export class WrittenPlaces {
  readonly #starts: Float64Array;
  /** 0 where the node was not written yet */
  readonly #ends: Float64Array;
  readonly #cuts: Float64Array;
  #out: JsonWriter | undefined;

  private constructor(places: number) {
    this.#starts = new Float64Array(places);
    this.#ends = new Float64Array(places);
    this.#cuts = new Float64Array(places);
  }

  /** undefined where rows share too few nodes for it to pay */
  static of({ rows, dest }: ResultNode, places: number): WrittenPlaces | undefined {
    if (!rows || rows.length < SHARED) return undefined;
    let total = 0;
    for (const row of rows) total += row.length;
    return total >= dest.length * SHARED ? new WrittenPlaces(places) : undefined;
  }

  /**
   * Copies a node that stands in the answer already; false when it does not.
   * @param cuts those of the answer, where what was noted before the last of them may have been taken back
   */
  copy(at: number, out: JsonWriter, cuts = 0): boolean {
    if (out !== this.#out) {
      this.#out = out;
      this.#ends.fill(0);
    }
    const end = this.#ends[at];
    if (end === 0 || this.#cuts[at] !== cuts) return false;
    out.again(this.#starts[at], end);
    return true;
  }

  /** Notes a node that `copy` did not find and that was just written, from `start` to the end of the answer. */
  note(at: number, start: number, out: JsonWriter, cuts = 0): void {
    this.#starts[at] = start;
    this.#ends[at] = out.length;
    this.#cuts[at] = cuts;
  }
}
