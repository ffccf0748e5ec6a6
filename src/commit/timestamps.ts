// A durable block: at most this many timestamps are skipped by a restart.
const LEASE = 100_000;
/** Starts that a group leaves room for, however small: what it writes may be much more than what it says. */
const FEWEST_STARTS = 256;
/** A large group takes its time: one more start for so many bytes, */
const BYTES_A_START = 256;
/** up to so many. */
const MOST_STARTS = LEASE / 4;

/**
 * The one counter of start and commit timestamps. While a group is being made durable its commit timestamps are fixed but
 * not visible yet; a transaction that starts meanwhile must count as older than they are, since it does not see them.
 * So a group takes its timestamps from behind a gap, and starts are issued from the gap until it landed.
 */
export class Timestamps {
  /** the last one issued */
  #last: number;
  #lease: number;
  /** the last start that may be issued before the group in flight landed; above `#last` outside of a flight */
  #gapEnd = Number.MAX_SAFE_INTEGER;
  #flightLast = 0;
  #startsInFlight = 0;

  /** @param last nothing up to this one is issued again */
  constructor(last: number, lease: number) {
    this.#last = last;
    this.#lease = lease;
  }

  get last(): number {
    return Math.max(this.#last, this.#flightLast);
  }

  /** A start timestamp; undefined when it has to wait for the flight to land or for a lease. */
  start(): number | undefined {
    if (this.#last >= this.#lease || this.#last >= this.#gapEnd) return undefined;
    this.#startsInFlight++;
    return ++this.#last;
  }

  /** Whether the next batch has to raise the lease, and to what. */
  get wantedLease(): number {
    return this.#lease - this.last < LEASE / 2 ? this.last + LEASE : this.#lease;
  }

  get exhausted(): boolean {
    return this.#last >= this.#lease;
  }

  /** Begins a group of so many bytes; `next()` gives its timestamps until it landed or failed. `starting` more starts are due at once. */
  takeOff(starting: number, bytes = 0): void {
    const whileItLasts = Math.min(Math.floor(bytes / BYTES_A_START), MOST_STARTS);
    this.#gapEnd = this.#last + FEWEST_STARTS + whileItLasts + starting + 2 * this.#startsInFlight;
    this.#flightLast = this.#gapEnd;
    this.#startsInFlight = 0;
  }

  /** The next commit timestamp of the group. */
  next(): number {
    return ++this.#flightLast;
  }

  /** The group is over; when it landed with a lease, that holds now. */
  land(lease?: number): void {
    this.#last = Math.max(this.#last, this.#flightLast);
    this.#flightLast = 0;
    this.#gapEnd = Number.MAX_SAFE_INTEGER;
    if (lease !== undefined) this.#lease = lease;
  }
}
