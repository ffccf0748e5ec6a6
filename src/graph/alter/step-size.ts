/** Milliseconds that a step should take, the wait for its group included: commits of others wait as long. */
const AIM_MS = 40;
/** How many times as long it may take while nobody else commits: the first who does waits for it once. */
const QUIET = 4;
const LEAST = 16 * 1024;
const MOST = 256 * 1024;

/**
 * How much of a build one step does. A commit costs the same however little is in it, and a page is written once for all
 * that a commit changes in it: so steps grow while nobody else writes. Whoever does makes them smaller.
 */
export class StepSize {
  #bytes = LEAST;

  /** @param quiet nobody else commits */
  bytes(quiet: boolean): number {
    return quiet ? this.#bytes * QUIET : this.#bytes;
  }

  /** @param ms what a step of this size took */
  took(ms: number, quiet: boolean): void {
    const aim = quiet ? AIM_MS * QUIET : AIM_MS;
    const change = Math.min(2, Math.max(0.5, aim / ms));
    this.#bytes = Math.round(Math.min(MOST, Math.max(LEAST, this.#bytes * change)));
  }
}
