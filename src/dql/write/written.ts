import type { JsonWriter } from '../../base/index.js';

/**
 * Where the nodes of a level stand in the answer, by their place in its columns: what several rows share is written
 * once and copied after that. What stands here is never taken back: a list or object with a node in it is not empty.
 */
export class WrittenPlaces {
  readonly #starts: Float64Array;
  /** 0 where the node was not written yet */
  readonly #ends: Float64Array;

  constructor(places: number) {
    this.#starts = new Float64Array(places);
    this.#ends = new Float64Array(places);
  }

  /** Copies a node that stands in the answer already; false when it does not. */
  copy(at: number, out: JsonWriter): boolean {
    const end = this.#ends[at];
    if (end === 0) return false;
    out.again(this.#starts[at], end);
    return true;
  }

  /** Notes a node that was just written, from `start` to the end of the answer. */
  note(at: number, start: number, out: JsonWriter): void {
    this.#starts[at] = start;
    this.#ends[at] = out.length;
  }
}
