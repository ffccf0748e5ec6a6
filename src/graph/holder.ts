import type { GraphTransaction } from './transaction.js';

/** The open transactions that one client may go on with. */
export class Holder {
  /** in the order of last use */
  readonly #open = new Map<number, GraphTransaction>();
  /** start timestamps of those that were given changes */
  readonly #changed = new Set<number>();
  /** a look for one that may go, which goes on where the last one ended: from the front, it would pass all that are gone */
  #look = this.#open.values();

  get size(): number {
    return this.#open.size;
  }

  /** of the changes that wait in them */
  get bytes(): number {
    let bytes = 0;
    for (const { stagedBytes } of this.#open.values()) bytes += stagedBytes;
    return bytes;
  }

  add(transaction: GraphTransaction): void {
    this.#open.set(transaction.startTs, transaction);
  }

  delete({ startTs }: GraphTransaction): void {
    this.#open.delete(startTs);
    this.#changed.delete(startTs);
  }

  /** It becomes the last of them. */
  used(transaction: GraphTransaction): void {
    if (this.#open.delete(transaction.startTs)) this.#open.set(transaction.startTs, transaction);
  }

  changed({ startTs }: GraphTransaction): void {
    this.#changed.add(startTs);
  }

  /** One that makes room for another. @param before monotonic time: one with changes must not have been used since */
  spare(before: number): GraphTransaction | undefined {
    // where most were left open with changes, the few others are those that the client goes on with
    const idle = this.#changed.size * 2 > this.size ? this.idle(before) : undefined;
    return idle ?? this.#clean() ?? this.idle(before);
  }

  /** The one that idles longest and that no request works with, of those with so many bytes of changes. */
  idle(before: number, leastBytes = 0): GraphTransaction | undefined {
    for (const transaction of this.#open.values()) {
      if (transaction.touched > before) return undefined;
      if (!transaction.busy && transaction.stagedBytes >= leastBytes) return transaction;
    }
    return undefined;
  }

  /** One that has changed nothing can be forgotten: its client begins again and loses no work. */
  #clean(): GraphTransaction | undefined {
    let busy: GraphTransaction | undefined;
    for (let left = this.size; left > 0; left--) {
      const transaction = this.#lookOn();
      if (transaction.dirty) continue;
      if (!transaction.busy) return transaction;
      busy ??= transaction;
    }
    return busy;
  }

  /** Where none is open it does not end. */
  #lookOn(): GraphTransaction {
    for (;;) {
      const next = this.#look.next();
      if (!next.done) return next.value;
      this.#look = this.#open.values();
    }
  }
}
