import { type Clock, GraphsteadError, type Limits } from '../base/index.js';

interface State {
  failures: number;
  /** monotonic time at which one call may try again; undefined while calls flow */
  openUntil?: number;
  trying: boolean;
}

const MOST_REMOTES = 10_000;

/** Stops calls to a remote after too many failures in a row; after a while one call may try whether it is back. */
export class Circuits {
  readonly #states = new Map<string, State>();
  readonly #limits: Pick<Limits, 'circuitFailures' | 'circuitOpenMs'>;
  readonly #clock: Clock;

  constructor(limits: Pick<Limits, 'circuitFailures' | 'circuitOpenMs'>, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Throws CIRCUIT_OPEN naming the remote. Every call that passes must be told to `succeeded`, `failed` or `dropped`. */
  enter(remote: string): void {
    const state = this.#states.get(remote);
    if (state?.openUntil === undefined) return;
    const wait = state.openUntil - this.#clock.monotonic();
    if (wait > 0 || state.trying) {
      throw new GraphsteadError('CIRCUIT_OPEN', `${remote} is not called: its last ${state.failures} calls failed`, {
        fix: 'Check the remote; one call tries again after a while.',
        details: { remote, retryAfterMs: Math.max(0, Math.ceil(wait)) },
      });
    }
    state.trying = true;
  }

  succeeded(remote: string): void {
    this.#states.delete(remote);
  }

  /** The call says nothing about the remote: it was cancelled, or never left. */
  dropped(remote: string): void {
    const state = this.#states.get(remote);
    if (state) state.trying = false;
  }

  failed(remote: string): void {
    const state = this.#states.get(remote) ?? { failures: 0, trying: false };
    state.failures++;
    state.trying = false;
    if (state.failures >= this.#limits.circuitFailures) {
      state.openUntil = this.#clock.monotonic() + this.#limits.circuitOpenMs;
    }
    if (this.#states.size < MOST_REMOTES || this.#states.has(remote)) this.#states.set(remote, state);
  }
}
