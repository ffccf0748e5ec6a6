import { assert, GraphsteadError, inSteps } from '../../../base/index.js';
import { Pace } from '../../../dql/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import { type DefinedField, type Request, scopeOf, type Written } from '../request.js';
import { keyFields } from '../scope.js';
import { argumentsOf } from '../argument.js';
import { stepsAlong } from './along.js';
import { ChangeSet } from './change-set.js';
import { type Draft, Drafts, existingNode, taken } from './draft.js';
import { childInputs, type Input, type NodeInput, uidOf, type XidValue, xidKey, xidsOf } from './input.js';
import { type Known, lookUp } from './lookup.js';
import { matching } from './matching.js';
import { memberDefaults } from './member-default.js';
import { memberTypes } from './member-type.js';
import { requestTime } from './now.js';
import { payload } from './payload.js';
import { nullsOf, type Removal, removeFrom } from './removal.js';
import { demandShowable } from './shown.js';
import { demandMembersSpared, demandSpared } from './spared.js';
import { demandTested } from './tested-filter.js';
import { mutateInTransaction, type Worked } from './transaction.js';

/** One level of an update: nodes of a type, and what happens to each. */
interface Step {
  readonly type: ObjectType;
  readonly uids: readonly number[];
  readonly set?: NodeInput;
  readonly remove?: NodeInput;
  /** `remove` and, ours, what `set` holds null for */
  readonly removals: readonly Removal[];
  readonly edges: Draft['edges'];
  readonly removed: readonly { readonly field: Field; readonly child: Draft }[];
}

/** updateT: the nodes that the filter matches, and (ours) nodes reached from them. */
export async function updateField(request: Request, field: DefinedField, type: ObjectType): Promise<Written> {
  const schema = request.engine.graph.schema();
  const args = argumentsOf(scopeOf(request, { schema }), field);
  return await mutateInTransaction(
    request,
    field,
    async (reader) => {
      await demandShowable(request, field, type, reader);
      return await work(request, reader, type, args.input as Input);
    },
    (outcome, reader) => payload(request, field, outcome, reader),
  );
}

async function work(request: Request, reader: GraphReader, type: ObjectType, input: Input): Promise<Worked> {
  const scope = scopeOf(request, reader);
  const drafts = new Drafts(scope);
  demandTested(scope, type, input.filter);
  const uids =
    scope.names.dgraph && saysNothing(input) ? [] : await matching(request, reader, type, input.filter, 'update');
  const steps: Step[] = [];
  await gather(request, reader, drafts, type, uids, input, steps);
  const xids = steps.flatMap((step) => (step.set ? xidsOf(step.set) : []));
  const known = await lookUp(request, reader, [...drafts.xids, ...xids], drafts.uids);
  const set = new ChangeSet(scope, reader, known, requestTime(request), request.run);
  for (const step of steps) {
    const types = await memberTypes(request, reader, step.type, namesOf(step), step.uids);
    await demandMembersKept(request, reader, step, types, known);
    await apply(request, reader, set, step, types, known);
  }
  return { set, outcome: () => ({ type, uids, numUids: uids.length, msg: 'Updated' }) };
}

const namesOf = ({ set, remove }: Step): string[] => [set, remove].flatMap((part) => Object.keys(part?.values ?? {}));

type MemberTypes = ReadonlyMap<number, ObjectType>;

async function demandMembersKept(
  request: Request,
  reader: GraphReader,
  step: Step,
  types: MemberTypes,
  known: Known,
): Promise<void> {
  if (request.engine.names.dgraph) return;
  for (const removal of step.removals) {
    for (const type of new Set(types.values())) demandSpared(scopeOf(request, reader), { ...removal, type });
    await demandMembersSpared(request, reader, removal, async (through) => {
      if (!through) return step.uids;
      if (removal.values[through.name] === null) return await reachedFrom(reader, through, step.uids);
      const named = step.removed.filter(({ field }) => field === through);
      return named.flatMap(({ child }) => existingNode(child, known)?.uid ?? []);
    });
  }
}

/** Neither sets nor removes anything: the peer leaves all alone then, and lists no node as updated. */
const saysNothing = ({ set, remove }: Input): boolean =>
  [set, remove].every((part) => Object.keys(part ?? {}).length === 0);

async function gather(
  request: Request,
  reader: GraphReader,
  drafts: Drafts,
  type: ObjectType,
  uids: readonly number[],
  input: Input,
  steps: Step[],
): Promise<void> {
  const set = input.set ? { type, values: input.set as Input } : undefined;
  const remove = input.remove ? { type, values: input.remove as Input } : undefined;
  const removals = removalsOf(request, set, remove);
  if (!request.engine.names.dgraph) {
    for (const removal of removals) demandSpared(scopeOf(request, reader), removal);
  }
  const pace = new Pace(request.run);
  const edges = set ? await inSteps(drafts.edgesOf(set), () => pace.pause()) : [];
  const removed = remove ? removedEdges(request, drafts, remove) : [];
  if (uids.length > 0 && (set || remove)) {
    steps.push({ type, uids, ...(set ? { set } : {}), ...(remove ? { remove } : {}), removals, edges, removed });
  }
  const scope = scopeOf(request, reader);
  for (const { field, target, step } of stepsAlong(scope, type, input.nested, (union) => `${union}NestedUpdate`)) {
    demandTested(scope, target, step.filter);
    const reached = await reachedFrom(reader, field, uids);
    const inner = await matching(request, reader, target, step.filter, 'update', reached);
    await gather(request, reader, drafts, target, inner, step, steps);
  }
}

