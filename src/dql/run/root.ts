import type { TokenRange, UidList } from '../../graph/index.js';
import type { Block, Filter, FunctionCall } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import { comparedRange } from './call/compare.js';
import { scanHaving } from './call/has.js';
import { callFilter, callFirst, callRoot, sizeOf } from './call/index.js';
import type { Execution } from './execution.js';
import { applyFilter } from './filter.js';
import { isWorthWalking, type OrderedIndex, orderedIndex, walkIndex } from './index-walk.js';
import { checkKeys, orderRows } from './order.js';
import { afterUid, dropUpTo, hasRange, pageDepth, pageRange, sample } from './page.js';
import { contains, EMPTY, filterUids, fromUids } from './uid-set.js';

/** Reads the roots of a block: filtered, ordered and cut to its page. */
export async function readRoots(
  root: ResultBranch,
  block: Block,
  call: FunctionCall,
  execution: Execution,
): Promise<void> {
  const { page } = block;
  checkKeys(block.order, execution);
  const choice = await chooseRoots(block, call, execution);
  // @cascade takes the page when it has taken out what lacks a field
  const cut = block.directives.cascade === undefined;
  const enough = cut && page.random === undefined ? pageDepth(page) : Number.POSITIVE_INFINITY;
  const walk = await firstInOrder(choice, enough, execution);
  let row = walk.row ?? (await firstByUid(choice, enough, execution));
  if (!row) {
    let uids = await candidates(choice, execution);
    if (block.filter) uids = await applyFilter(block.filter, uids, execution);
    if (page.random !== undefined) uids = sample(uids, page.random);
    row = orderedUids(call, uids, execution);
    // what lies too deep in an index is not looked for there a second time
    const depth = walk.isDeep ? Number.POSITIVE_INFINITY : enough;
    const cutTo = cut ? page : undefined;
    if (block.order.length > 0) [row] = await orderRows([uids], uids, block.order, depth, execution, cutTo);
    root.dest = uids;
  }
  if (cut && hasRange(page)) row = row.subarray(...pageRange(page, row.length));
  execution.countEdges(row.length);
  root.rows = [row];
  root.dest = row === root.dest ? row : fromUids(row);
}

/** What is known of a block's roots before they are read. */
interface RootChoice {
  readonly block: Block;
  readonly call: FunctionCall;
  /** roots begin above this uid */
  readonly after: number;
  /** at most so many uids that the root function gives; infinite when that is not known; undefined: it tells nothing */
  readonly size: number | undefined;
  /** the calls that each root passes, with the sizes that are known */
  readonly conjuncts: readonly { readonly call: FunctionCall; readonly size: number | undefined }[];
}

/** Up to so many roots it is of no use to look for a better way. */
const SMALL = 1_000;

async function chooseRoots(block: Block, call: FunctionCall, execution: Execution): Promise<RootChoice> {
  const after = afterUid(block.page, execution);
  if (!block.filter && block.order.length === 0) return { block, call, after, size: undefined, conjuncts: [] };
  const size = await sizeOf(call, execution);
  const conjuncts: { call: FunctionCall; size: number | undefined }[] = [];
  if (size !== undefined && size > SMALL) {
    for (const one of conjunctsOf(block.filter)) conjuncts.push({ call: one, size: await sizeOf(one, execution) });
  }
  return { block, call, after, size, conjuncts };
}

/** Calls that hold for all that passes a filter. */
function conjunctsOf(filter: Filter | undefined): readonly FunctionCall[] {
  if (filter?.kind === 'call') return [filter.call];
  return filter?.kind === 'and' ? filter.children.flatMap(conjunctsOf) : [];
}

/** Every uid that may be a root, before the filter. A rare condition of the filter finds them faster than the root. */
async function candidates(choice: RootChoice, execution: Execution): Promise<UidList> {
  const { call, after } = choice;
  const rare = await rareConjunct(choice, execution);
  if (rare) return await callFilter(call, dropUpTo(await callRoot(rare, execution), after), execution);
  const above = after > 0 ? await callFirst(call, execution, { after, count: Number.POSITIVE_INFINITY }) : undefined;
  return above ?? dropUpTo(await callRoot(call, execution), after);
}

/** So many times fewer nodes make up for reading them here and there. */
const RARER = 8;

/** A condition that far fewer nodes meet than are roots. */
async function rareConjunct({ call, size, conjuncts }: RootChoice, execution: Execution) {
  let rarest: { readonly call: FunctionCall; readonly size: number } | undefined;
  for (const one of conjuncts) {
    if (one.size !== undefined && one.size < (rarest?.size ?? Number.POSITIVE_INFINITY))
      rarest = { call: one.call, size: one.size };
  }
  if (!rarest || size === undefined) return undefined;
  const most = Math.max(SMALL, rarest.size) * RARER;
  if (size !== Number.POSITIVE_INFINITY) return size >= most ? rarest.call : undefined;
  if (rarest.size <= SMALL) return rarest.call;
  // how many have a predicate is known when so many have been met
  if (call.name !== 'has') return undefined;
  return (await scanHaving(call, execution, 0, most)).length >= most ? rarest.call : undefined;
}

/** So many roots are tried for each that is needed, before all of them are read. */
const TRIED = 16;

