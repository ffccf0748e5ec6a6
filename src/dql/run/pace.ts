import {
  cancelled,
  type Clock,
  DEFAULT_LIMITS,
  GraphsteadError,
  HeapWatch,
  type MaybePromise,
  systemClock,
} from '../../base/index.js';
import type { RunOptions } from '../contract.js';

/** one for the process, as its heap is */
const processHeap = new HeapWatch();
/** Pauses behind which a request holds enough to be asked to give it up: a small one on a busy machine has some too. */
const SOME_PAUSES = 5;

/** Keeps the deadline of a query and lets the event loop turn while it works. */
export class Pace {
  readonly #clock: Clock;
  readonly #yieldMs: number;
  readonly #deadline: number;
  readonly #signal: Pick<AbortSignal, 'aborted'> | undefined;
  readonly #heap: Pick<HeapWatch, 'mustGive'>;
  #sliceStart: number;
  #pauses = 0;
  /** one pause for all who work side by side: each with one of its own would have its own slice too */
  #pause: Promise<void> | undefined;

  constructor(
    { clock = systemClock, limits = DEFAULT_LIMITS, deadline, signal }: RunOptions,
    heap: Pick<HeapWatch, 'mustGive'> = processHeap,
  ) {
    this.#clock = clock;
    this.#heap = heap;
    this.#yieldMs = limits.yieldMs;
    this.#deadline = deadline ?? Number.POSITIVE_INFINITY;
    this.#signal = signal;
    this.#sliceStart = clock.monotonic();
  }

  /** To be awaited between steps of work. Throws TIMEOUT, CANCELLED, OVERLOADED. */
  pause(): MaybePromise<void> {
    if (this.#pause) return this.#pause;
    const now = this.#clock.monotonic();
    this.#check(now);
    if (now - this.#sliceStart < this.#yieldMs) return undefined;
    this.#pause = this.#yield();
    return this.#pause;
  }

  async #yield(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#pause = undefined;
    this.#sliceStart = this.#clock.monotonic();
    this.#check(this.#sliceStart);
    if (++this.#pauses > SOME_PAUSES && this.#heap.mustGive()) throw heapIsFull();
  }

  #check(now: number): void {
    if (this.#signal?.aborted) throw cancelled('the query was cancelled');
    if (now <= this.#deadline) return;
    throw new GraphsteadError('TIMEOUT', 'the query ran past its deadline', {
      fix: 'Narrow it with a filter or with first, or give it a longer timeout; limits.queryMs bounds it.',
    });
  }
}

function heapIsFull(): GraphsteadError {
  return new GraphsteadError('OVERLOADED', 'the memory of the service is full, and this query holds much of it', {
    fix: 'Narrow it with a filter or with first, send fewer such at a time, or give Node more by NODE_OPTIONS=--max-old-space-size.',
  });
}
