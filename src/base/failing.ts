/** Tells that what is tried again and again begins to fail, and with nothing once it succeeds again: each time once. */
export class Failing {
  readonly #told: (failure: unknown) => void;
  #isFailing = false;

  constructor(told: (failure: unknown) => void) {
    this.#told = told;
  }

  failed(failure: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#told(failure);
  }

  succeeded(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#told(undefined);
  }
}
