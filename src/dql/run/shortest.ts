import { GraphsteadError } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { ResultPath } from '../contract.js';
import type { Block, PredicateSelection, ShortestArgs, UidArgument } from '../syntax/index.js';
import { branch, type ResultBranch } from './branch.js';
import { readEdges } from './edge.js';
import type { Execution } from './execution.js';
import { Heap } from './heap.js';
import { fromUids, subtract } from './uid-set.js';
import { uidsOf } from './variable.js';

/** One edge of the part of the graph that is known so far. */
interface Edge {
  readonly to: number;
  readonly cost: number;
  readonly selection: PredicateSelection;
  readonly facets?: Facets;
}

/** A way from the start; `previous` leads back to it. */
interface Route {
  readonly uid: number;
  readonly cost: number;
  readonly edge?: Edge;
  readonly previous?: Route;
}

/**
 * `shortest`: the numPaths cheapest paths without repeated nodes, cheapest first. An edge costs 1, or what its one
 * facet says where facets are asked for; edges without it are not taken. `depth` bounds how many steps away from the
 * start edges are looked for.
 */
export async function readShortest(root: ResultBranch, block: Block, execution: Execution): Promise<void> {
  const args = block.shortest;
  if (!args) return;
  const selections = block.children.map(edgeOf);
  const from = endOf(args.from, execution);
  const to = endOf(args.to, execution);
  const paths = from === undefined || to === undefined ? [] : await search(from, to, args, selections, execution);
  root.paths = paths;
  const [best] = paths;
  const ordered = Float64Array.from(best?.uids ?? []);
  root.dest = fromUids(ordered);
  root.rows = [ordered];
  if (block.variable !== undefined) execution.variables.set(block.variable, { uids: root.dest, ordered });
}

function edgeOf(selection: Block['children'][number]): PredicateSelection {
  if (selection.kind !== 'predicate') {
    throw new GraphsteadError('INVALID_QUERY', `${selection.kind} is not allowed inside shortest`, {
      position: selection.position,
      fix: 'Name the predicates to follow.',
    });
  }
  if ((selection.facets?.keys.length ?? 0) > 1 || selection.facets?.all) {
    throw new GraphsteadError('INVALID_QUERY', 'Expected 1 but got more facets for the weight of an edge', {
      position: selection.position,
      fix: 'Ask for the one facet that holds the weight: @facets(weight).',
    });
  }
  return selection;
}

function endOf(argument: UidArgument, execution: Execution): number | undefined {
  if (argument.kind === 'uid') return argument.uid;
  const uids = uidsOf(execution.variables.get(argument.name));
  if (uids.length > 1) {
    throw new GraphsteadError('INVALID_QUERY', `variable ${argument.name} holds more than one uid`, {
      fix: 'from and to of shortest take one node each.',
    });
  }
  return uids[0];
}

/** The part of the graph around the start, read a whole level of nodes at a time and only as far as it is needed. */
class Neighbourhood {
  readonly #edges = new Map<number, readonly Edge[]>();
  #frontier: UidList;
  #level = 0;

  constructor(
    from: number,
    readonly selections: readonly PredicateSelection[],
    readonly depth: number,
    readonly execution: Execution,
  ) {
    this.#frontier = Float64Array.of(from);
  }

