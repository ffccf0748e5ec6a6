import { inSteps, type Steps } from '../../../base/index.js';
import { Pace } from '../../../dql/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { ObjectType } from '../../../sdl/index.js';
import { type DefinedField, type Request, scopeOf, type Written } from '../request.js';
import { argumentsOf } from '../argument.js';
import { ChangeSet } from './change-set.js';
import { type Draft, Drafts, existingNode } from './draft.js';
import { allowed } from './guard.js';
import type { Input } from './input.js';
import { joinUpserts } from './join-upserts.js';
import { lookUp } from './lookup.js';
import { requestTime } from './now.js';
import { payload } from './payload.js';
import { nullsOf, removeFrom } from './removal.js';
import { demandShowable } from './shown.js';
import { demandMembersSpared, demandSpared } from './spared.js';
import { reachedFrom } from './update.js';
import { mutateInTransaction, type Worked } from './transaction.js';

/** addT: new nodes with everything under them; with `upsert`, objects whose @id is there change that node. */
export async function addField(request: Request, field: DefinedField, type: ObjectType): Promise<Written> {
  const schema = request.engine.graph.schema();
  const args = argumentsOf(scopeOf(request, { schema }), field);
  const inputs = args.input as readonly Input[];
  return await mutateInTransaction(
    request,
    field,
    async (reader) => {
      await demandShowable(request, field, type, reader);
      return await work(request, reader, type, inputs, args.upsert === true);
    },
    (outcome, reader) => payload(request, field, outcome, reader),
  );
}

async function work(
  request: Request,
  reader: GraphReader,
  type: ObjectType,
  inputs: readonly Input[],
  upsert: boolean,
): Promise<Worked> {
  const scope = scopeOf(request, reader);
  const drafts = new Drafts(scope);
  const tops = new Set<Draft>();
  const pace = new Pace(request.run);
  const drafting = function* (): Steps<void> {
    for (const values of inputs) tops.add(yield* drafts.add({ type, values }));
  };
  await inSteps(drafting(), () => pace.pause());
  const known = await lookUp(request, reader, drafts.xids, drafts.uids);
  const set = new ChangeSet(scope, reader, known, requestTime(request), request.run);
  const upserts = new Map<Draft, number>();
  const byUid = new Map<number, Draft>();
  for (const draft of tops) {
    const existing = upsert ? existingNode(draft, known) : undefined;
    if (!existing) continue;
    set.keep(draft, existing.uid);
    const first = byUid.get(existing.uid);
    if (first) {
      joinUpserts(first, draft, request.engine.names);
      tops.delete(draft);
      continue;
    }
    byUid.set(existing.uid, draft);
    upserts.set(draft, existing.uid);
  }
  const changeable = await allowed(request, reader, type, 'update', [...upserts.values()]);
  const shown: Draft[] = [];
  const changed = new Set<number>();
  for (const draft of tops) {
    const uid = upserts.get(draft);
    if (uid === undefined) await set.place(draft);
    else if (changeable.has(uid)) {
      await set.upsert(draft, uid);
      await takeNulls(request, reader, set, draft, uid);
      changed.add(uid);
    } else continue;
    shown.push(draft);
  }
  return {
    set,
    outcome: () => ({
      type,
      uids: shown.map((draft) => set.uidOf(draft)),
      numUids: set.created.length + changed.size,
      msg: 'Added',
    }),
  };
}

/** Null for what the node has takes it away, where the peer passes over it; a default stands ready for what its type requires. */
async function takeNulls(
  request: Request,
  reader: GraphReader,
  changes: ChangeSet,
  { input: { type, values } }: Draft,
  uid: number,
): Promise<void> {
  const optional = Object.entries(values).filter(([name]) => !type.field(name)?.type.nonNull);
  const nulls = nullsOf({ type, values: Object.fromEntries(optional) }, 'null in input');
  if (!nulls || request.engine.names.dgraph) return;
  demandSpared(scopeOf(request, reader), nulls);
  await demandMembersSpared(request, reader, nulls, async (through) =>
    through ? reachedFrom(reader, through, [uid]) : [uid],
  );
  await removeFrom(changes, uid, nulls);
}
