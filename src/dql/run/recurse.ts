import { GraphsteadError, inSteps, STEP, type Steps } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { Block, Selection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import type { CascadeFields } from './cascade.js';
import { defineVariables } from './define.js';
import type { Execution } from './execution.js';
import { expandSelections } from './expand.js';
import { readSelection } from './select.js';
import { contains, EMPTY, filterUids, fromUids, union, unionOfRows } from './uid-set.js';

/** Edges already taken, by predicate and source: an edge is followed once in a query, unless it loops. */
type TakenEdges = Map<string, Map<number, UidList>>;

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
  const taken: TakenEdges = new Map();
  const last = depth && depth > 0 ? depth : Number.POSITIVE_INFINITY;
  let frontier: readonly Level[] = [{ branch: root, path: [root] }];
  let edges = 0;
  for (let level = 1; frontier.length > 0 && level <= last; level++) {
    const next: Level[] = [];
    for (const { branch, path } of frontier) {
      const followed = await readLevel(branch, block.children, path, cascade, level === last, execution);
      for (const child of followed) {
        if (!loop) await inSteps(dropTaken(child, taken), () => execution.checkpoint());
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
  execution: Execution,
): Promise<ResultBranch[]> {
  const followed: ResultBranch[] = [];
  for (const selection of await expandSelections(selections, branch, execution)) {
    const edge = selection.kind === 'predicate' && execution.predicate(selection.name)?.type === 'uid';
    // Past the last level there is nothing to show of an edge; only a variable still wants it.
    if (edge && isLast && selection.variable === undefined) continue;
    const child = edge
      ? await readSelection(branch, withoutVariables(selection), path, cascade, execution)
      : await readSelection(branch, selection, path, cascade, execution);
    const kept: ResultBranch = { ...child, syntax: selection };
    branch.children.push(kept);
    if (edge) followed.push(kept);
  }
  return followed;
}

/** Variables of edges are set once the edges that were taken before are out. */
function withoutVariables(selection: Selection): Selection {
  if (selection.kind !== 'predicate') return selection;
  const keys = selection.facets?.keys.map(({ key, alias }) => ({ key, alias }));
  return {
    ...selection,
    variable: undefined,
    ...(selection.facets ? { facets: { ...selection.facets, keys: keys ?? [] } } : {}),
  };
}

function* dropTaken(child: ResultBranch, taken: TakenEdges): Steps<void> {
  const { syntax } = child;
  if (syntax.kind !== 'predicate' || !child.rows) return;
  const name = syntax.reverse ? `~${syntax.name}` : syntax.name;
  const bySource = taken.get(name) ?? new Map<number, UidList>();
  taken.set(name, bySource);
  const rows: UidList[] = [];
  const facets: (readonly (Facets | undefined)[])[] = [];
  for (const [i, row] of child.rows.entries()) {
    if (i % STEP === STEP - 1) yield;
    const from = child.source[i];
    const before = bySource.get(from);
    const fresh = before ? filterUids(row, (uid) => !contains(before, uid)) : row;
    if (fresh.length > 0) bySource.set(from, union([before ?? EMPTY, fromUids(fresh)]));
    rows.push(fresh);
    const edgeFacets = child.rowFacets?.[i];
    if (edgeFacets) facets.push(before ? edgeFacets.filter((_, at) => !contains(before, row[at])) : edgeFacets);
  }
  child.rows = rows;
  if (child.rowFacets) child.rowFacets = facets;
  child.dest = yield* unionOfRows(rows);
}
