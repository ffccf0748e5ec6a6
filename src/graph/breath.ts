import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes of a value from which on what follows from it is worked out with pauses. */
export const LONG_VALUE = 16_384;

/** Lets the event loop run during long merges: other requests must not wait for a large commit. */
export class Breath {
  readonly #every: number;
  #since = performance.now();

  /** @param every milliseconds of work between two pauses */
  constructor(every: number) {
    this.#every = every;
  }

  /** A promise to await when it is time for a pause; undefined otherwise. Ask every few hundred steps. */
  due(): Promise<void> | undefined {
    if (performance.now() - this.#since < this.#every) return undefined;
    return nextTurn().then(() => {
      this.#since = performance.now();
    });
  }
}
