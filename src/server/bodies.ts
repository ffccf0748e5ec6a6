import { GraphsteadError } from '../base/index.js';

/** smaller ones are not counted: that would cost each request, and many of them are little */
export const COUNTED_BODY = 64 * 1024;

/** The bytes of large bodies that are here at a time, of all requests that are read or answered, whichever way they came. */
export class LargeBodies {
  #held = 0;

  /** @param limit limits.largeBodiesBytes */
  constructor(readonly limit: number) {}

  /** Whether so many more find no room; what comes alone always does. */
  isFullFor(bytes: number): boolean {
    return this.#held > 0 && this.#held + bytes > this.limit;
  }

  /** Whether there are too many with those of somebody else. @param own bytes of one body, which are counted */
  isFullBeside(own: number): boolean {
    return this.#held > this.limit && this.#held !== own;
  }

  add(bytes: number): void {
    this.#held += bytes;
  }

  remove(bytes: number): void {
    this.#held -= bytes;
  }

  refusal(): GraphsteadError {
    return new GraphsteadError(
      'OVERLOADED',
      'the bodies of other requests take all the memory that there is for them',
      { fix: `limits.largeBodiesBytes is ${this.limit}: send fewer large requests at a time` },
    );
  }
}