  /** Edges of a node; none for a node past the depth. */
  async edges(uid: number): Promise<readonly Edge[]> {
    while (!this.#edges.has(uid) && this.#frontier.length > 0 && this.#level < this.depth) await this.#grow();
    return this.#edges.get(uid) ?? [];
  }

  async #grow(): Promise<void> {
    const found = new Map<number, Map<number, Edge>>();
    for (const uid of this.#frontier) found.set(uid, new Map());
    for (const selection of this.selections) await this.#follow(selection, found);
    const reached: number[] = [];
    for (const [uid, edges] of found) {
      this.#edges.set(uid, [...edges.values()]);
      for (const to of edges.keys()) reached.push(to);
    }
    this.#level++;
    this.#frontier = subtract(fromUids(reached), fromUids(this.#edges.keys()));
  }

  async #follow(selection: PredicateSelection, found: Map<number, Map<number, Edge>>): Promise<void> {
    const predicate = this.execution.predicate(selection.name);
    if (predicate?.type !== 'uid') return;
    const read = branch(selection, this.#frontier, predicate);
    await readEdges(read, selection, predicate, this.execution);
    read.rows?.forEach((row, i) => {
      const edges = found.get(read.source[i]);
      row.forEach((to, j) => {
        const facets = read.rowFacets?.[i]?.[j];
        const cost = costOf(selection, facets);
        const known = edges?.get(to);
        // Of two ways over the same step the cheaper one counts, of equal ones the one named last.
        if (cost === undefined || (known && known.cost < cost)) return;
        edges?.set(to, { to, cost, selection, ...(facets ? { facets } : {}) });
      });
    });
  }
}

/** undefined: the edge cannot be taken */
function costOf(selection: PredicateSelection, facets: Facets | undefined): number | undefined {
  const key = selection.facets?.keys[0]?.key;
  if (key === undefined) return 1;
  const value = facets?.find((facet) => facet.key === key)?.value;
  if (value?.type !== 'int' && value?.type !== 'float') return undefined;
  return Number(value.value);
}

async function search(
  from: number,
  to: number,
  args: ShortestArgs,
  selections: readonly PredicateSelection[],
  execution: Execution,
): Promise<ResultPath[]> {
  const around = new Neighbourhood(from, selections, args.depth ?? Number.POSITIVE_INFINITY, execution);
  const open = new Heap<Route>((a, b) => a.cost - b.cost);
  open.push({ uid: from, cost: 0 });
  const single = args.numPaths <= 1;
  const settled = new Set<number>();
  const paths: ResultPath[] = [];
  for (let route = open.pop(); route; route = open.pop()) {
    await execution.checkpoint();
    if (route.cost > (args.maxWeight ?? Number.POSITIVE_INFINITY)) break;
    if (route.uid === to) {
      if (route.cost >= (args.minWeight ?? Number.NEGATIVE_INFINITY)) paths.push(pathOf(route));
      if (paths.length >= Math.max(1, args.numPaths)) break;
      continue;
    }
    if (single) {
      if (settled.has(route.uid)) continue;
      settled.add(route.uid);
    }
    for (const edge of await around.edges(route.uid)) {
      if (single ? settled.has(edge.to) : visits(route, edge.to)) continue;
      open.push({ uid: edge.to, cost: route.cost + edge.cost, edge, previous: route });
    }
    bound(open, args, execution);
  }
  return paths;
}

/** A frontier without bound would fill the memory with routes that nobody asked for. */
function bound(open: Heap<Route>, args: ShortestArgs, execution: Execution): void {
  const most = args.maxFrontierSize ?? execution.limits.recurseEdges;
  if (open.size <= most) return;
  if (args.maxFrontierSize !== undefined) {
    open.keepBest(most);
    return;
  }
  throw new GraphsteadError('LIMIT_EXCEEDED', `shortest keeps more than ${most} routes open`, {
    fix: 'Give it a depth, a maxweight or a maxfrontiersize, or ask for fewer paths.',
  });
}

function visits(route: Route, uid: number): boolean {
  for (let at: Route | undefined = route; at; at = at.previous) if (at.uid === uid) return true;
  return false;
}

function pathOf(route: Route): ResultPath {
  const uids: number[] = [];
  const edges: ResultPath['edges'][number][] = [];
  for (let at: Route | undefined = route; at; at = at.previous) {
    uids.push(at.uid);
    if (at.edge) edges.push({ selection: at.edge.selection, ...(at.edge.facets ? { facets: at.edge.facets } : {}) });
  }
  return { uids: uids.reverse(), edges: edges.reverse(), weight: route.cost };
}
