import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RouteQueue } from './route-queue.js';

const costs = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 });

/** A route of the model: its place in the list that was given is its node. */
interface Model {
  readonly node: number;
  cost: number;
  sequence: number;
}

const inOrder = (items: readonly Model[]): number[] =>
  [...items].sort((a, b) => a.cost - b.cost || b.sequence - a.sequence).map(({ node }) => node);

function filled(given: readonly number[]): { queue: RouteQueue; routes: number[]; model: Model[] } {
  const queue = new RouteQueue();
  const routes = given.map((cost, node) => queue.push(node, cost));
  return { queue, routes, model: given.map((cost, node) => ({ node, cost, sequence: node })) };
}

function drained(queue: RouteQueue): number[] {
  const out: number[] = [];
  for (let route = queue.pop(); route >= 0; route = queue.pop()) out.push(queue.node[route]);
  return out;
}

describe('the queue of routes', () => {
  it('gives everything back in order, the last of equals first', () => {
    fc.assert(
      fc.property(costs, (given) => {
        const { queue, model } = filled(given);
        expect(drained(queue)).toEqual(inOrder(model));
        expect(queue.size).toBe(0);
      }),
    );
  });

  it('takes one that leads another way as the last, for less or the same', () => {
    fc.assert(
      fc.property(costs, fc.array(fc.tuple(fc.nat(), fc.nat(3))), (given, again) => {
        const { queue, routes, model } = filled(given);
        let sequence = given.length;
        for (const [which, less] of again) {
          const item = model[which % given.length];
          item.cost -= less;
          item.sequence = sequence++;
          queue.reroute(routes[item.node], item.cost, -1, 0);
        }
        expect(drained(queue)).toEqual(inOrder(model));
      }),
    );
  });

  it('forgets all but the best', () => {
    fc.assert(
      fc.property(costs, fc.integer({ min: 1, max: 20 }), (given, count) => {
        const { queue, model } = filled(given);
        const forgotten: number[] = [];
        queue.keepBest(count, (route) => forgotten.push(queue.node[route]) > 0);
        const order = inOrder(model);
        expect(forgotten.sort((a, b) => a - b)).toEqual(order.slice(count).sort((a, b) => a - b));
        expect(drained(queue)).toEqual(order.slice(0, count));
      }),
    );
  });

  it('knows the way back of all that stand in it', () => {
    const step = fc.record({ edges: fc.nat(4), keep: fc.integer({ min: 1, max: 12 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new RouteQueue();
        /** by node, since each route leads to a node of its own here */
        const wayTo = new Map<number, string>([[0, '0']]);
        queue.push(0, 0);
        let nodes = 1;
        for (const { edges, keep } of steps) {
          const route = queue.pop();
          if (route < 0) break;
          for (let edge = 0; edge < edges; edge++) {
            const cost = (nodes * 7) % 5;
            wayTo.set(nodes, `${wayTo.get(queue.node[route])} ${edge}:${nodes}`);
            queue.push(nodes++, queue.cost[route] + cost, route, edge);
            queue.keepBest(keep);
          }
          queue.done(route);
        }
        for (let route = queue.pop(); route >= 0; route = queue.pop()) {
          const way: string[] = [];
          let at = route;
          for (; queue.previous[at] >= 0; at = queue.previous[at]) way.unshift(`${queue.edge[at]}:${queue.node[at]}`);
          expect([queue.node[at], ...way].join(' ')).toBe(wayTo.get(queue.node[route]));
        }
      }),
    );
  });

  it('keeps no more than what is open and the ways to it', () => {
    const queue = new RouteQueue();
    queue.push(0, 0);
    let highest = 0;
    // each time ten ways, of which one is gone on with
    for (let i = 0; i < 1_000; i++) {
      const route = queue.pop();
      for (let edge = 0; edge < 10; edge++)
        highest = Math.max(highest, queue.push(i, queue.cost[route] + 1, route, edge));
      queue.keepBest(1);
      queue.done(route);
    }
    expect(highest).toBeLessThan(1_020);
  });
});
