import type { UidList } from '../../graph/index.js';
import type { RunOptions, RunQuery, RunResult } from '../contract.js';
import type { Block, FunctionCall } from '../syntax/index.js';
import { branch, type ResultBranch } from './branch.js';
import { scanHaving } from './call/has.js';
import { callRoot } from './call/index.js';
import { applyCascade } from './cascade.js';
import { computeValues } from './compute.js';
import { defineVariables } from './define.js';
import { Execution } from './execution.js';
import { applyFilter } from './filter.js';
import { groupBranch } from './group.js';
import { orderRows } from './order.js';
import { afterUid, dropUpTo, hasRange, pageDepth, pageRange, sample } from './page.js';
import { planBlocks, variablesOf } from './plan.js';
import { readRecursion } from './recurse.js';
import { readChildren } from './select.js';
import { readShortest } from './shortest.js';
import { contains, EMPTY, filterUids, fromUids } from './uid-set.js';

/** Runs the blocks of a document, each once the variables it reads are known. */
export const runQuery: RunQuery = async (document, reader, options: RunOptions = {}): Promise<RunResult> => {
  const execution = new Execution(reader, options);
  const roots = new Map<number, ResultBranch>();
  for (const at of planBlocks(document.blocks)) {
    await execution.checkpoint();
    roots.set(at, await runBlock(document.blocks[at], execution));
  }
  return {
    roots: document.blocks.map((_, i) => roots.get(i) as ResultBranch),
    variables: execution.variables,
    numUids: execution.numUids,
  };
};

async function runBlock(block: Block, execution: Execution): Promise<ResultBranch> {
  const root = branch(block, EMPTY);
  if (block.shortest) {
    await readShortest(root, block, execution);
    return root;
  }
  if (block.root) {
    await readRoots(root, block, block.root, execution);
    defineVariables(root, [], execution);
  }
  if (block.groupBy) {
    await groupBranch(root, block.groupBy, block.children, execution);
    return root;
  }
  if (block.recurse) await readRecursion(root, block, execution);
  else await readChildren(root, block.children, [root], block.directives.cascade, execution);
  if (usesCascade(root)) {
    applyCascade(root, undefined);
    redefine(root, block, execution);
  }
  await computeValues(root, execution);
  return root;
}

function usesCascade(at: ResultBranch): boolean {
  const { syntax } = at;
  return ('directives' in syntax && syntax.directives.cascade !== undefined) || at.children.some(usesCascade);
}

/** Variables hold what @cascade has left. */
function redefine(root: ResultBranch, block: Block, execution: Execution): void {
  const grouped = new Set<string>();
  collectGrouped(root, grouped);
  for (const name of variablesOf(block).defines) if (!grouped.has(name)) execution.variables.delete(name);
  const walk = (at: ResultBranch, path: readonly ResultBranch[]): void => {
    defineVariables(at, path, execution);
    for (const child of at.children) walk(child, [...path, at]);
  };
  walk(root, []);
}

function collectGrouped(at: ResultBranch, into: Set<string>): void {
  if (at.groups && 'children' in at.syntax) {
    for (const child of at.syntax.children) if (child.variable !== undefined) into.add(child.variable);
  }
  for (const child of at.children) collectGrouped(child, into);
}

async function readRoots(root: ResultBranch, block: Block, call: FunctionCall, execution: Execution): Promise<void> {
  const { page } = block;
  const after = afterUid(page, execution);
  let uids = await rootUids(block, call, after, execution);
  uids = dropUpTo(uids, after);
  if (block.filter) uids = await applyFilter(block.filter, uids, execution);
  if (page.random !== undefined) uids = sample(uids, page.random);
  let row = orderedUids(call, uids, execution);
  const cut = block.directives.cascade === undefined;
  if (block.order.length > 0) {
    const enough = cut ? pageDepth(page) : Number.POSITIVE_INFINITY;
    [row] = await orderRows([uids], uids, block.order, enough, execution);
  }
  if (cut && hasRange(page)) row = row.subarray(...pageRange(page, row.length));
  execution.countEdges(row.length);
  root.rows = [row];
  root.dest = row === uids ? uids : fromUids(row);
}

/** Without filter and order, `has` with a page stops reading where the page ends. */
async function rootUids(block: Block, call: FunctionCall, after: number, execution: Execution): Promise<UidList> {
  const { page } = block;
  const plain = !block.filter && block.order.length === 0 && page.random === undefined && !block.directives.cascade;
  if (call.name !== 'has' || !plain) return callRoot(call, execution);
  return scanHaving(call, execution, after, pageDepth(page));
}

/** `uid(p)` of a path keeps the order of the path. */
function orderedUids(call: FunctionCall, uids: UidList, execution: Execution): UidList {
  const [argument] = call.args;
  if (call.name !== 'uid' || call.args.length !== 1 || argument.kind !== 'uidVariable') return uids;
  const ordered = execution.variables.get(argument.name)?.ordered;
  return ordered ? filterUids(ordered, (uid) => contains(uids, uid)) : uids;
}
