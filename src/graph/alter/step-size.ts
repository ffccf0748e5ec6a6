/** Milliseconds that a step should take, the wait for its group included: commits of others wait as long. */
const AIM_MS = 40;
const LEAST = 16 * 1024;
const MOST = 256 * 1024;

/**
 * How much of a build one step does. A commit costs the same however little is in it, so steps grow while nobody else
 * writes; whoever does makes them take longer, and so smaller.
 */
export class StepSize {
  #bytes = LEAST;

  get bytes(): number {
    return this.#bytes;
  }

  /** @param ms what a step of this size took */
  took(ms: number): void {
    const change = Math.min(2, Math.max(0.5, AIM_MS / ms));
    this.#bytes = Math.round(Math.min(MOST, Math.max(LEAST, this.#bytes * change)));
  }
}
