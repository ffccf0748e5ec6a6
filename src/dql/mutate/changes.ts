import { dgraphNames, GraphsteadError, type Limits, type Names, TYPE_PREDICATE } from '../../base/index.js';
import type { Facets, GraphChange, UidList } from '../../graph/index.js';
import type { Value } from '../../values/index.js';
import type { QueryVariable } from '../contract.js';
import { valueFor } from '../run/index.js';
import type { MutationBlock, Triple } from '../syntax/index.js';
import type { MutationNodes } from './nodes.js';

const NONE: UidList = new Float64Array(0);

/** What turning triples into changes needs to know. */
export interface ChangeContext {
  readonly nodes: MutationNodes;
  readonly variables: ReadonlyMap<string, QueryVariable>;
  readonly names: Names;
  readonly limits: Limits;
}

/**
 * Changes of blocks in order, in each block the deletes before the sets, so that a value can be replaced in one block.
 * Throws UNSUPPORTED_DELETE, INVALID_MUTATION and LIMIT_EXCEEDED.
 */
export function changesOf(blocks: readonly MutationBlock[], context: ChangeContext): readonly GraphChange[] {
  const out: GraphChange[] = [];
  for (const block of blocks) {
    for (const triple of block.delete) addDelete(triple, context, out);
    for (const triple of block.set) addSet(triple, context, out);
  }
  return out;
}

/** Refuses what no variable can make right, before a query runs. */
export function checkTriples(blocks: readonly MutationBlock[], names: Names): void {
  for (const { set, delete: remove } of blocks) {
    for (const triple of set) checkSet(triple, names);
    for (const triple of remove) checkDelete(triple);
  }
}

function checkSet({ subject, predicate, object, position }: Triple, names: Names): void {
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

function checkDelete({ subject, predicate, object, position }: Triple): void {
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

function addSet(triple: Triple, context: ChangeContext, out: GraphChange[]): void {
  const { subject, predicate, object, lang, position } = triple;
  const facets = facetsOf(triple);
  for (const uid of context.nodes.forSet(subject, position)) {
    if (object.kind === 'literal' || object.kind === 'value') {
      const value = object.kind === 'literal' ? object.value : valueFor(context.variables.get(object.variable), uid);
      if (value === undefined) continue;
      room(out, context.limits, triple);
      out.push({ op: 'setValue', uid, predicate, value, lang, ...facets });
    } else if (object.kind !== 'all') {
      for (const target of context.nodes.forSet(object, position)) {
        room(out, context.limits, triple);
        out.push({ op: 'setEdge', uid, predicate, object: target, ...facets });
      }
    }
  }
}

function addDelete(triple: Triple, context: ChangeContext, out: GraphChange[]): void {
  const { subject, predicate, object, lang, position } = triple;
  const targets =
    object.kind === 'literal' || object.kind === 'value' || object.kind === 'all'
      ? NONE
      : context.nodes.forDelete(object, position);
  for (const uid of context.nodes.forDelete(subject, position)) {
    room(out, context.limits, triple);
    if (object.kind === 'all') out.push(deleteAll(uid, predicate, lang));
    else if (object.kind === 'literal' || object.kind === 'value') {
      const value: Value | undefined =
        object.kind === 'literal' ? object.value : valueFor(context.variables.get(object.variable), uid);
      if (value !== undefined) out.push({ op: 'deleteValue', uid, predicate, value, lang });
    }
    for (const target of targets) {
      room(out, context.limits, triple);
      out.push({ op: 'deleteEdge', uid, predicate, object: target });
    }
  }
}

function deleteAll(uid: number, predicate: string, lang: string): GraphChange {
  if (predicate === '*') return { op: 'deleteNode', uid };
  return lang === '' ? { op: 'deletePredicate', uid, predicate } : { op: 'deleteLang', uid, predicate, lang };
}

function room(out: readonly GraphChange[], limits: Limits, { position }: Triple): void {
  if (out.length < limits.commitDeltas) return;
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
