import { TYPE_PREDICATE } from '../../base/index.js';
import type { CommitRecord } from '../../commit/index.js';
import type { Block, Filter, FunctionCall, OrderKey, Selection } from '../../dql/index.js';
import { graphPart } from '../../graph/index.js';

/** Notes every predicate that blocks read. */
export function noteReads(blocks: readonly Block[], names: Set<string>): void {
  for (const block of blocks) {
    if (block.root) noteCall(block.root, names);
    noteFilter(block.filter, names);
    noteOrder(block.order, names);
    noteSelections(block.children, names);
  }
}

function noteSelections(selections: readonly Selection[], names: Set<string>): void {
  for (const selection of selections) {
    if (selection.kind === 'checkPassword') names.add(selection.name);
    if (selection.kind !== 'predicate') continue;
    names.add(selection.name);
    noteFilter(selection.filter, names);
    noteOrder(selection.order, names);
    noteSelections(selection.children, names);
  }
}

function noteOrder(order: readonly OrderKey[], names: Set<string>): void {
  for (const { by } of order) if (by.kind === 'predicate') names.add(by.name);
}

function noteFilter(filter: Filter | undefined, names: Set<string>): void {
  if (!filter) return;
  if (filter.kind === 'call') noteCall(filter.call, names);
  else if (filter.kind === 'not') noteFilter(filter.child, names);
  else for (const child of filter.children) noteFilter(child, names);
}

function noteCall({ name, subject }: FunctionCall, names: Set<string>): void {
  if (name === 'type') names.add(TYPE_PREDICATE);
  if (subject?.kind === 'predicate' || subject?.kind === 'count') names.add(subject.name);
}

/** A commit may have changed what a plan reads: it wrote one of its predicates, or did more than write values. */
export function touches(record: CommitRecord, names: ReadonlySet<string>): boolean {
  const part = graphPart(record);
  if (!part || part.kind === 'lease' || part.kind === 'document') return false;
  return part.kind !== 'changes' || part.names.some((name) => names.has(name));
}
