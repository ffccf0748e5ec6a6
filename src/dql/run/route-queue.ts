import { CostHeap } from './cost-heap.js';
import { grown } from './grown.js';

const ROOM = 64;
/** below none, or above none */
const NONE = -1;
/** what lies below a route that is not in the queue */
const OUT = -2;

/**
 * Ways from the start through a graph, by number, in columns: no object for each, since a search may keep millions. A route
 * leads on over an edge from the one before it. Those that stand in the queue wait to be gone on with, cheapest first; of
 * equals the one that came last goes first, so that they lie on a stack. What nothing leads back to is forgotten, and its
 * number given away again.
 */
export class RouteQueue {
  /** where each route has come to, and over which of the edges there are from where the one before it has */
  node = new Int32Array(ROOM);
  edge = new Int32Array(ROOM);
  /** -1: it begins there */
  previous = new Int32Array(ROOM);
  cost = new Float64Array(ROOM);
  /** what lies on the stack above it, and below */
  #above = new Int32Array(ROOM);
  #below = new Int32Array(ROOM);
  /** routes that lead on from it; one more while it is gone on with */
  #holders = new Int32Array(ROOM);
  #count = 0;
  readonly #free: number[] = [];

  readonly #costs = new CostHeap();
  /** by cost: the top of its stack, or NONE */
  readonly #tops = new Map<number, number>();
  #size = 0;

  /** how many stand in the queue */
  get size(): number {
    return this.#size;
  }

  /** Whether a route stands in the queue. */
  stands(route: number): boolean {
    return this.#below[route] !== OUT;
  }

  /** A new route, in the queue. */
  push(node: number, cost: number, previous = -1, edge = 0): number {
    const route = this.#free.pop() ?? this.#added();
    this.node[route] = node;
    this.#holders[route] = 0;
    this.#lead(route, previous, edge);
    this.#stack(route, cost);
    return route;
  }

  /** A route that stands in the queue leads another way now: it comes anew. */
  reroute(route: number, cost: number, previous: number, edge: number): void {
    const before = this.previous[route];
    this.#unstack(route);
    this.#lead(route, previous, edge);
    this.#release(before);
    this.#stack(route, cost);
  }

  /** The best, taken out of the queue; -1: there is none. It is good until `done` is told that it was gone on with. */
  pop(): number {
    for (let cost = this.#costs.least; cost !== undefined; cost = this.#costs.least) {
      const top = this.#tops.get(cost) ?? NONE;
      if (top !== NONE) {
        this.#unstack(top);
        this.#holders[top]++;
        return top;
      }
      this.#costs.pop();
      this.#tops.delete(cost);
    }
    return -1;
  }

  done(route: number): void {
    this.#release(route);
  }

  /** Takes all but the first `count` out of the queue. @param forget is told of each before it is forgotten; false: it stays known */
  keepBest(count: number, forget: (route: number) => boolean = () => true): void {
    const costs = Float64Array.from(this.#tops.keys()).sort();
    let left = count;
    let kept = 0;
    for (const cost of costs) {
      const isKept = left > 0;
      let route = this.#tops.get(cost) ?? NONE;
      for (; route !== NONE && left > 0; left--) route = this.#below[route];
      while (route !== NONE) {
        const below = this.#below[route];
        this.#unstack(route);
        if (forget(route) && this.#holders[route] === 0) this.#forget(route);
        route = below;
      }
      if (isKept) kept++;
      else this.#tops.delete(cost);
    }
    this.#costs.reset(costs, kept);
  }

  #added(): number {
    const length = this.#count + 1;
    this.node = grown(this.node, length);
    this.edge = grown(this.edge, length);
    this.previous = grown(this.previous, length);
    this.cost = grown(this.cost, length);
    this.#above = grown(this.#above, length);
    this.#below = grown(this.#below, length);
    this.#holders = grown(this.#holders, length);
    return this.#count++;
  }

  #lead(route: number, previous: number, edge: number): void {
    this.previous[route] = previous;
    this.edge[route] = edge;
    if (previous >= 0) this.#holders[previous]++;
  }

  #release(route: number): void {
    if (route >= 0 && --this.#holders[route] === 0 && !this.stands(route)) this.#forget(route);
  }

  #forget(route: number): void {
    this.#free.push(route);
    for (let before = this.previous[route]; before >= 0; before = this.previous[before]) {
      if (--this.#holders[before] > 0 || this.stands(before)) return;
      this.#free.push(before);
    }
  }

  #stack(route: number, cost: number): void {
    const top = this.#tops.get(cost);
    if (top === undefined) this.#costs.push(cost);
    else if (top !== NONE) this.#above[top] = route;
    this.cost[route] = cost;
    this.#above[route] = NONE;
    this.#below[route] = top ?? NONE;
    this.#tops.set(cost, route);
    this.#size++;
  }

  #unstack(route: number): void {
    const above = this.#above[route];
    const below = this.#below[route];
    if (above === NONE) this.#tops.set(this.cost[route], below);
    else this.#below[above] = below;
    if (below !== NONE) this.#above[below] = above;
    this.#below[route] = OUT;
    this.#size--;
  }
}
