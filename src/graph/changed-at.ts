/** Names beside those of the schema that are remembered at least before they are looked through. */
const SPARE = 1_024;

/** When each predicate was touched last, as far as this process knows. */
export class ChangedAt {
  readonly #versions = new Map<string, number>();
  /** the last time that one was touched which is forgotten: it had gone from the schema */
  #gone = 0;
  #lookAt = SPARE;

  readonly #isKnown: (predicate: string) => boolean;

  /** @param isKnown whether a predicate of the name stands in the newest schema */
  constructor(isKnown: (predicate: string) => boolean) {
    this.#isKnown = isKnown;
  }

  /** names that are remembered */
  get size(): number {
    return this.#versions.size;
  }

  /** 0 when never */
  get(predicate: string): number {
    return this.#versions.get(predicate) ?? (this.#isKnown(predicate) ? 0 : this.#gone);
  }

  /** Versions come in order. */
  set(predicates: Iterable<string>, version: number): void {
    for (const predicate of predicates) this.#versions.set(predicate, version);
    if (this.#versions.size > this.#lookAt) this.#forget();
  }

  /** Names of predicates that are made and dropped again and again would become more without end. */
  #forget(): void {
    for (const [predicate, version] of this.#versions) {
      if (this.#isKnown(predicate)) continue;
      this.#versions.delete(predicate);
      this.#gone = Math.max(this.#gone, version);
    }
    this.#lookAt = 2 * this.#versions.size + SPARE;
  }
}
