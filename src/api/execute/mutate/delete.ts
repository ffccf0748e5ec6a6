import { assert } from '../../../base/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import { type DefinedField, type Request, scopeOf, type Written } from '../request.js';
import type { Scope } from '../scope.js';
import { argumentsOf } from '../argument.js';
import { stepsAlong } from './along.js';
import { ChangeSet } from './change-set.js';
import { demand } from './guard.js';
import { type Input, inverseOf } from './input.js';
import { matching } from './matching.js';
import { requestTime } from './now.js';
import { payload } from './payload.js';
import { demandUnrestricted, namesOf } from './restrict.js';
import { demandTested } from './tested-filter.js';
import { mutateInTransaction, type Worked } from './transaction.js';
import { reachedFrom } from './update.js';

/** deleteT: the nodes that the filter matches, (ours) those that `cascade` reaches, and every known edge to them. */
export async function deleteField(request: Request, field: DefinedField, type: ObjectType): Promise<Written> {
  const schema = request.engine.graph.schema();
  const args = argumentsOf(scopeOf(request, { schema }), field);
  return await mutateInTransaction(
    request,
    field,
    (reader) => work(request, field, type, args, reader),
    () => {
      throw new Error('the payload of a delete is read before it');
    },
  );
}

async function work(
  request: Request,
  field: DefinedField,
  type: ObjectType,
  args: Input,
  reader: GraphReader,
): Promise<Worked> {
  const scope = scopeOf(request, reader);
  demandTested(scope, type, args.filter);
  const uids = await matching(request, reader, type, args.filter, 'delete');
  const set = new ChangeSet(scope, reader, { byXid: new Map(), byUid: new Map() }, requestTime(request), request.run);
  const nodes = new NodesToDelete(set);
  await nodes.add(type, uids);
  await cascade(request, reader, type, uids, args.cascade, nodes);
  await demandUnrestricted(request, reader, nodes);
  for (const [owner, own] of nodes.byType) await unlinkAll(scope, set, reader, owner, own);
  const msg = nodes.size > 0 ? 'Deleted' : 'No nodes were deleted';
  const outcome = { type, uids, numUids: nodes.size, msg };
  const before = await payload(request, field, outcome, async () => reader);
  return { set, outcome: () => outcome, before };
}

/** The nodes that a mutation deletes, each once. */
class NodesToDelete {
  readonly byType = new Map<ObjectType, number[]>();
  readonly #uids = new Set<number>();

  constructor(readonly set: ChangeSet) {}

  get size(): number {
    return this.#uids.size;
  }

  has(uid: number): boolean {
    return this.#uids.has(uid);
  }

  async add(type: ObjectType, uids: readonly number[]): Promise<void> {
    const own = this.byType.get(type) ?? [];
    this.byType.set(type, own);
    for (const uid of uids) {
      const paused = this.set.pause();
      if (paused) await paused;
      this.#uids.add(uid);
      own.push(uid);
      this.set.changes.push({ op: 'deleteNode', uid });
    }
  }
}

/** Nodes reached over the edges that `cascade` names go too; the rules must allow each. */
async function cascade(
  request: Request,
  reader: GraphReader,
  type: ObjectType,
  uids: readonly number[],
  steps: unknown,
  nodes: NodesToDelete,
): Promise<void> {
  if (uids.length === 0) return;
  const scope = scopeOf(request, reader);
  for (const { field, target, step } of stepsAlong(scope, type, steps, (union) => `${union}CascadeStep`)) {
    demandTested(scope, target, step.filter);
    const reached = await reachedFrom(reader, field, uids);
    // which hidden nodes a filter matches would be told by the refusal
    const seen = step.filter === null || step.filter === undefined ? undefined : 'query';
    const inner = await matching(request, reader, target, step.filter, seen, reached);
    const fresh = inner.filter((uid) => !nodes.has(uid));
    await demand(
      request,
      reader,
      'delete',
      fresh.map((uid) => ({ type: target, uid })),
    );
    await nodes.add(target, fresh);
    await cascade(request, reader, target, fresh, step.cascade, nodes);
  }
}

/** Edges from other nodes: inverses, reverse predicates, and whatever has a reverse index. */
async function unlinkAll(
  scope: Scope,
  set: ChangeSet,
  reader: GraphReader,
  type: ObjectType,
  uids: readonly number[],
): Promise<void> {
  const sources = Float64Array.from(uids).sort();
  const done = new Set<string>();
  for (const member of type.members) {
    for (const field of scope.model.object(member)?.fields ?? []) {
      const inverse = inverseOf(scope, field);
      if (field.role === 'edge' && inverse?.storage) await unlinkInverse(set, reader, field, inverse, sources);
    }
  }
  for (const { name, reverse } of incoming(scope, type)) {
    const predicate = reader.schema.predicate(name);
    if (!predicate || done.has(name) || (!reverse && !predicate.reverse)) continue;
    done.add(name);
    const { rows } = await reader.edges(predicate, sources, { reverse: true });
    for (let i = 0; i < rows.length; i++) {
      const paused = set.pause();
      if (paused) await paused;
      for (const uid of rows[i]) set.changes.push({ op: 'deleteEdge', uid, predicate: name, object: sources[i] });
    }
  }
}

async function unlinkInverse(
  set: ChangeSet,
  reader: GraphReader,
  field: Field,
  inverse: Field,
  sources: Float64Array,
): Promise<void> {
  assert(field.storage && inverse.storage, 'both ends are stored');
  const predicate = reader.schema.predicate(field.storage.predicate);
  if (!predicate) return;
  const { rows } = await reader.edges(predicate, sources, { reverse: field.storage.reverse });
  const back = inverse.storage;
  for (let i = 0; i < rows.length; i++) {
    const paused = set.pause();
    if (paused) await paused;
    for (const uid of rows[i]) {
      set.changes.push(
        back.reverse
          ? { op: 'deleteEdge', uid: sources[i], predicate: back.predicate, object: uid }
          : { op: 'deleteEdge', uid, predicate: back.predicate, object: sources[i] },
      );
    }
  }
}

/** Predicates whose edges may lead to nodes of the type, `reverse` where the type itself reads them backwards. */
function incoming(scope: Scope, type: ObjectType): { readonly name: string; readonly reverse: boolean }[] {
  const found: { name: string; reverse: boolean }[] = [];
  const own = namesOf(scope, type);
  for (const owner of scope.model.objects) {
    for (const field of owner.fields) {
      if (field.role !== 'edge' || !field.storage) continue;
      if (own.has(owner.name) && field.storage.reverse) found.push({ name: field.storage.predicate, reverse: true });
      else if (own.has(field.type.name) && !field.storage.reverse) {
        found.push({ name: field.storage.predicate, reverse: false });
      }
    }
  }
  return found;
}
