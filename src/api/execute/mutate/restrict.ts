import { assert, GraphsteadError, groupBy } from '../../../base/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import { hasDelete } from '../../schema/fact.js';
import { type Request, scopeOf } from '../request.js';
import type { Scope } from '../scope.js';
import { isGuarded } from './guard.js';
import { matching } from './matching.js';

/** Edges with @restrict that a mutation leaves empty, and why. */
interface Emptied {
  readonly field: Field;
  readonly uids: readonly number[];
}

/** What a mutation is about to delete. */
interface Deletion {
  readonly byType: ReadonlyMap<ObjectType, readonly number[]>;
  has(uid: number): boolean;
}

/** Throws EDGE_RESTRICTED where a node that stays leads to a deleted one by an edge with @restrict. */
export async function demandUnrestricted(request: Request, reader: GraphReader, nodes: Deletion): Promise<void> {
  const scope = scopeOf(request, reader);
  if (scope.names.dgraph) return; // passed over there, as other words that the peer does not know
  for (const [type, uids] of nodes.byType) {
    for (const field of restricting(scope, type)) {
      const holders = (await sourcesOf(reader, field, uids)).filter((uid) => !nodes.has(uid));
      await demandNone(request, reader, { field, uids: holders }, (count) => ({
        message: `${type.name} cannot be deleted while ${field.owner}.${field.name} leads to it${count}`,
        fix: wayOut(scope, type, field),
      }));
    }
  }
}

/** The same for edges that were taken over from their other ends. */
export async function demandNotTakenOver(
  request: Request,
  reader: GraphReader,
  emptied: readonly { readonly field: Field; readonly uid: number }[],
): Promise<void> {
  for (const [field, same] of groupBy(emptied, (each) => each.field)) {
    const uids = same.map(({ uid }) => uid);
    await demandNone(request, reader, { field, uids }, (count) => ({
      message: `${field.owner}.${field.name} cannot be taken over: a node would be left without it${count}`,
      fix: `Give each such ${field.owner} another ${field.name} in the same mutation, or delete it first.`,
    }));
  }
}

async function demandNone(
  request: Request,
  reader: GraphReader,
  { field, uids }: Emptied,
  says: (count: string) => { readonly message: string; readonly fix: string },
): Promise<void> {
  const owner = scopeOf(request, reader).model.object(field.owner);
  assert(owner, `${field.owner} has ${field.name}`);
  // new nodes are of the type; a predicate may be shared by types that do not restrict it
  const stored = uids.filter((uid) => uid >= 0);
  const held = await matching(request, reader, owner, {}, undefined, stored);
  const count = uids.length - stored.length + held.length;
  if (count === 0) return;
  // how many there are is not told where rules hide some
  const isOpen = !isGuarded(request, 'query', [{ type: owner, uid: 0 }]);
  const { message, fix } = says(isOpen ? ` (${count} ${count === 1 ? 'node' : 'nodes'})` : '');
  const details = { type: owner.name, field: field.name, ...(isOpen ? { count } : {}) };
  throw new GraphsteadError('EDGE_RESTRICTED', message, { fix, details });
}

/** What an edge to nodes of the type may name: its types, their interfaces, and unions of them. */
export function namesOf({ model }: Scope, type: ObjectType): ReadonlySet<string> {
  const own = new Set(type.members.flatMap((name) => [name, ...(model.object(name)?.interfaces ?? [])]));
  for (const union of model.unions) if (union.members.some((name) => own.has(name))) own.add(union.name);
  return own;
}

/** Fields with @restrict whose edges may lead to nodes of the type, each as its own type has it. */
function restricting(scope: Scope, type: ObjectType): Field[] {
  const own = namesOf(scope, type);
  return scope.model.objects.flatMap((owner) =>
    owner.fields.filter((field) => field.restrict && field.owner === owner.name && own.has(field.type.name)),
  );
}

async function sourcesOf(reader: GraphReader, field: Field, uids: readonly number[]): Promise<number[]> {
  assert(field.storage, `${field.name} is stored`);
  const predicate = reader.schema.predicate(field.storage.predicate);
  if (!predicate || uids.length === 0) return [];
  const { rows } = await reader.edges(predicate, Float64Array.from(uids).sort(), { reverse: true });
  return [...new Set(rows.flatMap((row) => Array.from(row)))];
}

function wayOut(scope: Scope, type: ObjectType, field: Field): string {
  const owner = scope.model.object(field.owner);
  const back = field.inverse && type.field(field.inverse.field);
  const another = `give each ${field.owner} another ${field.name} first`;
  if (owner && back && hasDelete(owner)) return `Delete them too (cascade: { ${back.name}: {} }), or ${another}.`;
  return `Delete each ${field.owner}, or ${another}.`;
}
