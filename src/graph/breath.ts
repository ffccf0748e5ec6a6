import { slicesOf, systemClock } from '../base/index.js';

const slices = slicesOf(systemClock);

/** Bytes of a value from which on what follows from it is worked out with pauses. */
export const LONG_VALUE = 16_384;

/** Lets the event loop run during long merges: other requests must not wait for a large commit. */
export class Breath {
  readonly #every: number;

  /** @param every milliseconds of work between two pauses */
  constructor(every: number) {
    this.#every = every;
    slices.begin();
  }

  /** A promise to await when it is time for a pause; undefined otherwise. Ask every few hundred steps. */
  due(): Promise<void> | undefined {
    return slices.used() < this.#every ? undefined : slices.next().then(() => undefined);
  }
}
