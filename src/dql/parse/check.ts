import type { Block, Filter, GroupBy, Selection } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { shownGroupKey } from './directive.js';
import { type BlockVariables, computedIn, definedIn, usedByFilter, type VariableMention, variablesOf } from './uses.js';

/**
 * What can only be told of a whole document: names of blocks, fields and variables.
 * @param needed variables that something outside the query uses (the mutations of an upsert)
 */
export function checkDocument(
  context: ParseContext,
  blocks: readonly Block[],
  needed: readonly VariableMention[],
): void {
  checkNames(context, blocks);
  for (const block of blocks) checkBlock(context, block);
  checkVariables(context, blocks, needed);
}

function checkNames(context: ParseContext, blocks: readonly Block[]): void {
  const seen = new Set<string>();
  for (const { name, isVar, shortest, position } of blocks) {
    if (isVar || shortest) continue;
    if (seen.has(name)) context.refuse(`two blocks are named ${name}`, position, 'Give each block its own name.');
    seen.add(name);
  }
}

function checkBlock(context: ParseContext, block: Block): void {
  if (block.root === undefined && block.shortest === undefined) checkAggregates(context, block);
  if (block.recurse) checkRecurse(context, block);
  if (block.shortest) checkShortest(context, block);
  checkSelections(context, block.children, block.groupBy);
}

function checkAggregates(context: ParseContext, block: Block): void {
  for (const child of block.children) {
    if (child.kind === 'aggregate' || child.kind === 'math') continue;
    context.refuse(
      `${shownKey(child)} stands in a block that starts from nothing`,
      child.position,
      `Use min, max, sum, avg or math there, or start the block with ${block.name}(func: ...).`,
    );
  }
}

function checkRecurse(context: ParseContext, block: Block): void {
  for (const child of block.children) {
    if (!('children' in child) || child.children.length === 0) continue;
    context.refuse(
      '@recurse takes fields of one level only',
      child.position,
      'Move the inner fields beside it: each level follows all of them.',
    );
  }
}

function checkShortest(context: ParseContext, block: Block): void {
  for (const child of block.children) {
    if (child.kind === 'expand') {
      context.refuse('expand(...) cannot stand in shortest', child.position, 'Name the edges to follow.');
    }
    if (child.kind === 'predicate' && (child.facets?.keys.length ?? 0) > 1) {
      context.refuse('an edge of shortest has more than one weight', child.position, 'Name one facet as its weight.');
    }
  }
}

/**
 * @param groups of what these are asked, in place of nodes
 * @param taken keys that the answer has beside these: of facets of the edge that leads here
 */
function checkSelections(
  context: ParseContext,
  selections: readonly Selection[],
  groups: GroupBy | undefined,
  taken: readonly string[] = [],
): void {
  const seen = new Set(groups ? groups.keys.map(shownGroupKey) : taken);
  const { dgraph } = context.names;
  let plainUid = false;
  for (const selection of selections) {
    const repeats = plainUid && isPlainUid(selection);
    plainUid ||= isPlainUid(selection);
    for (const key of repeats ? [] : keysOf(selection, groups !== undefined, dgraph)) {
      // the peer takes an alias that is the name of another field, and its clients keep what comes last
      const place = dgraph && key === selection.alias ? `:${key}` : key;
      if (seen.has(place)) {
        context.refuse(
          `${key} stands twice among the same fields`,
          selection.position,
          'Give one of them an alias that nothing beside it has, or remove it.',
        );
      }
      seen.add(place);
    }
    if (selection.kind === 'expand' && selection.filter) checkExpandFilter(context, selection.filter);
    if (groups) checkGrouped(context, selection);
    else if (selection.kind === 'aggregate' && selection.of.kind === 'predicate') {
      const { op, of } = selection;
      context.refuse(
        `${op}(${of.name}) outside of @groupby: it takes val(variable)`,
        selection.position,
        `Define a variable, x as ${of.name}, and write ${op}(val(x)).`,
      );
    }
    if ('children' in selection) {
      checkOrder(context, selection);
      if (selection.kind === 'predicate') checkOwnFilter(context, selection);
      const below = selection.kind === 'predicate' ? selection.groupBy : undefined;
      checkSelections(context, selection.children, below, dgraph ? [] : facetAliases(selection));
    }
  }
}

