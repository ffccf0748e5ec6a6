import {
  dgraphNames,
  forEachInSteps,
  GraphsteadError,
  type Limits,
  type Names,
  type Position,
  type Steps,
  TYPE_PREDICATE,
} from '../../base/index.js';
import type { Facets, GraphChange } from '../../graph/index.js';
import type { Value } from '../../values/index.js';
import type { QueryVariable } from '../contract.js';
import { valueFor } from '../run/index.js';
import type { MutationBlock, ObjectReference, Triple } from '../syntax/index.js';
import type { MutationNodes } from './nodes.js';

/** Changes, each with the place of the triple that asked for it. */
interface PlacedChanges {
  readonly changes: GraphChange[];
  readonly positions: Position[];
}

/** What turning triples into changes needs to know. */
interface ChangeContext {
  readonly nodes: MutationNodes;
  readonly variables: ReadonlyMap<string, QueryVariable>;
  readonly names: Names;
  readonly limits: Limits;
  /** new predicates that are to hold lists (lists.ts) */
  readonly lists: ReadonlySet<string>;
}

/**
 * Changes of blocks in order, in each block the deletes before the sets, so that a value can be replaced in one block.
 * Throws UNSUPPORTED_DELETE, INVALID_MUTATION and LIMIT_EXCEEDED.
 */
export function* changesOf(blocks: readonly MutationBlock[], context: ChangeContext): Steps<PlacedChanges> {
  const out: PlacedChanges = { changes: [], positions: [] };
  for (const block of blocks) {
    yield* forEachInSteps(block.delete, (triple) => addDelete(triple, context, out));
    yield* forEachInSteps(block.set, (triple) => addSet(triple, context, out));
  }
  return out;
}

/** Refuses what no variable can make right, before a query runs. */
export function* checkTriples(blocks: readonly MutationBlock[], names: Names): Steps<void> {
  for (const { set, delete: remove } of blocks) {
    yield* forEachInSteps(set, (triple) => checkSet(triple, names));
    yield* forEachInSteps(remove, checkDelete);
  }
}

function checkSet(triple: Triple, names: Names): void {
  const { subject, predicate, object, position } = triple;
  if (subject.kind === 'all' || predicate === '*' || object.kind === 'all') {
    throw refused('* cannot stand in what is set', position, 'Name what to set; * belongs into delete.');
  }
  const shown = names.shown(predicate);
  if (predicate === TYPE_PREDICATE) return;
  const reserved = dgraphNames.shown(predicate) !== predicate || (names.dgraph && shown.startsWith('dgraph.'));
  if (!reserved) return;
  const prefix = shown.slice(0, shown.indexOf('.') + 1);
  throw refused(
    `the predicate ${shown} cannot be set: names that begin with ${prefix} belong to the service`,
    position,
    'Choose another name.',
  );
}

function checkDelete(triple: Triple): void {
  const { subject, predicate, object, position } = triple;
  const star = object.kind === 'all';
  if (subject.kind !== 'all' && (predicate !== '*' || star)) return;
  const pattern = `${subject.kind === 'all' ? '*' : 'S'} ${predicate === '*' ? '*' : 'P'} ${star ? '*' : 'O'}`;
  throw new GraphsteadError('UNSUPPORTED_DELETE', `deletes of the form "${pattern}" are not supported`, {
    position,
    fix: 'Only "S P O", "S P *" and "S * *" are: find the subjects with a query and delete uid(v).',
  });
}

function refused(message: string, position: Triple['position'], fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_MUTATION', message, { position, fix });
}

function addSet(triple: Triple, context: ChangeContext, out: PlacedChanges): void {
  const facets = facetsOf(triple);
  const subjects = context.nodes.forSet(triple.subject, triple.position);
  if (typeof subjects === 'number') setOn(subjects, triple, facets, context, out);
  else for (const uid of subjects) setOn(uid, triple, facets, context, out);
}

function setOn(
  uid: number,
  triple: Triple,
  facets: { facets?: Facets },
  context: ChangeContext,
  out: PlacedChanges,
): void {
  const { predicate, object, lang, position } = triple;
  const add = (change: GraphChange): void => push(change, triple, context.limits, out);
  if (object.kind === 'literal' || object.kind === 'value') {
    const value = literalOf(object, uid, context);
    if (value === undefined) return;
    const list = context.lists.has(predicate) ? { list: true } : {};
    add({ op: 'setValue', uid, predicate, value, lang, ...facets, ...list });
  } else if (object.kind !== 'all') {
    const targets = context.nodes.forSet(object, position);
    if (typeof targets === 'number') add({ op: 'setEdge', uid, predicate, object: targets, ...facets });
    else for (const target of targets) add({ op: 'setEdge', uid, predicate, object: target, ...facets });
  }
}

/** The value to write on one node; undefined where `val(v)` has none for it. */
function literalOf(
  object: Extract<ObjectReference, { kind: 'literal' | 'value' }>,
  uid: number,
  { variables }: ChangeContext,
): Value | undefined {
  return object.kind === 'literal' ? object.value : valueFor(variables.get(object.variable), uid);
}

function addDelete(triple: Triple, context: ChangeContext, out: PlacedChanges): void {
  const subjects = context.nodes.forDelete(triple.subject, triple.position);
  if (typeof subjects === 'number') deleteOn(subjects, triple, context, out);
  else for (const uid of subjects) deleteOn(uid, triple, context, out);
}

function deleteOn(uid: number, triple: Triple, context: ChangeContext, out: PlacedChanges): void {
  const { predicate, object, lang, position } = triple;
  const add = (change: GraphChange): void => push(change, triple, context.limits, out);
  if (object.kind === 'all') add(deleteAll(uid, predicate, lang));
  else if (object.kind === 'literal' || object.kind === 'value') {
    const value = literalOf(object, uid, context);
    if (value !== undefined) add({ op: 'deleteValue', uid, predicate, value, lang });
  } else {
    const targets = context.nodes.forDelete(object, position);
    if (typeof targets === 'number') add({ op: 'deleteEdge', uid, predicate, object: targets });
    else for (const target of targets) add({ op: 'deleteEdge', uid, predicate, object: target });
  }
}

function deleteAll(uid: number, predicate: string, lang: string): GraphChange {
  if (predicate === '*') return { op: 'deleteNode', uid };
  return lang === '' ? { op: 'deletePredicate', uid, predicate } : { op: 'deleteLang', uid, predicate, lang };
}

function push(change: GraphChange, { position }: Triple, limits: Limits, out: PlacedChanges): void {
  if (out.changes.length < limits.commitDeltas) {
    out.changes.push(change);
    out.positions.push(position);
    return;
  }
  throw new GraphsteadError(
    'LIMIT_EXCEEDED',
    `the mutation makes more than ${limits.commitDeltas} changes (limit commitDeltas)`,
    {
      position,
      fix: 'Split it into several requests; uid(v) with many uids on both sides multiplies.',
    },
  );
}

function facetsOf({ facets }: Triple): { facets?: Facets } {
  if (facets.length === 0) return {};
  return { facets: [...facets].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)) };
}
