/**
 * Values by text, at most so many of at most so much weight: the half that was used last is never forgotten.
 *
 * What is used moves into the young half; a full one becomes the old one, and what was in that is gone. A working set that
 * fits is so never moved again, where a list in the order of use would be written at each look.
 */
export class Recent<V> {
  readonly #half: number;
  readonly #halfWeight: number;
  #young = new Map<string, Weighed<V>>();
  #old: ReadonlyMap<string, Weighed<V>> = new Map();
  #youngWeight = 0;
  #oldWeight = 0;

  /**
   * @param most at least 2
   * @param weight of all values together, in whatever unit they are given one
   */
  constructor(most: number, weight = Number.POSITIVE_INFINITY) {
    this.#half = Math.max(1, most >> 1);
    this.#halfWeight = weight / 2;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get weight(): number {
    return this.#youngWeight + this.#oldWeight;
  }

  get(text: string): V | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young.value;
    const old = this.#old.get(text);
    if (old !== undefined) this.set(text, old.value, old.weight);
    return old?.value;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngWeight = 0;
    this.#oldWeight = 0;
  }

  /** A value of more than half of all weight is not kept. */
  set(text: string, value: V, weight = 0): void {
    if (weight > this.#halfWeight) return;
    const before = this.#young.get(text);
    if (before !== undefined) this.#youngWeight -= before.weight;
    const isFull = this.#young.size >= this.#half && before === undefined;
    if (isFull || this.#youngWeight + weight > this.#halfWeight) this.#age(before && text);
    this.#young.set(text, { value, weight });
    this.#youngWeight += weight;
  }

  /** @param without a text whose weight is taken off already */
  #age(without: string | undefined): void {
    if (without !== undefined) this.#young.delete(without);
    this.#old = this.#young;
    this.#oldWeight = this.#youngWeight;
    this.#young = new Map();
    this.#youngWeight = 0;
  }
}

/** what a field takes in bytes of text: its plan is kept too, and fragments make many fields of a short text */
const FIELD_BYTES = 64;

/** Weight of a parsed text under `limits.documentCacheBytes`. */
export function documentWeight(text: string, fields: number): number {
  return text.length + fields * FIELD_BYTES;
}

interface Weighed<V> {
  readonly value: V;
  readonly weight: number;
}