/** An edge is put in order before anything below it is read. */
function checkOrder(context: ParseContext, selection: Extract<Selection, { kind: 'predicate' | 'expand' }>): void {
  for (const { by, position } of selection.order) {
    if (by.kind !== 'variable' || !definedIn(selection).some(({ name }) => name === by.name)) continue;
    context.refuse(
      `${shownKey(selection)} is ordered by ${by.name}, which it defines itself`,
      position,
      'Define it in another block, which runs before.',
    );
  }
}

/** An edge is filtered before its nodes are a variable, and before anything below it is read. */
function checkOwnFilter(context: ParseContext, selection: Extract<Selection, { kind: 'predicate' }>): void {
  if (selection.filter === undefined) return;
  const used: VariableMention[] = [];
  usedByFilter(selection.filter, used);
  if (used.length === 0) return;
  const own = new Set(definedIn(selection).map(({ name }) => name));
  for (const { name, position } of used) {
    if (!own.has(name)) continue;
    context.refuse(
      `${shownKey(selection)} is filtered by ${name}, which it defines itself`,
      position,
      'Define it in another block, which runs before.',
    );
  }
}

/** What expand(...) leads to differs from edge to edge: only the type of a node can be asked of all of them. */
function checkExpandFilter(context: ParseContext, filter: Filter): void {
  if (filter.kind === 'not') checkExpandFilter(context, filter.child);
  else if (filter.kind !== 'call') for (const child of filter.children) checkExpandFilter(context, child);
  else if (filter.call.name !== 'type') {
    const { name, position } = filter.call;
    context.refuse(
      `${name} cannot filter expand(...)`,
      position,
      'Use type(...) there, or name the edges to filter them.',
    );
  }
}

function checkGrouped(context: ParseContext, selection: Selection): void {
  if (selection.kind === 'countUid' || selection.kind === 'aggregate') return;
  context.refuse(
    `only count(uid) and aggregates stand inside @groupby, found ${shownKey(selection)}`,
    selection.position,
    'Use count(uid), min, max, sum or avg there.',
  );
}

/** `uid` says the same however often it stands. */
function isPlainUid({ kind, alias }: Selection): boolean {
  return kind === 'uid' && alias === undefined;
}

/** The keys of the answer that a field gives, each of which is there once; for the peer none of facets. */
function keysOf(selection: Selection, grouped: boolean, dgraph: boolean): readonly string[] {
  // The facets of an edge stand with the node at its other end.
  const own = !dgraph && 'children' in selection && selection.children.length === 0;
  const facets = own ? facetAliases(selection) : [];
  // Elsewhere the count of nodes has an object of its own.
  const key = grouped && selection.kind === 'countUid' ? (selection.alias ?? 'count') : keyOf(selection);
  return key === undefined ? facets : [key, ...facets];
}

function facetAliases({ facets }: Extract<Selection, { kind: 'predicate' | 'expand' }>): readonly string[] {
  return facets?.keys.flatMap(({ alias }) => alias ?? []) ?? [];
}

function keyOf(selection: Selection): string | undefined {
  if (selection.alias !== undefined) return selection.alias;
  if (selection.kind === 'expand') return undefined;
  if (selection.kind === 'math') return selection.variable === undefined ? undefined : `val(${selection.variable})`;
  // The groups of an edge stand beside its nodes, in one list.
  if (selection.kind === 'predicate' && selection.groupBy) return `${selection.shown} @groupby`;
  return shownKey(selection);
}

function shownKey(selection: Selection): string {
  if (selection.alias !== undefined) return selection.alias;
  switch (selection.kind) {
    case 'predicate':
      return selection.shown;
    case 'countPredicate':
      return `count(${selection.shown})`;
    case 'countUid':
      return 'count(uid)';
    case 'value':
      return `val(${selection.of})`;
    case 'aggregate':
      return `${selection.op}(${selection.of.kind === 'variable' ? `val(${selection.of.name})` : selection.of.name})`;
    case 'checkPassword':
      return `checkpwd(${selection.shown})`;
    default:
      return selection.kind;
  }
}

