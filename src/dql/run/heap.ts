/** A priority queue; of equals the one that came last leaves first. */
export class Heap<T> {
  #items: { readonly item: T; readonly sequence: number }[] = [];
  #sequence = 0;

  constructor(readonly compare: (a: T, b: T) => number) {}

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    const items = this.#items;
    items.push({ item, sequence: this.#sequence++ });
    for (let at = items.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): T | undefined {
    const items = this.#items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return last?.item;
    const top = items[0].item;
    items[0] = last;
    for (let at = 0; ; ) {
      const left = at * 2 + 1;
      if (left >= items.length) break;
      const child = left + 1 < items.length && this.#before(left + 1, left) ? left + 1 : left;
      if (!this.#before(child, at)) break;
      this.#swap(at, child);
      at = child;
    }
    return top;
  }

  /** Forgets all but the first `count`. */
  keepBest(count: number): void {
    this.#items.sort((a, b) => this.compare(a.item, b.item) || b.sequence - a.sequence);
    this.#items.length = Math.min(this.#items.length, count);
  }

  #before(a: number, b: number): boolean {
    const left = this.#items[a];
    const right = this.#items[b];
    const order = this.compare(left.item, right.item);
    return order === 0 ? left.sequence > right.sequence : order < 0;
  }

  #swap(a: number, b: number): void {
    [this.#items[a], this.#items[b]] = [this.#items[b], this.#items[a]];
  }
}
