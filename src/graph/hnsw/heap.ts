/** A uid and how far it is from what is looked for. */
export interface Neighbour {
  readonly uid: number;
  readonly distance: number;
}

/** A binary heap of neighbours; the nearest on top, or the farthest. */
export class NeighbourHeap {
  readonly #items: Neighbour[] = [];
  readonly #sign: 1 | -1;

  constructor(top: 'nearest' | 'farthest') {
    this.#sign = top === 'nearest' ? 1 : -1;
  }

  get size(): number {
    return this.#items.length;
  }

  get top(): Neighbour | undefined {
    return this.#items[0];
  }

  push(item: Neighbour): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(item, items[parent])) break;
      items[at] = items[parent];
      at = parent;
    }
    items[at] = item;
  }

  pop(): Neighbour | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || !last) return top;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#before(items[child + 1], items[child])) child++;
      if (!this.#before(items[child], last)) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return top;
  }

  /** Everything, nearest first. */
  sorted(): Neighbour[] {
    return [...this.#items].sort(compareNeighbours);
  }

  #before(a: Neighbour, b: Neighbour): boolean {
    return compareNeighbours(a, b) * this.#sign < 0;
  }
}

/** Nearer first; the lower uid where both are equally near, so that answers repeat. */
export function compareNeighbours(a: Neighbour, b: Neighbour): number {
  return a.distance - b.distance || a.uid - b.uid;
}
