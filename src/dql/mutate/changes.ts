import {
  dgraphNames,
  forEachInSteps,
  GraphsteadError,
  type Limits,
  type Names,
  type Position,
  STEP,
  type Steps,
  TYPE_PREDICATE,
} from '../../base/index.js';
import type { Facets, GraphChange, UidList } from '../../graph/index.js';
import type { Value } from '../../values/index.js';
import type { QueryVariable } from '../contract.js';
import { invalidMutation } from '../parse/invalid.js';
import { valueFor } from '../run/index.js';
import type { MutationBlock, ObjectReference, Triple } from '../syntax/index.js';
import type { MutationNodes, Nodes } from './nodes.js';

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
  /** new predicates that are to lead to one node (single-edges.ts) */
  readonly singles: ReadonlySet<string>;
}

/**
 * Changes of blocks in order, in each block the deletes before the sets, so that a value can be replaced in one block.
 * Throws UNSUPPORTED_DELETE, INVALID_MUTATION and LIMIT_EXCEEDED.
 */
export function* changesOf(blocks: readonly MutationBlock[], context: ChangeContext): Steps<PlacedChanges> {
  const out: PlacedChanges = { changes: [], positions: [] };
  for (const block of blocks) {
    yield* addEach(block.delete, (triple) => addDelete(triple, context, out));
    yield* addEach(block.set, (triple) => addSet(triple, context, out));
  }
  return out;
}

function* addEach(triples: readonly Triple[], add: (triple: Triple) => Steps<void> | undefined): Steps<void> {
  for (let i = 0; i < triples.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const left = add(triples[i]);
    if (left !== undefined) yield* left;
  }
}

const PEER_TYPE = dgraphNames.shown(TYPE_PREDICATE);

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
    throw invalidMutation('* cannot stand in what is set', position, 'Name what to set; * belongs into delete.');
  }
  const shown = names.shown(predicate);
  if (predicate === TYPE_PREDICATE) return;
  if (predicate === PEER_TYPE && !names.dgraph) {
    const fix = `Write ${TYPE_PREDICATE}, or start the service with --compat dgraph.`;
    throw invalidMutation(
      `${predicate} would give the node no type: it is called ${TYPE_PREDICATE} here`,
      position,
      fix,
    );
  }
  const reserved = dgraphNames.shown(predicate) !== predicate || (names.dgraph && shown.startsWith('dgraph.'));
  if (!reserved) return;
  const prefix = shown.slice(0, shown.indexOf('.') + 1);
  throw invalidMutation(
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

/** What is left to do where variables stand for many nodes. */
function addSet(triple: Triple, context: ChangeContext, out: PlacedChanges): Steps<void> | undefined {
  const facets = facetsOf(triple);
  const { object, predicate, lang, position } = triple;
  if (object.kind === 'all') return undefined;
  const subjects = context.nodes.forSet(triple.subject, position);
  if (object.kind === 'literal' || object.kind === 'value') {
    const list = context.lists.has(predicate) ? { list: true } : {};
    return forEachNode(subjects, (uid) => {
      const value = literalOf(object, uid, context);
      if (value === undefined) return;
      push({ op: 'setValue', uid, predicate, value, lang, ...facets, ...list }, triple, context.limits, out);
    });
  }
  const targets = context.nodes.forSet(object, position);
  demandRoom(subjects, targets, triple, context.limits, out);
  const single = context.singles.has(predicate) ? { single: true } : {};
  return forEachPair(subjects, targets, (uid, target) => {
    push({ op: 'setEdge', uid, predicate, object: target, ...facets, ...single }, triple, context.limits, out);
  });
}

/** At once for one node; the steps of what is to be done for many. */
function forEachNode(nodes: Nodes, visit: (uid: number) => void): Steps<void> | undefined {
  if (typeof nodes === 'number') visit(nodes);
  else return forEachInSteps(nodes, visit);
}

function forEachPair(
  subjects: Nodes,
  targets: Nodes,
  visit: (uid: number, target: number) => void,
): Steps<void> | undefined {
  if (typeof subjects === 'number') return forEachNode(targets, (target) => visit(subjects, target));
  if (typeof targets === 'number') return forEachNode(subjects, (uid) => visit(uid, targets));
  return allPairs(subjects, targets, visit);
}

function* allPairs(subjects: UidList, targets: UidList, visit: (uid: number, target: number) => void): Steps<void> {
  for (let i = 0; i < subjects.length; i++) {
    yield* forEachInSteps(targets, (target) => visit(subjects[i], target));
    yield;
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

function addDelete(triple: Triple, context: ChangeContext, out: PlacedChanges): Steps<void> | undefined {
  const { object, predicate, lang, position } = triple;
  const add = (change: GraphChange): void => push(change, triple, context.limits, out);
  const subjects = context.nodes.forDelete(triple.subject, position);
  if (object.kind === 'all') return forEachNode(subjects, (uid) => add(deleteAll(uid, predicate, lang)));
  if (object.kind === 'literal' || object.kind === 'value') {
    return forEachNode(subjects, (uid) => {
      const value = literalOf(object, uid, context);
      if (value !== undefined) add({ op: 'deleteValue', uid, predicate, value, lang });
    });
  }
  if (sizeOf(subjects) === 0) return undefined;
  const targets = context.nodes.forDelete(object, position);
  demandRoom(subjects, targets, triple, context.limits, out);
  return forEachPair(subjects, targets, (uid, target) => {
    add({ op: 'deleteEdge', uid, predicate, object: target });
  });
}

function deleteAll(uid: number, predicate: string, lang: string): GraphChange {
  if (predicate === '*') return { op: 'deleteNode', uid };
  return lang === '' ? { op: 'deletePredicate', uid, predicate } : { op: 'deleteLang', uid, predicate, lang };
}

function push(change: GraphChange, triple: Triple, limits: Limits, out: PlacedChanges): void {
  if (out.changes.length >= limits.commitDeltas) throw tooMany(triple, limits);
  out.changes.push(change);
  out.positions.push(triple.position);
}

/** Known before any of them is made: millions would be thrown away again. */
function demandRoom(subjects: Nodes, targets: Nodes, triple: Triple, limits: Limits, out: PlacedChanges): void {
  if (out.changes.length + sizeOf(subjects) * sizeOf(targets) > limits.commitDeltas) throw tooMany(triple, limits);
}

const sizeOf = (nodes: Nodes): number => (typeof nodes === 'number' ? 1 : nodes.length);

function tooMany({ position }: Triple, limits: Limits): GraphsteadError {
  return new GraphsteadError(
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
