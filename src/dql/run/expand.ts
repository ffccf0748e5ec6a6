import { forEachInSteps, GraphsteadError, inSteps, type MaybePromise, TYPE_PREDICATE } from '../../base/index.js';
import { decodeValue, valueText } from '../../values/index.js';
import type { ExpandSelection, FacetRequest, PredicateSelection, Selection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import type { Execution } from './execution.js';
import { readAll } from './language.js';

/** What an expansion shows of facets unless it says so itself, as in Dgraph. */
const EVERY_FACET: FacetRequest = { all: true, implied: true, keys: [], order: [] };

/** Selections of a block with each expand() replaced by the predicates it stands for, at its place. */
export function expandSelections(
  selections: readonly Selection[],
  parent: ResultBranch,
  execution: Execution,
): MaybePromise<readonly Selection[]> {
  const expands = selections.some((selection) => selection.kind === 'expand');
  return expands ? expanded(selections, parent, execution) : selections;
}

async function expanded(
  selections: readonly Selection[],
  parent: ResultBranch,
  execution: Execution,
): Promise<readonly Selection[]> {
  const own = ownEdges(selections, execution);
  const out: Selection[] = [];
  for (const selection of selections) {
    if (selection.kind !== 'expand') out.push(selection);
    else out.push(...(await expansion(selection, parent, execution)).filter(({ shown }) => !own.has(shown)));
  }
  // A password is never shown, but is a field of its type like any other: whoever selects it too made the same mistake.
  return checkRepeats(out, execution).filter((one) => selections.includes(one) || !isPassword(one, execution));
}

function isPassword(selection: Selection, execution: Execution): boolean {
  return selection.kind === 'predicate' && execution.predicate(selection.name)?.type === 'password';
}

/**
 * Edges that the block selects itself: what it says of their filter, page and fields holds, in place of what expand() says
 * of all edges. A value says no more by its own name than expand() does, so that it stays a mistake to select it twice.
 */
function ownEdges(selections: readonly Selection[], execution: Execution): ReadonlySet<string> {
  const own = new Set<string>();
  for (const selection of selections) {
    if (selection.kind !== 'predicate' || selection.alias !== undefined) continue;
    if (execution.predicate(selection.name)?.type === 'uid') own.add(selection.shown);
  }
  return own;
}

/** What stands beside expand() is shown under another key than what it stands for; the peer looks at no alias. */
function checkRepeats(selections: readonly Selection[], { names }: Execution): readonly Selection[] {
  const seen = new Map<string, Selection>();
  for (const selection of selections) {
    const key = selection.alias ?? (selection.kind === 'predicate' ? selection.shown : undefined);
    if (key === undefined || (names.dgraph && selection.alias !== undefined)) continue;
    const before = seen.get(key);
    if (before !== undefined) {
      const aliased = selection.alias !== undefined || before.alias !== undefined;
      throw new GraphsteadError(
        'INVALID_QUERY',
        aliased ? `expand() selects ${key}, the alias of another field` : `expand() and the block both select ${key}`,
        { position: selection.position, fix: `Leave the field out, or give it ${aliased ? 'another' : 'an'} alias.` },
      );
    }
    seen.set(key, selection);
  }
  return selections;
}

async function expansion(
  selection: ExpandSelection,
  parent: ResultBranch,
  execution: Execution,
): Promise<PredicateSelection[]> {
  await execution.checkpoint();
  const names = new Set(await namesOf(selection, parent, execution));
  const out: PredicateSelection[] = [];
  for (const field of names) {
    const reverse = field.startsWith('~');
    const name = reverse ? field.slice(1) : field;
    const predicate = execution.predicate(name);
    // A filter asks about nodes at the other end, which values do not have.
    if (selection.filter && predicate?.type !== 'uid') continue;
    const edge = predicate?.type === 'uid';
    // Edges without selections below them show nothing of their own, and facets alone would say nothing.
    const facets = selection.facets ?? (edge && selection.children.length === 0 ? undefined : EVERY_FACET);
    out.push({
      kind: 'predicate',
      name,
      shown: reverse ? `~${execution.names.shown(name)}` : execution.names.shown(name),
      reverse,
      langs: predicate?.lang ? ['*'] : [],
      ...(edge && selection.filter ? { filter: selection.filter } : {}),
      ...(facets ? { facets } : {}),
      order: edge ? selection.order : [],
      page: edge ? selection.page : {},
      directives: selection.directives,
      children: edge ? selection.children : [],
      position: selection.position,
    });
  }
  return out;
}

async function namesOf(
  selection: ExpandSelection,
  parent: ResultBranch,
  execution: Execution,
): Promise<readonly string[]> {
  const { of } = selection;
  if (of.kind === 'variable') {
    const variable = execution.variables.get(of.name);
    const members = variable?.members ?? variable?.values?.values ?? [];
    return members.map((value) => execution.names.stored(valueText(value)));
  }
  const types = of.kind === 'types' ? of.names : await typesOf(parent, execution);
  return types.flatMap((type) => execution.reader.schema.type(type)?.fields ?? []);
}

/** The types of the nodes, in order of name. */
async function typesOf(parent: ResultBranch, execution: Execution): Promise<readonly string[]> {
  const predicate = execution.predicate(TYPE_PREDICATE);
  if (!predicate || parent.dest.length === 0) return [];
  const all = await readAll(execution, predicate, parent.dest, false);
  const types = new Set<string>();
  const noting = forEachInSteps(all, (values) => {
    for (const one of values) types.add(valueText(decodeValue(one.value)));
  });
  await inSteps(noting, () => execution.checkpoint());
  return [...types].map((type) => execution.names.stored(type)).sort();
}
