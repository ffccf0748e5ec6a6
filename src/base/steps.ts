import type { MaybePromise } from './maybe.js';

/** Long work that stops now and then, so that others can have their turn, and gives its result at the end. */
export type Steps<T> = Generator<void, T, void>;

/** How many small pieces of work go into one step: well below a millisecond's worth. */
export const STEP = 256;

/** The result without a stop: for callers that nobody waits behind. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The result with a pause after each step; what `pause` throws ends the work. */
export async function inSteps<T>(steps: Steps<T>, pause: () => MaybePromise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const paused = pause();
    if (paused) await paused;
  }
}

/** Does something with each item of a list. */
export function* forEachInSteps<T>(items: ArrayLike<T>, visit: (item: T) => void): Steps<void> {
  for (let i = 0; i < items.length; i++) {
    if (i % STEP === STEP - 1) yield;
    visit(items[i]);
  }
}
