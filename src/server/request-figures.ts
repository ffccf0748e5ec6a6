import { Histogram, within } from '../base/index.js';
import { type Value, valuesOf } from './figures.js';

/**
 * Counts and times of requests, as plain numbers: checking and hashing labels for each request costs more than all
 * else that is measured. Labels are put on when somebody scrapes. Bounded: routes, methods and statuses are few.
 */
export class RequestFigures {
  /** route, method, status to the number of requests */
  readonly #counts = new Map<string, Map<string, Map<number, number>>>();
  readonly #timings = new Map<string, Histogram>();

  add(route: string, method: string, status: number, seconds: number): void {
    const statuses = within(within(this.#counts, route, newMap), method, newMap);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    within(this.#timings, route, newHistogram).add(seconds);
  }

  /** requests by route, method and status */
  counts(): Value[] {
    const values: Value[] = [];
    for (const [route, methods] of this.#counts) {
      for (const [method, statuses] of methods) {
        for (const [status, value] of statuses) values.push({ labels: { route, method, status }, value });
      }
    }
    return values;
  }

  /** buckets, sums and counts of a histogram by route */
  timings(name: string): Value[] {
    return [...this.#timings].flatMap(([route, times]) => valuesOf(name, times, { route }));
  }
}

const newMap = () => new Map();
const newHistogram = () => new Histogram();
