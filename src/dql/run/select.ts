import type { MaybePromise } from '../../base/index.js';
import type { PredicateSelection, Selection } from '../syntax/index.js';
import { branch, type ResultBranch } from './branch.js';
import { type CascadeFields, cascadeOf } from './cascade.js';
import { readCounts } from './count.js';
import { defineVariables } from './define.js';
import { readEdges } from './edge.js';
import type { Execution } from './execution.js';
import { expandSelections } from './expand.js';
import { groupBranch } from './group.js';
import { checkLanguages } from './language.js';
import { checkReverse } from './missing.js';
import { readPassword, readValues } from './scalar.js';

/**
 * Reads the selections of a branch, one batch each, and everything below them.
 * @param path branches from the block down to `parent`
 */
export async function readChildren(
  parent: ResultBranch,
  selections: readonly Selection[],
  path: readonly ResultBranch[],
  cascade: CascadeFields,
  execution: Execution,
): Promise<void> {
  const expanding = expandSelections(selections, parent, execution);
  for (const selection of expanding instanceof Promise ? await expanding : expanding) {
    const child = await readSelection(parent, selection, path, cascade, execution);
    parent.children.push(child);
    if (selection.kind === 'predicate' && child.rows) {
      if (selection.groupBy) await groupBranch(child, selection.groupBy, selection.children, execution);
      else {
        const below = cascadeOf(selection.directives, cascade);
        await readChildren(child, selection.children, [...path, child], below, execution);
      }
    }
  }
}

/** One selection without what is below it; its variables are set. */
export async function readSelection(
  parent: ResultBranch,
  selection: Selection,
  path: readonly ResultBranch[],
  cascade: CascadeFields,
  execution: Execution,
): Promise<ResultBranch> {
  const child = branch(selection, parent.dest);
  switch (selection.kind) {
    case 'predicate': {
      const reading = readPredicate(child, selection, cascade, execution);
      if (reading) await reading;
      break;
    }
    case 'countPredicate':
      await readCounts(child, selection, execution);
      break;
    case 'checkPassword':
      await readPassword(child, selection, execution);
      break;
    default:
      // uid and count(uid) are known; val(), aggregates and math follow when the whole block is read.
      break;
  }
  const defining = defineVariables(child, path, execution);
  if (defining) await defining;
  return child;
}

function readPredicate(
  child: ResultBranch,
  selection: PredicateSelection,
  cascade: CascadeFields,
  execution: Execution,
): MaybePromise<void> {
  const predicate = execution.predicate(selection.name);
  child.predicate = predicate;
  if (!predicate) {
    execution.countUids(selection.name, child.source.length);
    return;
  }
  checkLanguages(predicate, selection.langs, selection.position, execution);
  if (predicate.type === 'uid') {
    return readEdges(child, selection, predicate, execution, !cascadeOf(selection.directives, cascade));
  }
  if (selection.reverse) checkReverse(predicate, selection.position, execution);
  return readValues(child, selection, predicate, execution);
}
