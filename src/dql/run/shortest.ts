import { forEachInSteps, GraphsteadError, inSteps, type MaybePromise, STEP } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { ResultPath } from '../contract.js';
import type { Block, PredicateSelection, ShortestArgs, UidArgument } from '../syntax/index.js';
import { filterBatches } from './batch.js';
import { branch, type ResultBranch } from './branch.js';
import { readEdges } from './edge.js';
import type { Execution } from './execution.js';
import { Heap, NOWHERE, type Standing } from './heap.js';
import { filterUids, fromUids, unionOfRows } from './uid-set.js';
import { uidsOf } from './variable.js';

/** The edges of one node, side by side: no object for each, since a search may meet millions. */
interface Edges {
  readonly to: UidList;
  /** what each costs; undefined: 1 */
  readonly costs: Float64Array | undefined;
  /** by which selection all of them are taken, or each of them */
  readonly selection: PredicateSelection | readonly PredicateSelection[];
  readonly facets: readonly (Facets | undefined)[] | undefined;
}

/** A way from the start; `previous` leads back to it over one of its edges. */
interface Route extends Standing {
  readonly uid: number;
  edges: Edges | undefined;
  /** which of the edges */
  edge: number;
  previous: Route | undefined;
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
  readonly #edges = new Map<number, Edges>();
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

  /** Edges of a node; none for a node past the depth. Most are known already: no promise for those. */
  edges(uid: number): MaybePromise<Edges> {
    return this.#edges.get(uid) ?? this.#read(uid);
  }

  async #read(uid: number): Promise<Edges> {
    while (!this.#edges.has(uid) && this.#frontier.length > 0 && this.#level < this.depth) await this.#grow();
    return this.#edges.get(uid) ?? NONE;
  }

  async #grow(): Promise<void> {
    const { execution } = this;
    const pause = () => execution.checkpoint();
    await inSteps(
      forEachInSteps(this.#frontier, (uid) => this.#edges.set(uid, NONE)),
      pause,
    );
    const reached: UidList[] = [];
    for (const selection of this.selections) await this.#follow(selection, reached);
    this.#level++;
    const all = await inSteps(unionOfRows(reached), pause);
    this.#frontier = await filterBatches(all, execution, (batch) => filterUids(batch, (uid) => !this.#edges.has(uid)));
  }

  /** @param reached gets what the edges that can be taken lead to, a list for each node */
  async #follow(selection: PredicateSelection, reached: UidList[]): Promise<void> {
    const predicate = this.execution.predicate(selection.name);
    if (predicate?.type !== 'uid') return;
    const read = branch(selection, this.#frontier, predicate);
    await readEdges(read, selection, predicate, this.execution);
    const { rows = [] } = read;
    for (let i = 0; i < rows.length; i++) {
      if (i % STEP === 0) await this.execution.checkpoint();
      const edges = edgesOf(selection, rows[i], read.rowFacets?.[i]);
      if (edges.to.length === 0) continue;
      reached.push(edges.to);
      const uid = read.source[i];
      const before = this.#edges.get(uid) ?? NONE;
      this.#edges.set(uid, before === NONE ? edges : merged(before, edges));
      if (edges.to.length > STEP) await this.execution.checkpoint();
    }
  }
}

const NONE: Edges = { to: new Float64Array(0), costs: undefined, selection: [], facets: undefined };

function edgesOf(
  selection: PredicateSelection,
  row: UidList,
  facets: readonly (Facets | undefined)[] | undefined,
): Edges {
  if (isOneStep(selection)) return { to: row, costs: undefined, selection, facets };
  const costs: number[] = [];
  const taken: number[] = [];
  for (let i = 0; i < row.length; i++) {
    const cost = costOf(selection, facets?.[i]);
    if (cost === undefined) continue;
    costs.push(cost);
    taken.push(i);
  }
  return {
    to: Float64Array.from(taken, (i) => row[i]),
    costs: Float64Array.from(costs),
    selection,
    facets: taken.map((i) => facets?.[i]),
  };
}

/** Of two ways over the same step the cheaper one counts, of equal ones the one named last. */
function merged(before: Edges, more: Edges): Edges {
  const sides = [before, more];
  /** by the node that is led to: from which side, and which of its edges */
  const chosen = new Map<number, readonly [side: Edges, edge: number]>();
  for (const side of sides) {
    for (let i = 0; i < side.to.length; i++) {
      const known = chosen.get(side.to[i]);
      if (known === undefined || costAt(...known) >= costAt(side, i)) chosen.set(side.to[i], [side, i]);
    }
  }
  const edges = [...chosen.values()];
  const isFree = sides.every(({ costs }) => costs === undefined);
  return {
    to: Float64Array.from(chosen.keys()),
    costs: isFree ? undefined : Float64Array.from(edges, (edge) => costAt(...edge)),
    selection: edges.map((edge) => selectionAt(...edge)),
    facets: sides.some(({ facets }) => facets) ? edges.map(([side, i]) => side.facets?.[i]) : undefined,
  };
}

