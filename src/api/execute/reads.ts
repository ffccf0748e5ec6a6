import { TYPE_PREDICATE } from '../../base/index.js';
import type { Block, Filter, FunctionCall, OrderKey, Selection } from '../../dql/index.js';
import { Watch, type Written } from '../../graph/index.js';

/**
 * How well it is known what an answer was made from: "nothing", so that any commit may have changed it; "predicates", the names
 * of what its plans read; "nodes", each node and index entry that it came from.
 */
export type Known = 'nothing' | 'predicates' | 'nodes';

/** What the answers of one live query were made from. */
export class Reads {
  /** predicates of all its plans so far */
  readonly names = new Set<string>();
  #watch = new Watch();
  #known: Known = 'nothing';

  /** Of the answer in the making, or the newest one. */
  get watch(): Watch {
    return this.#watch;
  }

  /** An answer is being made: what it reads is known once it is there. */
  begin(): void {
    this.#watch = new Watch();
  }

  end(known: Known): void {
    this.#known = known;
  }

  /** Whether a commit may have changed the newest answer. `written` is what each of its records did to the graph. */
  areOld(written: readonly Written[]): boolean {
    if (this.#known === 'nothing') return true;
    const apart = this.#known === 'nodes';
    return written.some((each) => (apart ? each.concerns(this.names, this.#watch) : each.touches(this.names)));
  }
}

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
