/** conflicts after which an upsert runs again one at a time with others like it */
const QUEUE_AFTER = 2;
/** conflicts after which new upserts wait for it */
const HOLD_AFTER = 4;

/**
 * Keeps upserts that lose to each other from losing for ever: after two conflicts they run one after another, and one
 * that goes on losing holds new upserts back until it is done. Plain mutations and queries never wait.
 */
export class UpsertLane {
  #last: Promise<void> = Promise.resolve();
  #holding: Promise<void> | undefined;

  /** Runs `attempt(n)` until it returns true, which means that it need not be repeated. */
  async run(attempt: (n: number) => Promise<boolean>): Promise<void> {
    await this.#holding;
    for (let n = 0; n < QUEUE_AFTER; n++) if (await attempt(n)) return;
    const before = this.#last;
    const { promise, resolve } = signal();
    this.#last = before.then(() => promise);
    try {
      await before;
      for (let n = QUEUE_AFTER; ; n++) {
        if (n === HOLD_AFTER) this.#holding = promise;
        if (await attempt(n)) return;
      }
    } finally {
      if (this.#holding === promise) this.#holding = undefined;
      resolve();
    }
  }
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
