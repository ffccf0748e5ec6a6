import { grown } from './grown.js';

/** Costs, each once, the least first. */
export class CostHeap {
  #costs = new Float64Array(16);
  #size = 0;

  /** undefined: there is none */
  get least(): number | undefined {
    return this.#size === 0 ? undefined : this.#costs[0];
  }

  push(cost: number): void {
    this.#costs = grown(this.#costs, this.#size + 1);
    const costs = this.#costs;
    let at = this.#size++;
    for (let above = (at - 1) >> 1; at > 0 && cost < costs[above]; above = (at - 1) >> 1) {
      costs[at] = costs[above];
      at = above;
    }
    costs[at] = cost;
  }

  /** Takes the least away. */
  pop(): void {
    const costs = this.#costs;
    const last = costs[--this.#size];
    let at = 0;
    for (let child = 1; child < this.#size; child = at * 2 + 1) {
      if (child + 1 < this.#size && costs[child + 1] < costs[child]) child++;
      if (last <= costs[child]) break;
      costs[at] = costs[child];
      at = child;
    }
    costs[at] = last;
  }

  /** Keeps so many of the costs given, which ascend, and no others. */
  reset(ascending: Float64Array, count: number): void {
    this.#costs = ascending.slice(0, Math.max(count, 1));
    this.#size = count;
  }
}
