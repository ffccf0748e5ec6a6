import type { Clock } from './clock.js';

/** what clocks are corrected by while they run is less */
const STEP_MS = 5_000;
/** a clock that is set more often loses the oldest */
const KEPT = 100;

/**
 * Notices where wall time was set, by the monotonic time that passed meanwhile; a machine that slept looks the same. What
 * grows old by wall time has not grown older by a step.
 */
export class ClockSteps {
  readonly #clock: Clock;
  readonly #told: (ms: number) => void;
  /** from monotonic to wall time at the last look */
  #offset: number;
  #steps: { readonly ms: number; readonly at: number }[] = [];

  /** @param told of each step: milliseconds, negative where the clock was set back */
  constructor(clock: Clock, told: (ms: number) => void = () => undefined) {
    this.#clock = clock;
    this.#told = told;
    this.#offset = clock.wall() - clock.monotonic();
  }

  look(): void {
    const at = this.#clock.monotonic();
    const offset = this.#clock.wall() - at;
    const ms = offset - this.#offset;
    this.#offset = offset;
    if (Math.abs(ms) <= STEP_MS) return;
    this.#steps = [...this.#steps.slice(1 - KEPT), { ms, at }];
    this.#told(ms);
  }

  /**
   * Milliseconds that something has to stand beyond its age before it is past it: whatever stood when the clock was set
   * ahead lives on for its whole age at most.
   */
  held(ageMs: number): number {
    this.look();
    if (this.#steps.length === 0) return 0;
    const since = this.#clock.monotonic() - ageMs;
    return Math.max(
      0,
      this.#steps.reduce((sum, { ms, at }) => (at > since ? sum + ms : sum), 0),
    );
  }
}
