import { GraphsteadError, STEP } from '../../base/index.js';
import type { ResultPath } from '../contract.js';
import type { Block, PredicateSelection, ShortestArgs, UidArgument } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import type { Execution } from './execution.js';
import { Frontier } from './frontier.js';
import { Neighbourhood } from './neighbourhood.js';
import { fromUids } from './uid-set.js';
import { uidsOf } from './variable.js';

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

async function search(
  from: number,
  to: number,
  args: ShortestArgs,
  selections: readonly PredicateSelection[],
  execution: Execution,
): Promise<ResultPath[]> {
  const around = new Neighbourhood({ from, to }, selections, args.depth ?? Number.POSITIVE_INFINITY, execution);
  const open = new Frontier(around, args, execution);
  const { routes } = open;
  const paths: ResultPath[] = [];
  let looked = 0;
  for (let route = open.pop(); route >= 0; route = open.pop()) {
    if (++looked % STEP === 0) await execution.checkpoint();
    const cost = routes.cost[route];
    if (cost > (args.maxWeight ?? Number.POSITIVE_INFINITY)) break;
    if (routes.node[route] === around.end) {
      if (cost >= (args.minWeight ?? Number.NEGATIVE_INFINITY)) paths.push(await pathOf(route, open, around));
      if (paths.length >= Math.max(1, args.numPaths)) break;
    } else {
      const finding = around.find(routes.node[route]);
      const found = finding instanceof Promise ? await finding : finding;
      for (let { edge } = found; edge < found.end; edge++) {
        if (++looked % STEP === 0) {
          open.bound();
          await execution.checkpoint();
        }
        open.follow(route, found.edges, edge);
      }
      open.bound();
    }
    routes.done(route);
  }
  return paths;
}

async function pathOf(last: number, { routes }: Frontier, around: Neighbourhood): Promise<ResultPath> {
  const uids: number[] = [];
  const edges: ResultPath['edges'][number][] = [];
  for (let route = last; route >= 0; route = routes.previous[route]) {
    uids.push(around.uid(routes.node[route]));
    const before = routes.previous[route];
    if (before >= 0) edges.push(await around.edge(routes.node[before], routes.edge[route]));
  }
  return { uids: uids.reverse(), edges: edges.reverse(), weight: routes.cost[last] };
}
