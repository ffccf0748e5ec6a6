import type { Clock } from '../../base/index.js';
import type { Latency } from '../contract.js';

type Part = Exclude<keyof Latency, 'total_ns'>;

/** Where the time of one request went. */
export class Stopwatch {
  readonly #clock: Clock;
  readonly #start: number;
  readonly #parts: Record<Part, number> = {
    parsing_ns: 0,
    processing_ns: 0,
    encoding_ns: 0,
    assign_timestamp_ns: 0,
  };
  #last: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#start = this.#last = clock.monotonic();
  }

  /** What passed since the last lap belongs to `part`. */
  lap(part: Part): void {
    const now = this.#clock.monotonic();
    this.#parts[part] += nanoseconds(now - this.#last);
    this.#last = now;
  }

  latency(): Latency {
    return { ...this.#parts, total_ns: nanoseconds(this.#clock.monotonic() - this.#start) };
  }
}

function nanoseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e6);
}
