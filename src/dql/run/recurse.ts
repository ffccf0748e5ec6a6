import { GraphsteadError, inSteps } from '../../base/index.js';
import type { Block, PredicateSelection, Selection } from '../syntax/index.js';
import { branch as branchOf, type ResultBranch } from './branch.js';
import type { CascadeFields } from './cascade.js';
import { defineVariables } from './define.js';
import type { Execution } from './execution.js';
import { expandSelections } from './expand.js';
import { variablesOf } from './plan.js';
import { readSelection } from './select.js';
import { alignRows, TakenEdges } from './taken-edges.js';

/** How edges that were taken before are left out: a node whose edges are the same each time is not read again. */
interface Once {
  readonly taken: TakenEdges;
  readonly isSteady: boolean;
}

interface Level {
  readonly branch: ResultBranch;
  readonly path: readonly ResultBranch[];
}

/**
 * @recurse: the selections of the block apply at every level again. `depth` counts levels of nodes, the roots being
 * the first. Throws LIMIT_EXCEEDED when it touches more than limits.recurseEdges, or more levels than
 * limits.recurseLevels.
 */
export async function readRecursion(root: ResultBranch, block: Block, execution: Execution): Promise<void> {
  const { depth, loop } = block.recurse ?? { loop: false };
  checkRecursion(block);
  const cascade = block.directives.cascade;
  const once = loop ? undefined : { taken: new TakenEdges(), isSteady: isSteady(block) };
  const last = depth && depth > 0 ? depth : Number.POSITIVE_INFINITY;
  let frontier: readonly Level[] = [{ branch: root, path: [root] }];
  let edges = 0;
  for (let level = 1; frontier.length > 0 && level <= last; level++) {
    const next: Level[] = [];
    for (const { branch, path } of frontier) {
      const followed = await readLevel(branch, block.children, path, cascade, level === last, once, execution);
      for (const child of followed) {
        await defineVariables(child, path, execution);
        for (const row of child.rows ?? []) edges += row.length;
        if (child.dest.length > 0) next.push({ branch: child, path: [...path, child] });
      }
    }
    checkBounds(block, edges, next.length > 0 ? level + 1 : level, execution);
    frontier = next;
  }
}

function checkBounds(block: Block, edges: number, level: number, { limits }: Execution): void {
  const fix = 'Give @recurse a depth or a filter, or raise the limit.';
  const { position } = block;
  if (edges > limits.recurseEdges) {
    const message = `@recurse followed ${edges} edges, more than limits.recurseEdges (${limits.recurseEdges})`;
    throw new GraphsteadError('LIMIT_EXCEEDED', message, { position, fix });
  }
  if (level > limits.recurseLevels && level <= (block.recurse?.depth || level)) {
    const message = `@recurse reached more than limits.recurseLevels (${limits.recurseLevels}) levels`;
    throw new GraphsteadError('LIMIT_EXCEEDED', message, { position, fix });
  }
}

function checkRecursion(block: Block): void {
  const nested = block.children.find(
    (child) => 'children' in child && child.kind === 'predicate' && child.children.length > 0,
  );
  if (nested) {
    throw new GraphsteadError('INVALID_QUERY', '@recurse takes the fields of one level only', {
      position: nested.position,
      fix: 'List all fields and edges side by side: each applies at every level.',
    });
  }
  if (block.recurse?.loop && !(block.recurse.depth && block.recurse.depth > 0)) {
    throw new GraphsteadError('INVALID_QUERY', '@recurse with loop: true needs a depth above 0', {
      position: block.position,
      fix: 'Write @recurse(depth: 5, loop: true).',
    });
  }
}

/** Reads one level and answers with the branches of edges that lead on. */
async function readLevel(
  branch: ResultBranch,
  selections: readonly Selection[],
  path: readonly ResultBranch[],
  cascade: CascadeFields,
  isLast: boolean,
  once: Once | undefined,
  execution: Execution,
): Promise<ResultBranch[]> {
  const followed: ResultBranch[] = [];
  for (const selection of await expandSelections(selections, branch, execution)) {
    const edge = selection.kind === 'predicate' && execution.predicate(selection.name)?.type === 'uid' && selection;
    // Past the last level there is nothing to show of an edge; only a variable still wants it.
    if (edge && isLast && selection.variable === undefined) continue;
    const child = edge
      ? await readEdge(branch, edge, path, cascade, once, execution)
      : await readSelection(branch, selection, path, cascade, execution);
    const kept: ResultBranch = { ...child, syntax: selection };
    branch.children.push(kept);
    if (edge) followed.push(kept);
  }
  return followed;
}

async function readEdge(
  branch: ResultBranch,
  selection: PredicateSelection,
  path: readonly ResultBranch[],
  cascade: CascadeFields,
  once: Once | undefined,
  execution: Execution,
): Promise<ResultBranch> {
  const plain = withoutVariables(selection);
  if (!once) return await readSelection(branch, plain, path, cascade, execution);
  const pause = () => execution.checkpoint();
  if (!once.isSteady) {
    const child = await readSelection(branch, plain, path, cascade, execution);
    await inSteps(once.taken.drop(child, selection), pause);
    return child;
  }
  const parent = branchOf(selection, branch.source);
  parent.dest = await once.taken.unread(selection, branch.dest, execution);
  const child = await readSelection(parent, plain, path, cascade, execution);
  return await inSteps(alignRows(child, branch.dest), pause);
}

/** Whether the edges of a node are the same whenever they are read, and no two selections read the same ones. */
function isSteady(block: Block): boolean {
  const { defines, needs } = variablesOf(block);
  if ([...needs].some((name) => defines.has(name))) return false;
  const names = new Set<string>();
  let expands = 0;
  for (const child of block.children) {
    if (child.kind !== 'predicate' && child.kind !== 'expand') continue;
    if (child.page.random !== undefined) return false;
    if (child.kind === 'expand') {
      expands++;
      continue;
    }
    const name = child.reverse ? `~${child.name}` : child.name;
    // beside an expansion a selection with an alias may be the second of an edge
    if (names.has(name) || (child.alias !== undefined && block.children.some(({ kind }) => kind === 'expand')))
      return false;
    names.add(name);
  }
  return expands <= 1;
}

/** Variables of edges are set once the edges that were taken before are out. */
function withoutVariables(selection: PredicateSelection): PredicateSelection {
  const keys = selection.facets?.keys.map(({ key, alias }) => ({ key, alias }));
  return {
    ...selection,
    variable: undefined,
    ...(selection.facets ? { facets: { ...selection.facets, keys: keys ?? [] } } : {}),
  };
}
