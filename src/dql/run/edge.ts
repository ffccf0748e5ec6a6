import { inSteps, type MaybePromise, STEP, type Steps } from '../../base/index.js';
import type { Facets, Predicate, UidList } from '../../graph/index.js';
import type { PredicateSelection } from '../syntax/index.js';
import { BATCH } from './batch.js';
import type { ResultBranch } from './branch.js';
import type { Execution } from './execution.js';
import { facetTest, orderByFacets, type RowFacets } from './facet.js';
import { applyFilter } from './filter.js';
import { checkReverse } from './missing.js';
import { orderRows } from './order.js';
import { afterUid, dropUpTo, hasRange, pageDepth, pageRange, sample } from './page.js';
import { Places } from './places.js';
import { filterUids, part, unionOfRows } from './uid-set.js';

/** Rows of edges with their facets, where these were read. */
interface Edges {
  readonly rows: readonly UidList[];
  readonly facets?: RowFacets;
}

type EdgeSelection = Pick<
  PredicateSelection,
  'name' | 'reverse' | 'filter' | 'facets' | 'facetFilter' | 'order' | 'page' | 'position'
>;

/**
 * Reads the edges of a selection into its branch: filtered, ordered, and cut to the page unless `cut` is false
 * (@cascade takes the page later).
 */
export async function readEdges(
  into: ResultBranch,
  selection: EdgeSelection,
  predicate: Predicate,
  execution: Execution,
  cut = true,
): Promise<void> {
  await execution.checkpoint();
  execution.countUids(selection.reverse ? `~${selection.name}` : selection.name, into.source.length);
  if (selection.reverse) checkReverse(predicate, selection.position, execution);
  let edges = await read(into.source, selection, predicate, execution);
  const pause = () => execution.checkpoint();
  const after = afterUid(selection.page, execution);
  if (after > 0) edges = dropAfter(edges, after);
  let dest = await united(edges.rows, pause);
  if (selection.filter) {
    const passed = await applyFilter(selection.filter, dest, execution);
    if (passed.length < dest.length) edges = await inSteps(keepEdges(edges, within(passed)), pause);
    dest = passed;
  }
  if (selection.page.random !== undefined) {
    edges = sampleEdges(edges, selection.page.random);
    dest = await united(edges.rows, pause);
  }
  const whole = edges;
  edges = await order(edges, dest, selection, cut, execution);
  if (cut && hasRange(selection.page)) edges = cutEdges(edges, selection.page);
  into.rows = edges.rows;
  into.rowFacets = edges.facets;
  into.dest = edges === whole ? dest : await united(edges.rows, pause);
}

/** Distinct uids of rows: of most there is nothing to wait for. */
function united(rows: readonly UidList[], pause: () => MaybePromise<void>): MaybePromise<UidList> {
  const steps = unionOfRows(rows);
  const first = steps.next();
  return first.done ? first.value : inSteps(steps, pause);
}

/** The edges whose facets pass: what does not pass is let go a batch at a time, and facets that only the filter asks for. */
async function read(
  source: UidList,
  selection: EdgeSelection,
  predicate: Predicate,
  execution: Execution,
): Promise<Edges> {
  const facets = selection.facets !== undefined || selection.facetFilter !== undefined;
  const options = { reverse: selection.reverse, facets };
  const test = selection.facetFilter && facetTest(selection.facetFilter);
  const passes = test && ((_: number, own: Facets | undefined) => test(own));
  const rows: UidList[] = [];
  const rowFacets: (readonly (Facets | undefined)[])[] = [];
  for (let at = 0; at < source.length; at += BATCH) {
    await execution.checkpoint();
    const matrix = await execution.reader.edges(predicate, source.subarray(at, at + BATCH), options);
    let total = 0;
    for (const row of matrix.rows) total += row.length;
    execution.countEdges(total);
    const kept = passes ? await inSteps(keepEdges(matrix, passes), () => execution.checkpoint()) : matrix;
    for (const row of kept.rows) rows.push(row);
    if (kept.facets && selection.facets) rowFacets.push(...kept.facets);
  }
  // one snapshot answers either all batches with facets or none
  return rowFacets.length > 0 ? { rows, facets: rowFacets } : { rows };
}