function costAt({ costs }: Edges, edge: number): number {
  return costs === undefined ? 1 : costs[edge];
}

function selectionAt({ selection }: Edges, edge: number): PredicateSelection {
  return 'kind' in selection ? selection : selection[edge];
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
  const open = new Frontier(to, args, selections.every(isOneStep), execution);
  open.start(from);
  const paths: ResultPath[] = [];
  let looked = 0;
  for (let route = open.pop(); route; route = open.pop()) {
    if (++looked % STEP === 0) await execution.checkpoint();
    if (route.cost > (args.maxWeight ?? Number.POSITIVE_INFINITY)) break;
    if (route.uid === to) {
      if (route.cost >= (args.minWeight ?? Number.NEGATIVE_INFINITY)) paths.push(pathOf(route));
      if (paths.length >= Math.max(1, args.numPaths)) break;
      continue;
    }
    const edges = around.edges(route.uid);
    const known = edges instanceof Promise ? await edges : edges;
    for (let edge = 0; edge < known.to.length; edge++) {
      if (++looked % STEP === 0) {
        open.bound();
        await execution.checkpoint();
      }
      open.follow(route, known, edge);
    }
    open.bound();
  }
  return paths;
}

/** Whether its edges cost 1 each. */
function isOneStep({ facets }: PredicateSelection): boolean {
  return facets === undefined || facets.keys.length === 0;
}

/** The routes that are open. Without a bound they would fill the memory: there are as many as ways through the graph. */
class Frontier {
  readonly #heap = new Heap<Route>();
  readonly #args: ShortestArgs;
  readonly #limit: number;
  /**
   * Where a node is reached once: the open route to it, undefined when it is reached. On the way to a path that must
   * weigh enough, or to the second best, a dearer way to a node may be the right one.
   */
  readonly #single: Map<number, Route | undefined> | undefined;

  /**
   * The end, where one path of the fewest edges is looked for: once a route to it is open, those that are as long cannot
   * better it. What lies behind them may be most of the graph, and is not read.
   */
  readonly #goal: number | undefined;

  constructor(to: number, args: ShortestArgs, oneStep: boolean, { limits }: Execution) {
    this.#args = args;
    this.#goal = oneStep ? to : undefined;
    this.#limit = limits.shortestRoutes;
    this.#single = args.numPaths <= 1 && args.minWeight === undefined ? new Map() : undefined;
  }

  start(uid: number): void {
    this.#open(uid, 0);
  }

  /** The cheapest route. */
  pop(): Route | undefined {
    const route = this.#heap.pop();
    if (!route) return undefined;
    this.#single?.set(route.uid, undefined);
    const best = this.#goal === undefined ? undefined : this.#single?.get(this.#goal);
    return best && best.cost <= route.cost ? best : route;
  }

  follow(route: Route, edges: Edges, edge: number): void {
    const cost = route.cost + costAt(edges, edge);
    if (this.#single) this.#reach(this.#single, cost, route, edges, edge);
    else if (!visits(route, edges.to[edge])) this.#open(edges.to[edge], cost, edges, edge, route);
  }

  #reach(single: Map<number, Route | undefined>, cost: number, previous: Route, edges: Edges, edge: number): void {
    const to = edges.to[edge];
    const known = single.get(to);
    if (known === undefined && single.has(to)) return;
    if (known === undefined || known.at === NOWHERE) {
      single.set(to, this.#open(to, cost, edges, edge, previous));
    } else if (cost <= known.cost) {
      known.cost = cost;
      known.edges = edges;
      known.edge = edge;
      known.previous = previous;
      this.#heap.raise(known);
    }
  }

  #open(uid: number, cost: number, edges?: Edges, edge = 0, previous?: Route): Route {
    const route: Route = { uid, cost, sequence: 0, at: NOWHERE, edges, edge, previous };
    this.#heap.push(route);
    return route;
  }

  /** Throws LIMIT_EXCEEDED. */
  bound(): void {
    const wanted = this.#args.maxFrontierSize;
    // to choose the best of many costs much: not after each step
    if (wanted !== undefined && this.#heap.size > Math.min(wanted + Math.floor(wanted / 8), this.#limit)) {
      this.#heap.keepBest(wanted);
    }
    if (this.#heap.size <= this.#limit) return;
    throw new GraphsteadError(
      'LIMIT_EXCEEDED',
      `shortest keeps more than ${this.#limit} routes open (limits.shortestRoutes)`,
      { fix: 'Give it a depth, a maxweight or a smaller maxfrontiersize, or ask for fewer paths.' },
    );
  }
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
    if (!at.edges) continue;
    const facets = at.edges.facets?.[at.edge];
    edges.push({ selection: selectionAt(at.edges, at.edge), ...(facets ? { facets } : {}) });
  }
  return { uids: uids.reverse(), edges: edges.reverse(), weight: route.cost };
}
