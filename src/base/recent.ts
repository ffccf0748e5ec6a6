/**
 * Values by text, at most so many: the half that was used last is never forgotten.
 *
 * What is used moves into the young half; a full one becomes the old one, and what was in that is gone. A working set that
 * fits is so never moved again, where a list in the order of use would be written at each look.
 */
export class Recent<V> {
  readonly #half: number;
  #young = new Map<string, V>();
  #old: ReadonlyMap<string, V> = new Map();

  /** @param most at least 2 */
  constructor(most: number) {
    this.#half = Math.max(1, most >> 1);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(text: string): V | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    if (old !== undefined) this.set(text, old);
    return old;
  }

  set(text: string, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(text)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, value);
  }
}