function within(uids: UidList): (uid: number) => boolean {
  const place = Places.finder(uids);
  return (uid) => place(uid) >= 0;
}

function* keepEdges(edges: Edges, keep: (uid: number, facets: Facets | undefined) => boolean): Steps<Edges> {
  const { rows, facets } = edges;
  const keptRows: UidList[] = [];
  const keptFacets: (readonly (Facets | undefined)[])[] = [];
  let looked = 0;
  for (let i = 0; i < rows.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const row = rows[i];
    if (!facets) {
      keptRows.push(filterUids(row, (uid) => keep(uid, undefined)));
      continue;
    }
    const passed = new Uint8Array(row.length);
    for (let at = 0; at < row.length; at++) {
      if (++looked % STEP === 0) yield;
      if (keep(row[at], facets[i][at])) passed[at] = 1;
    }
    keptRows.push(filterUids(row, (_, at) => passed[at] === 1));
    keptFacets.push(facets[i].filter((_, at) => passed[at] === 1));
  }
  return facets ? { rows: keptRows, facets: keptFacets } : { rows: keptRows };
}

function dropAfter(edges: Edges, after: number): Edges {
  const rows = edges.rows.map((row) => dropUpTo(row, after));
  return { rows, facets: edges.facets?.map((row, i) => row.slice(row.length - rows[i].length)) };
}

function sampleEdges(edges: Edges, count: number): Edges {
  const chosen = edges.rows.map((row) => sample(row, count));
  return realign(edges, chosen);
}

/** Facets of rows that lost members or changed their order. */
function realign(edges: Edges, rows: readonly UidList[]): Edges {
  const { facets } = edges;
  if (!facets) return { rows };
  return {
    rows,
    facets: rows.map((row, i) => {
      if (row === edges.rows[i]) return facets[i];
      const byUid = new Map<number, Facets | undefined>();
      for (let at = 0; at < edges.rows[i].length; at++) byUid.set(edges.rows[i][at], facets[i][at]);
      return Array.from(row, (uid) => byUid.get(uid));
    }),
  };
}

async function order(
  edges: Edges,
  dest: UidList,
  selection: EdgeSelection,
  cut: boolean,
  execution: Execution,
): Promise<Edges> {
  if (selection.facets && selection.facets.order.length > 0 && edges.facets) {
    return orderByFacets(edges.rows, edges.facets, selection.facets.order, execution);
  }
  if (selection.order.length === 0) return edges;
  const enough = cut ? pageDepth(selection.page) : Number.POSITIVE_INFINITY;
  return realign(
    edges,
    await orderRows(edges.rows, dest, selection.order, enough, execution, cut ? selection.page : undefined),
  );
}

function cutEdges(edges: Edges, page: EdgeSelection['page']): Edges {
  return {
    rows: edges.rows.map((row) => part(row, ...pageRange(page, row.length))),
    facets: edges.facets?.map((row) => row.slice(...pageRange(page, row.length))),
  };
}

/** Cuts rows of a branch to the page after @cascade has taken out what it takes out. */
export function* cutBranch(into: ResultBranch, page: EdgeSelection['page']): Steps<void> {
  if (!into.rows || !hasRange(page)) return;
  const cut = cutEdges({ rows: into.rows, facets: into.rowFacets }, page);
  into.rows = cut.rows;
  into.rowFacets = cut.facets;
  into.dest = yield* unionOfRows(cut.rows);
}

/** Takes edges to uids out of a branch that are not in `dest`. */
export function* pruneBranch(into: ResultBranch, dest: UidList): Steps<void> {
  if (!into.rows) return;
  const kept = yield* keepEdges({ rows: into.rows, facets: into.rowFacets }, within(dest));
  into.rows = kept.rows;
  into.rowFacets = kept.facets;
  into.dest = dest;
}
