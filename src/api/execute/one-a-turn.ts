/** One begins in each turn of the event loop: requests have theirs between, however many wait. */
export class OneATurn {
  /** as many as wait: those that begin leave it, also where it never runs dry */
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#begin);
    });
  }

  readonly #begin = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#begin);
  };
}
