import { Holder } from './holder.js';
import type { GraphTransaction } from './transaction.js';

/** Who holds which transactions open. Whoever holds most is found at once, however many clients there are. */
export class Holders {
  readonly #holders = new Map<string, Holder>();
  /** those who hold 1, 2, 3 ...; the last of them is never empty */
  readonly #bySize: Set<Holder>[] = [];
  #size = 0;

  /** transactions that are held */
  get size(): number {
    return this.#size;
  }

  /** clients that hold any */
  get all(): Iterable<Holder> {
    return this.#holders.values();
  }

  /** undefined: it holds none */
  of(client: string): Holder | undefined {
    return this.#holders.get(client);
  }

  /** One of those who hold most. */
  get largest(): Holder | undefined {
    return this.#bySize.at(-1)?.values().next().value;
  }

  /** Those who hold more than so many, who hold most first; none may come or go meanwhile. */
  *above(size: number): Iterable<Holder> {
    for (let i = this.#bySize.length - 1; i >= size; i--) yield* this.#bySize[i];
  }

  add(transaction: GraphTransaction, client: string): void {
    let holder = this.#holders.get(client);
    if (holder === undefined) {
      holder = new Holder();
      this.#holders.set(client, holder);
    }
    this.#change(holder, () => holder.add(transaction));
  }

  delete(transaction: GraphTransaction, client: string): void {
    const holder = this.#holders.get(client);
    if (holder === undefined) return;
    this.#change(holder, () => holder.delete(transaction));
    if (holder.size === 0) this.#holders.delete(client);
  }

  #change(holder: Holder, change: () => void): void {
    const before = holder.size;
    this.#bySize[before - 1]?.delete(holder);
    change();
    this.#size += holder.size - before;
    if (holder.size > 0) (this.#bySize[holder.size - 1] ??= new Set()).add(holder);
    while (this.#bySize.at(-1)?.size === 0) this.#bySize.pop();
  }
}