function checkVariables(context: ParseContext, blocks: readonly Block[], needed: readonly VariableMention[]): void {
  const perBlock = blocks.map(variablesOf);
  const definer = new Map<string, number>();
  perBlock.forEach(({ defined }, index) => {
    for (const { name, position } of defined) {
      if (definer.has(name)) context.refuse(`the variable ${name} is defined twice`, position, 'Rename one of them.');
      definer.set(name, index);
    }
  });
  const used = new Set(needed.map(({ name }) => name));
  for (const block of perBlock) for (const { name } of block.used) used.add(name);
  const facts = `defined: ${listed(definer.keys())}; used: ${listed(used)}`;
  for (const { name, position } of [...perBlock.flatMap((block) => block.used), ...needed]) {
    if (definer.has(name)) continue;
    context.refuse(
      `the variable ${name} is used but not defined; ${facts}`,
      position,
      `Define it with "${name} as ...", or write a uid as 0x1f.`,
    );
  }
  for (const { name, position } of perBlock.flatMap((block) => block.defined)) {
    if (used.has(name)) continue;
    context.refuse(
      `the variable ${name} is defined but not used; ${facts}`,
      position,
      `Use ${name}, or remove "${name} as".`,
    );
  }
  checkCircles(context, blocks, perBlock, definer);
  checkComputed(context, blocks);
}

/** Values that are computed from each other have none. */
function checkComputed(context: ParseContext, blocks: readonly Block[]): void {
  const computed = computedIn(blocks);
  if (computed.length === 0) return;
  const places = new Map(computed.map(({ name }, index) => [name, index]));
  const waits = computed.map(({ from }) => {
    const indexes = from.map((name) => places.get(name)).filter((index) => index !== undefined);
    return new Set(indexes);
  });
  const stuck = stuckIn(waits);
  if (stuck.length === 0) return;
  context.refuse(
    `variables are computed from each other in a circle: ${listed(stuck.map((index) => computed[index].name))}`,
    computed[stuck[0]].position,
    'Compute one of them from something else.',
  );
}

/** Blocks that wait for each other's variables can never run. */
function checkCircles(
  context: ParseContext,
  blocks: readonly Block[],
  perBlock: readonly BlockVariables[],
  definer: ReadonlyMap<string, number>,
): void {
  perBlock.forEach(({ rootUsed }, index) => {
    for (const { name, position } of rootUsed) {
      if (definer.get(name) !== index) continue;
      context.refuse(
        `the block chooses its nodes by ${name}, which it defines itself`,
        position,
        'Define it in another block, which runs before.',
      );
    }
  });
  const waits = perBlock.map(({ used }, index) => {
    const from = used.map(({ name }) => definer.get(name)).filter((i): i is number => i !== undefined && i !== index);
    return new Set(from);
  });
  const stuck = stuckIn(waits);
  if (stuck.length === 0) return;
  context.refuse(
    `blocks wait for each other's variables: ${stuck.map((index) => blocks[index].name).join(', ')}`,
    blocks[stuck[0]].position,
    'Move what both need into a block of its own.',
  );
}

/** names for a message: some of them when there are many */
function listed(names: Iterable<string>): string {
  const sorted = [...names].sort();
  const shown = sorted.slice(0, 20).join(', ');
  return sorted.length === 0 ? 'none' : sorted.length > 20 ? `${shown} and ${sorted.length - 20} more` : shown;
}

/** Those of what waits for each other that never get their turn: the ones in a circle, and behind one. */
function stuckIn(waits: readonly Set<number>[]): number[] {
  const followers = waits.map((): number[] => []);
  const open = waits.map((set) => set.size);
  waits.forEach((set, index) => {
    for (const from of set) followers[from].push(index);
  });
  const ready = [...waits.keys()].filter((index) => open[index] === 0);
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    for (const follower of followers[next]) if (--open[follower] === 0) ready.push(follower);
  }
  return [...waits.keys()].filter((index) => open[index] > 0);
}
