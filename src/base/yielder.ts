import { setImmediate as nextTurn } from 'node:timers/promises';

/** Lets the event loop run during long work: other requests must not wait for a large one. */
export class Yielder {
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
