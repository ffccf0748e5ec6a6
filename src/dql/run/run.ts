import { inSteps, type Position } from '../../base/index.js';
import type { RunOptions, RunQuery, RunResult } from '../contract.js';
import type { Block } from '../syntax/index.js';
import { branch, type ResultBranch } from './branch.js';
import { applyCascade } from './cascade.js';
import { computeValues } from './compute.js';
import { defineVariables } from './define.js';
import { Execution } from './execution.js';
import { groupBranch } from './group.js';
import { planBlocks, variablesOf } from './plan.js';
import { readRecursion } from './recurse.js';
import { readRoots } from './root.js';
import { readChildren } from './select.js';
import { readShortest } from './shortest.js';
import { EMPTY } from './uid-set.js';
import { checkValues } from './variable.js';

/** Runs the blocks of a document, each once the variables it reads are known. */
export const runQuery: RunQuery = async (document, reader, options: RunOptions = {}): Promise<RunResult> => {
  const execution = new Execution(reader, options);
  const roots = new Map<number, ResultBranch>();
  const variables = document.blocks.map(variablesOf);
  for (const { expands } of variables) for (const name of expands) execution.expanded.add(name);
  for (const at of planBlocks(document.blocks)) {
    const paused = execution.checkpoint();
    if (paused) await paused;
    checkValued(variables[at].valued, execution);
    roots.set(at, await runBlock(document.blocks[at], execution));
  }
  return {
    roots: document.blocks.map((_, i) => roots.get(i) as ResultBranch),
    variables: execution.variables,
    numUids: execution.numUids,
    unknown: [...execution.unknown],
  };
};

/** What holds nodes only has no values: where some were asked for, nothing would be shown, ordered or found. */
function checkValued(valued: ReadonlyMap<string, Position>, { variables }: Execution): void {
  for (const [name, position] of valued) checkValues(name, variables.get(name), position);
}

async function runBlock(block: Block, execution: Execution): Promise<ResultBranch> {
  const root = branch(block, EMPTY);
  if (block.shortest) {
    await readShortest(root, block, execution);
    return root;
  }
  if (block.root) {
    await readRoots(root, block, block.root, execution);
    const defining = defineVariables(root, [], execution);
    if (defining) await defining;
  }
  if (block.groupBy) {
    await groupBranch(root, block.groupBy, block.children, execution);
    return root;
  }
  if (block.recurse) await readRecursion(root, block, execution);
  else await readChildren(root, block.children, [root], block.directives.cascade, execution);
  if (usesCascade(root)) {
    await inSteps(applyCascade(root, undefined), () => execution.checkpoint());
    await redefine(root, block, execution);
  }
  const computing = computeValues(root, execution);
  if (computing) await computing;
  return root;
}

function usesCascade(at: ResultBranch): boolean {
  const { syntax } = at;
  return ('directives' in syntax && syntax.directives.cascade !== undefined) || at.children.some(usesCascade);
}

/** Variables hold what @cascade has left. */
async function redefine(root: ResultBranch, block: Block, execution: Execution): Promise<void> {
  const grouped = new Set<string>();
  collectGrouped(root, grouped);
  for (const name of variablesOf(block).defines) if (!grouped.has(name)) execution.variables.delete(name);
  const walk = async (at: ResultBranch, path: readonly ResultBranch[]): Promise<void> => {
    await defineVariables(at, path, execution);
    for (const child of at.children) await walk(child, [...path, at]);
  };
  await walk(root, []);
}

function collectGrouped(at: ResultBranch, into: Set<string>): void {
  if (at.groups && 'children' in at.syntax) {
    for (const child of at.syntax.children) if (child.variable !== undefined) into.add(child.variable);
  }
  for (const child of at.children) collectGrouped(child, into);
}
