import type { Limits, MaybePromise } from '../../base/index.js';
import { Pace, type RunOptions } from '../../dql/index.js';

/** Parts of one answer that are written side by side: they have the room of one answer, and one turn before others have theirs. */
export class Ahead {
  readonly #pace: Pace;
  readonly #most: number;
  #bytes = 0;

  constructor(run: RunOptions, { answerBytes }: Pick<Limits, 'answerBytes'>) {
    this.#pace = new Pace(run);
    this.#most = answerBytes;
  }

  /**
   * To be awaited between steps, with the bytes that were written since. Throws RangeError, TIMEOUT, CANCELLED.
   */
  pause(written: number): MaybePromise<void> {
    this.#bytes += written;
    if (this.#bytes > this.#most) throw new RangeError(`answer exceeds ${this.#most} bytes`);
    return this.#pace.pause();
  }
}
