import { GraphsteadError, inSteps, type MaybePromise, type Names, STEP, type Steps } from '../../base/index.js';
import { decodeValue, type Value } from '../../values/index.js';
import type { ValueColumn } from '../contract.js';
import type { FacetRequest, Selection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import type { Execution } from './execution.js';
import { facetOf } from './facet.js';
import { addValues } from './math-operator.js';
import { Places } from './places.js';
import { union } from './uid-set.js';
import { columnBy, EMPTY_COLUMN, mergeColumns, type RunVariable } from './variable.js';

/**
 * Sets the variables that a branch defines. Called when the branch has been read, for the blocks below it, and again
 * when @cascade is done. A variable that is defined at several levels (@recurse) holds all of them.
 * @param path branches from the block to the parent of `at`; values belong to the uids of the last one
 */
export function defineVariables(
  at: ResultBranch,
  path: readonly ResultBranch[],
  execution: Execution,
): MaybePromise<void> {
  const { syntax } = at;
  if (syntax.kind === 'block') {
    if (syntax.variable !== undefined) set(syntax.variable, { uids: at.dest, path: [] }, execution);
    return;
  }
  const { variable } = syntax;
  const facets = syntax.kind === 'predicate' ? syntax.facets : undefined;
  // most selections define none
  if (variable === undefined && facets === undefined) return;
  return inSteps(define(at, isComputed(syntax) ? undefined : variable, facets, path, execution), () =>
    execution.checkpoint(),
  );
}

function* define(
  at: ResultBranch,
  variable: string | undefined,
  facets: FacetRequest | undefined,
  path: readonly ResultBranch[],
  execution: Execution,
): Steps<void> {
  if (variable !== undefined) {
    if (!execution.expanded.has(variable)) checkSingle(at, variable);
    set(variable, { ...(yield* variableOf(at, path)), path }, execution);
  }
  if (facets) yield* defineFacets(at, facets, path, execution);
}

function isComputed(syntax: Selection): boolean {
  return syntax.kind === 'math' || syntax.kind === 'aggregate' || syntax.kind === 'value';
}

/** A value variable holds one value for a node. Throws INVALID_QUERY where a list has more: none of them is the one. */
function checkSingle({ valueLists, syntax }: ResultBranch, name: string): void {
  if (!valueLists?.some((list) => list.length > 1)) return;
  const field = syntax.kind === 'predicate' ? syntax.shown : 'it';
  throw new GraphsteadError('INVALID_QUERY', `the variable ${name} holds one value for a node, and ${field} has more`, {
    position: syntax.position,
    fix: 'Use a predicate that is no list.',
  });
}

function set(name: string, next: RunVariable, execution: Execution): void {
  const before = execution.variables.get(name);
  execution.variables.set(name, before ? merge(before, next) : next);
}

function merge(before: RunVariable, next: RunVariable): RunVariable {
  return {
    path: next.path,
    ...(before.uids || next.uids
      ? { uids: union([before.uids ?? EMPTY_COLUMN.uids, next.uids ?? EMPTY_COLUMN.uids]) }
      : {}),
    ...(before.values || next.values
      ? { values: mergeColumns(before.values ?? EMPTY_COLUMN, next.values ?? EMPTY_COLUMN) }
      : {}),
    ...(next.constant ? { constant: next.constant } : {}),
  };
}

/** What a selection gives to `x as`. */
function* variableOf(at: ResultBranch, path: readonly ResultBranch[]): Steps<RunVariable> {
  const parent = path[path.length - 1];
  switch (at.syntax.kind) {
    case 'uid':
      return { uids: parent.dest };
    case 'countUid':
      return { constant: { type: 'int', value: parent.dest.length } };
    case 'countPredicate':
      return { values: yield* columnBy(at.source, (i) => ({ type: 'int', value: at.counts?.[i] ?? 0 })) };
    case 'checkPassword':
      return { values: at.computed };
    default:
      return at.rows ? { uids: at.dest } : yield* valuesVariable(at);
  }
}

function* valuesVariable(at: ResultBranch): Steps<RunVariable> {
  if (at.valueLists) {
    const lists = at.valueLists;
    return {
      values: yield* columnBy(at.source, (i) => (lists[i].length > 0 ? decodeValue(lists[i][0]) : undefined)),
      members: lists.flatMap((list) => list.map(decodeValue)),
    };
  }
  if (!at.values) return {};
  const values = at.values;
  return {
    values: yield* columnBy(at.source, (i) => {
      const bytes = values.at(i);
      return bytes && decodeValue(bytes);
    }),
  };
}

/** `@facets(x as since)`: values of the node an edge leads to, or of the node that has the value. */
function* defineFacets(
  at: ResultBranch,
  request: FacetRequest,
  path: readonly ResultBranch[],
  execution: Execution,
): Steps<void> {
  for (const { key, variable } of request.keys) {
    if (variable === undefined) continue;
    const edges = at.rows !== undefined;
    const values = edges
      ? yield* edgeFacets(at, key)
      : yield* columnBy(at.source, (i) => facetOfValues(at, i, key, execution.names));
    set(variable, { values, path: edges ? [...path, at] : path }, execution);
  }
}

/** Of a list the facets of all its values count, as those of several edges to one node do; the peer takes the first one's. */
function facetOfValues(at: ResultBranch, i: number, key: string, names: Names): Value | undefined {
  const members = at.listFacets?.[i];
  if (!members) return facetOf(at.valueFacets?.[i], key);
  if (names.dgraph) return facetOf(members[0], key);
  return members
    .map((facets) => facetOf(facets, key))
    .filter((value) => value !== undefined)
    .reduce<Value | undefined>((sum, value) => together(at, key, sum, value), undefined);
}

/** One value of two facets for a node. Throws INVALID_QUERY where one of them is no number. */
function together(at: ResultBranch, key: string, before: Value | undefined, value: Value): Value {
  if (before === undefined) return value;
  if (isNumber(before) && isNumber(value)) return addValues(before, value);
  throw manyFacets(at, key);
}

/**
 * Numbers of several edges to one node are added up. Throws INVALID_QUERY where other facets meet: a variable holds one
 * value for a node.
 */
function* edgeFacets(at: ResultBranch, key: string): Steps<ValueColumn> {
  const { rows = [], dest } = at;
  const sums = new Array<Value | undefined>(dest.length).fill(undefined);
  const place = Places.finder(dest);
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    if (i % STEP === STEP - 1) yield;
    for (let j = 0; j < rows[i].length; j++) {
      if (++count % STEP === 0) yield;
      const value = facetOf(at.rowFacets?.[i]?.[j], key);
      if (value === undefined) continue;
      const to = place(rows[i][j]);
      sums[to] = together(at, key, sums[to], value);
    }
  }
  return yield* columnBy(dest, (i) => sums[i]);
}

function manyFacets({ syntax, rows }: ResultBranch, key: string): GraphsteadError {
  const [several, instead] = rows
    ? ['edges to one node', 'Start from one node']
    : ['values of one node', 'Leave one of them'];
  return new GraphsteadError(
    'INVALID_QUERY',
    `several ${several} have a facet ${key} that is no number, and a variable holds one value for a node`,
    { position: syntax.position, fix: `${instead}, or use a facet that is a number: those are added up.` },
  );
}

function isNumber(value: Value): boolean {
  return value.type === 'int' || value.type === 'float';
}
