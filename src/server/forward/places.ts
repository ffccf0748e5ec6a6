import { GraphsteadError } from '../../base/index.js';

/** Counts what waits for the service that writes, by whichever way it was sent there. */
export class Places {
  readonly #most: number;
  #taken = 0;

  constructor(forwards: number) {
    this.#most = forwards;
  }

  /** One more waits, until the returned function is called. Throws OVERLOADED. */
  take(): () => void {
    if (this.#taken >= this.#most) {
      const told = `${this.#most} requests wait for the service that writes (limits.forwards)`;
      throw new GraphsteadError('OVERLOADED', told, { fix: 'Come back later.' });
    }
    this.#taken++;
    return () => {
      this.#taken--;
    };
  }
}