/** The first roots where no order is asked for: reading stops where the page ends. undefined: all have to be read. */
async function firstByUid(choice: RootChoice, enough: number, execution: Execution): Promise<UidList | undefined> {
  const { block, call, after, size, conjuncts } = choice;
  if (block.order.length > 0 || enough === Number.POSITIVE_INFINITY) return undefined;
  if (!block.filter) return await callFirst(call, execution, { after, count: enough });
  if (enough > DEEPEST) return undefined;
  const count = Math.min(Math.max(enough * TRIED, SMALL), DEEPEST);
  if (size === undefined || size < count || conjuncts.some((one) => (one.size ?? count) < count)) return undefined;
  const first = await callFirst(call, execution, { after, count });
  const passed = first && (await applyFilter(block.filter, first, execution));
  return passed && passed.length >= enough ? passed : undefined;
}

/** Pages that reach deeper are better collected and sorted. */
const DEEPEST = 10_000;

/** Entries that a walk meets before it may give up: the time that collecting so many times more roots takes. */
const COLLECTED_A_STEP = 16;
const MOST_STEPS = 2_500;
/** So many times more entries may lie ahead then. */
const PATIENCE = 4;

/** The first roots, as far as they were found. */
interface FirstRoots {
  readonly row?: UidList;
  /** they were looked for, and lie too deep in the index */
  readonly isDeep?: boolean;
}

/** The first roots, read off the index of the block's order; no row where collecting them is the better way. */
async function firstInOrder(choice: RootChoice, enough: number, execution: Execution): Promise<FirstRoots> {
  const { block, call, after, size, conjuncts } = choice;
  if (block.order.length === 0 || enough > DEEPEST || size === undefined) return {};
  const least = conjuncts.reduce((known, one) => Math.min(known, one.size ?? known), size);
  if (!isWorthWalking(least, enough)) return {};
  const whole = orderedIndex(block.order[0], execution);
  if (!whole) return {};
  const { index, tellsRoot, valued } = await narrowed(whole, choice, execution);
  const pass = async (uids: UidList): Promise<UidList> => {
    let passed = dropUpTo(uids, after);
    if (!tellsRoot && passed.length > 0) passed = await callFilter(call, passed, execution);
    return block.filter && passed.length > 0 ? await applyFilter(block.filter, passed, execution) : passed;
  };
  const budget = Math.max(SMALL, Math.min(least / COLLECTED_A_STEP, MOST_STEPS));
  // mistakes in the filter are told even where it has nothing to judge
  if (block.filter) await applyFilter(block.filter, EMPTY, execution);
  const options = { enough, budget, patience: budget * PATIENCE, pass };
  const walked = await walkIndex(index, block.order, options, execution);
  if (!walked) return { isDeep: true };
  // without a value they come last: then all of them must be known
  return walked.ended && !valued ? {} : { row: walked.uids };
}

interface Narrowed {
  readonly index: OrderedIndex;
  /** whatever stands in this part of the index is a root */
  readonly tellsRoot: boolean;
  /** whoever is a root has a value in this part of the index */
  readonly valued: boolean;
}

/** The part of the index that the root, and conditions on the same predicate, leave. */
async function narrowed(index: OrderedIndex, { call, conjuncts }: RootChoice, execution: Execution): Promise<Narrowed> {
  const { predicate } = index;
  let range = index.range;
  let tellsRoot = false;
  let valued = false;
  for (const one of [call, ...conjuncts.map((conjunct) => conjunct.call)]) {
    const { subject, name } = one;
    if (subject?.kind !== 'predicate' || subject.name !== predicate.name || subject.reverse) continue;
    if (subject.langs.length > 0) continue;
    if (name === 'has') {
      valued = true;
      if (one === call && !predicate.lang) tellsRoot = true;
    } else if (COMPARISONS.has(name)) {
      const compared = await comparedRange(one, predicate, index.kind, execution);
      if (!compared) continue;
      range = { ...tighter(range, compared.range), reverse: index.range.reverse };
      valued = true;
      if (one === call && compared.exact) tellsRoot = true;
    }
  }
  return { index: { ...index, range }, tellsRoot, valued };
}

const COMPARISONS: ReadonlySet<string> = new Set(['eq', 'le', 'lt', 'ge', 'gt', 'between']);

/** What lies in both ranges. */
function tighter(a: TokenRange, b: TokenRange): TokenRange {
  return { ...innerFrom(a, b), ...innerTo(a, b) };
}

function innerFrom(a: TokenRange, b: TokenRange): TokenRange {
  const order = !a.from ? -1 : !b.from ? 1 : Buffer.compare(a.from, b.from);
  const { from, fromExclusive } = order > 0 || (order === 0 && a.fromExclusive) ? a : b;
  return { ...(from ? { from, fromExclusive } : {}) };
}

function innerTo(a: TokenRange, b: TokenRange): TokenRange {
  const order = !a.to ? 1 : !b.to ? -1 : Buffer.compare(a.to, b.to);
  const { to, toExclusive } = order < 0 || (order === 0 && a.toExclusive) ? a : b;
  return { ...(to ? { to, toExclusive } : {}) };
}

/** `uid(p)` of a path keeps the order of the path. */
function orderedUids(call: FunctionCall, uids: UidList, execution: Execution): UidList {
  const [argument] = call.args;
  if (call.name !== 'uid' || call.args.length !== 1 || argument.kind !== 'uidVariable') return uids;
  const ordered = execution.variables.get(argument.name)?.ordered;
  return ordered ? filterUids(ordered, (uid) => contains(uids, uid)) : uids;
}
