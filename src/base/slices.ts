import type { Clock } from './clock.js';

/**
 * Time on the event loop, shared by all who work in steps. Together they may hold it for one slice; whoever comes to the end
 * of it waits in line, and each turn of the loop is given to the first. With a slice for each, a hundred requests that came
 * at once would hold everybody for a hundred slices.
 *
 * What begins while the line is long has a slice too, so that short work passes by it: a turn is two slices at most.
 */
export class Slices {
  readonly #clock: Clock;
  readonly #line: ((now: number) => void)[] = [];
  /** when the slice under way began; undefined before anybody worked */
  #since: number | undefined;
  /** the slice belongs to the one that was first in line */
  #isTaken = false;
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Work begins: what it does before it first looks counts too. */
  begin(): void {
    this.#since ??= this.#clock.monotonic();
    this.#schedule();
  }

  /** Milliseconds of the slice that are used. */
  used(now = this.#clock.monotonic()): number {
    this.#since ??= now;
    this.#schedule();
    return now - this.#since;
  }

  /** Resolves with the time when the event loop has turned and those ahead in the line have had their slices. */
  next(): Promise<number> {
    if (this.#isTaken) this.#since = undefined;
    this.#isTaken = false;
    this.#schedule();
    return new Promise((resolve) => this.#line.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    const first = this.#line.shift();
    this.#isTaken = first !== undefined;
    this.#since = first && this.#clock.monotonic();
    if (first === undefined || this.#since === undefined) return;
    this.#schedule();
    first(this.#since);
  }
}

const byClock = new WeakMap<Clock, Slices>();

/** The slices of all who look at the same clock. */
export function slicesOf(clock: Clock): Slices {
  let slices = byClock.get(clock);
  if (!slices) {
    slices = new Slices(clock);
    byClock.set(clock, slices);
  }
  return slices;
}