function removalsOf(request: Request, set: NodeInput | undefined, remove: NodeInput | undefined): Removal[] {
  const nulls = set && !request.engine.names.dgraph ? nullsOf(set, 'null in set') : undefined;
  return [...(remove ? [{ ...remove, by: 'remove' as const }] : []), ...(nulls ? [nulls] : [])];
}

/** Nodes at the other end of an edge of several nodes. */
export async function reachedFrom(reader: GraphReader, field: Field, uids: readonly number[]): Promise<number[]> {
  assert(field.storage, `${field.name} is stored`);
  const predicate = reader.schema.predicate(field.storage.predicate);
  if (!predicate || uids.length === 0) return [];
  const sources = Float64Array.from(uids).sort();
  const { rows } = await reader.edges(predicate, sources, { reverse: field.storage.reverse });
  return [...new Set(rows.flatMap((row) => Array.from(row)))];
}

/** What `remove` names at the other ends of edges: references only. */
function removedEdges(request: Request, drafts: Drafts, remove: NodeInput): Step['removed'] {
  const scope = scopeOf(request, { schema: request.engine.graph.schema() });
  return Object.entries(remove.values).flatMap(([name, given]) => {
    const field = remove.type.field(name);
    if (field?.role !== 'edge' || given === null) return [];
    return childInputs(scope, field, given).flatMap((child) => {
      if (uidOf(child) === undefined && xidsOf(child).length === 0) {
        throw new GraphsteadError('INVALID_VALUE', `id is not provided for an item of remove.${name}`, {
          fix: `Name each ${child.type.name} by its id${keyFields(child.type)
            .map((xid) => ` or ${xid.name}`)
            .join('')}.`,
        });
      }
      return [{ field, child: drafts.refer({ type: child.type, values: referenceValues(child) }) }];
    });
  });
}

/** Only what names the node: `remove` never changes the node itself. */
function referenceValues(child: NodeInput): Input {
  const names = [...(child.type.id ? [child.type.id.name] : []), ...keyFields(child.type).map((xid) => xid.name)];
  return Object.fromEntries(names.flatMap((name) => (name in child.values ? [[name, child.values[name]]] : [])));
}

async function apply(
  request: Request,
  reader: GraphReader,
  changes: ChangeSet,
  step: Step,
  types: MemberTypes,
  known: Known,
): Promise<void> {
  if (step.set) demandFree(request, step, step.set, known);
  const set = step.set ?? defaultsBeside(step.remove, request.engine.names.dgraph);
  const own = set ? await memberDefaults(request, reader, set.type, step.uids) : undefined;
  const isPeer = request.engine.names.dgraph;
  const typeOf = (uid: number) => types.get(uid) ?? step.type;
  if (!isPeer) {
    // Before anything is set, which stays: `remove: { tags: null }` beside `set` replaces a list. What one of the nodes loses may be
    // what another one sets, where the edge has two names.
    for (const uid of step.uids) await takeAway(changes, uid, typeOf(uid), step, known);
  }
  for (const uid of step.uids) {
    const paused = changes.pause();
    if (paused) await paused;
    if (set) changes.writeValues(uid, set, 'update');
    const defaults = own?.get(uid);
    if (defaults) changes.writeValues(uid, defaults, 'update');
    for (const { field, child } of step.edges)
      await changes.link(uid, fieldOf(typeOf(uid), field), await changes.place(child));
    if (isPeer) await takeAway(changes, uid, typeOf(uid), step, known);
  }
}

async function takeAway(
  changes: ChangeSet,
  uid: number,
  type: ObjectType,
  { removals, removed }: Step,
  known: Known,
): Promise<void> {
  const paused = changes.pause();
  if (paused) await paused;
  for (const { values } of removals) await removeFrom(changes, uid, { type, values });
  for (const { field, child } of removed) {
    const existing = existingNode(child, known);
    if (existing) await changes.unlink(uid, fieldOf(type, field), existing.uid);
  }
}

/** A field of an interface as a type of it has it, with that type's other end. */
const fieldOf = (type: ObjectType, field: Field): Field => type.field(field.name) ?? field;

/** Who only removes has updated the node too; what is removed itself stays away. The peer fills in beside `set` alone. */
function defaultsBeside(remove: NodeInput | undefined, isPeer: boolean): NodeInput | undefined {
  const names = Object.keys(remove?.values ?? {});
  if (!remove || isPeer || names.length === 0) return undefined;
  return { type: remove.type, values: Object.fromEntries(names.map((name) => [name, null])) };
}

/** New @id values must be free, and cannot go to several nodes. */
function demandFree(request: Request, step: Step, set: NodeInput, known: Known): void {
  const xids = xidsOf(set);
  if (xids.length === 0) return;
  if (step.uids.length > 1) {
    throw new GraphsteadError(
      'INVALID_VALUE',
      'only one node is allowed in the filter while updating fields with @id directive',
      { fix: `Match one ${step.type.name}, or leave ${xids.map((xid) => xid.field.name).join(', ')} out of set.` },
    );
  }
  for (const xid of xids) demandFreeValue(request, step, xid, known);
}

function demandFreeValue(request: Request, step: Step, xid: XidValue, known: Known): void {
  for (const existing of known.byXid.get(xidKey(xid)) ?? []) {
    // setting a node's own value again changes nothing; the peer refuses that too
    if (existing.uid === step.uids[0] && !request.engine.names.dgraph) continue;
    if (xid.field.xid?.interface || existing.types.includes(step.type.storedName)) throw taken(xid, step.type.name);
  }
}
