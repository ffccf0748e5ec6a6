import { GraphsteadError } from '../../base/index.js';
import type { ShortestArgs } from '../syntax/index.js';
import type { Execution } from './execution.js';
import { grown } from './grown.js';
import type { Edges, Neighbourhood } from './neighbourhood.js';
import { RouteQueue } from './route-queue.js';

/** What is known of a node that is reached once: nothing, that it is reached, or one more than the route to it. */
const UNKNOWN = 0;
const REACHED = -1;

/** The routes that are open. Without a bound they would fill the memory: there are as many as ways through the graph. */
export class Frontier {
  readonly routes = new RouteQueue();
  readonly #args: ShortestArgs;
  readonly #limit: number;
  /**
   * Where a node is reached once: what is known of each. On the way to a path that must weigh enough, or to the second
   * best, a dearer way to a node may be the right one.
   */
  #single: Int32Array | undefined;
  /**
   * The end, where one path of the fewest edges is looked for: once a route to it is open, those that are as long cannot
   * better it. What lies behind them may be most of the graph, and is not read.
   */
  readonly #goal: number | undefined;

  constructor({ start, end, isFree }: Neighbourhood, args: ShortestArgs, { limits }: Execution) {
    this.#args = args;
    this.#limit = limits.shortestRoutes;
    const first = this.routes.push(start, 0);
    if (args.numPaths > 1 || args.minWeight !== undefined) return;
    this.#single = new Int32Array(Math.max(start, end) + 1);
    this.#single[start] = first + 1;
    if (isFree) this.#goal = end;
  }

  /** The cheapest route; -1: there is none. */
  pop(): number {
    const route = this.routes.pop();
    if (!this.#single || route < 0) return route;
    this.#single[this.routes.node[route]] = REACHED;
    const best = this.#goal === undefined ? UNKNOWN : this.#single[this.#goal];
    return best > UNKNOWN && this.routes.cost[best - 1] <= this.routes.cost[route] ? best - 1 : route;
  }

  /** Goes on from a route over an edge. */
  follow(route: number, { to, costs }: Edges, edge: number): void {
    const cost = this.routes.cost[route] + (costs === undefined ? 1 : costs[edge]);
    if (this.#single) this.#reach(to[edge], cost, route, edge);
    else if (!this.#visits(route, to[edge])) this.routes.push(to[edge], cost, route, edge);
  }

  #reach(node: number, cost: number, previous: number, edge: number): void {
    const single = grown(this.#single as Int32Array, node + 1);
    this.#single = single;
    const known = single[node];
    if (known === REACHED) return;
    if (known === UNKNOWN || !this.routes.stands(known - 1)) {
      single[node] = this.routes.push(node, cost, previous, edge) + 1;
    } else if (cost <= this.routes.cost[known - 1]) {
      this.routes.reroute(known - 1, cost, previous, edge);
    }
  }

  #visits(route: number, node: number): boolean {
    const { node: nodes, previous } = this.routes;
    for (let at = route; at >= 0; at = previous[at]) if (nodes[at] === node) return true;
    return false;
  }

  /** Throws LIMIT_EXCEEDED. */
  bound(): void {
    const { size } = this.routes;
    const wanted = this.#args.maxFrontierSize;
    // to choose the best of many costs much: not after each step
    if (wanted !== undefined && size > Math.min(wanted + Math.floor(wanted / 8), this.#limit)) {
      this.routes.keepBest(wanted, (route) => this.#forget(this.routes.node[route]));
    }
    if (this.routes.size <= this.#limit) return;
    throw new GraphsteadError(
      'LIMIT_EXCEEDED',
      `shortest keeps more than ${this.#limit} routes open (limits.shortestRoutes)`,
      { fix: 'Give it a depth, a maxweight or a smaller maxfrontiersize, or ask for fewer paths.' },
    );
  }

  /** The way to a node is none of the best; that to the end stays known, and may be the answer. */
  #forget(node: number): boolean {
    if (!this.#single || node === this.#goal) return !this.#single;
    this.#single[node] = UNKNOWN;
    return true;
  }
}
