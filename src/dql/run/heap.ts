/** What stands in a heap, which alone writes `sequence` and `at`. */
export interface Standing {
  cost: number;
  /** when it came */
  sequence: number;
  /** its place; NOWHERE when it is not in the heap */
  at: number;
}

export const NOWHERE = -1;

/** A priority queue, cheapest first; of equals the one that came last leaves first. */
export class Heap<T extends Standing> {
  #items: T[] = [];
  #sequence = 0;

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    item.at = this.#items.length;
    this.#items.push(item);
    this.raise(item);
  }

  /** One that stands in the heap came again, and costs no more than before. */
  raise(item: T): void {
    item.sequence = this.#sequence++;
    while (item.at > 0) {
      const above = this.#items[(item.at - 1) >> 1];
      if (!isBefore(item, above)) break;
      this.#swap(item, above);
    }
  }

  pop(): T | undefined {
    const [top] = this.#items;
    const last = this.#items.pop();
    if (top === undefined || last === undefined) return undefined;
    if (top !== last) {
      this.#items[0] = last;
      last.at = 0;
      this.#sink(last);
    }
    top.at = NOWHERE;
    return top;
  }

  #sink(item: T): void {
    for (;;) {
      const left = this.#items[item.at * 2 + 1];
      if (left === undefined) break;
      const right = this.#items[item.at * 2 + 2];
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, item)) break;
      this.#swap(child, item);
    }
  }

  /** Forgets all but the first `count`. */
  keepBest(count: number): void {
    if (this.size <= count) return;
    // numbers sort many times faster than items
    const dearest = Float64Array.from(this.#items, ({ cost }) => cost).sort()[count - 1];
    const equals = this.#items.filter(({ cost }) => cost === dearest);
    const room = count - this.#items.filter(({ cost }) => cost < dearest).length;
    const oldest = Float64Array.from(equals, ({ sequence }) => sequence).sort()[equals.length - room];
    const all = this.#items;
    this.#items = all.filter(({ cost, sequence }) => cost < dearest || (cost === dearest && sequence >= oldest));
    for (const item of all) item.at = NOWHERE;
    for (let i = 0; i < this.size; i++) this.#items[i].at = i;
    for (let i = (this.size >> 1) - 1; i >= 0; i--) this.#sink(this.#items[i]);
  }

  #swap(a: T, b: T): void {
    const { at } = a;
    a.at = b.at;
    b.at = at;
    this.#items[a.at] = a;
    this.#items[b.at] = b;
  }
}

function isBefore(a: Standing, b: Standing): boolean {
  return a.cost < b.cost || (a.cost === b.cost && a.sequence > b.sequence);
}
