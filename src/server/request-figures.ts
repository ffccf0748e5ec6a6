import type { Value } from './figures.js';

const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

interface Timing {
  /** requests within each bound and above the one before; the last is for those above all */
  readonly buckets: number[];
  sum: number;
}

/**
 * Counts and times of requests, as plain numbers: checking and hashing labels for each request costs more than all
 * else that is measured. Labels are put on when somebody scrapes. Bounded: routes, methods and statuses are few.
 */
export class RequestFigures {
  /** route, method, status to the number of requests */
  readonly #counts = new Map<string, Map<string, Map<number, number>>>();
  readonly #timings = new Map<string, Timing>();

  add(route: string, method: string, status: number, seconds: number): void {
    const statuses = within(within(this.#counts, route, newMap), method, newMap) as Map<number, number>;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const timing = within(this.#timings, route, newTiming);
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]) bucket++;
    timing.buckets[bucket]++;
    timing.sum += seconds;
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
    const values: Value[] = [];
    for (const [route, { buckets, sum }] of this.#timings) {
      let count = 0;
      buckets.forEach((inside, i) => {
        count += inside;
        values.push({ metricName: `${name}_bucket`, labels: { le: BOUNDS[i] ?? '+Inf', route }, value: count });
      });
      values.push({ metricName: `${name}_sum`, labels: { route }, value: sum });
      values.push({ metricName: `${name}_count`, labels: { route }, value: count });
    }
    return values;
  }
}

function within<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

const newMap = <K, V>() => new Map<K, V>();
const newTiming = (): Timing => ({ buckets: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 });
