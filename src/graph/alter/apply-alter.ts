import { forEachInSteps, GraphsteadError, inSteps, type Limits, STEP, Yielder } from '../../base/index.js';
import type { GroupState } from '../../commit/index.js';
import type { Key, Snapshot } from '../../store/index.js';
import { countsRange, FAMILY, familyRange, hnswRange, META, metaRange, predicateRange, tokenRange } from '../key.js';
import type { GroupMerge } from '../merge/group-merge.js';
import { PLAIN, type PredicateRecord } from '../schema.js';
import type { SchemaDraft } from '../schema-draft.js';
import { readRange } from '../source.js';
import type { Job, JobTable } from './job.js';
import type { AlterPart, Declaration } from './part.js';

/** What an alter works on inside a group. */
interface Turn {
  readonly draft: SchemaDraft;
  readonly jobs: JobTable;
  readonly state: GroupState;
  readonly merge: GroupMerge;
  readonly limits: Limits;
}

/**
 * Changes the schema inside the group; answers the names of the predicates that changed.
 * Throws INVALID_SCHEMA and INDEX_BUILDING before anything is changed.
 */
export async function applyAlter(part: AlterPart, turn: Turn): Promise<readonly string[]> {
  const { draft } = turn;
  if (part.drop !== 'none') return await dropEverything(part.drop, turn);
  const yielder = new Yielder(turn.limits.yieldMs);
  const plans: (() => void)[] = [];
  for (const declaration of part.declare) {
    plans.push(await planDeclaration(declaration, turn));
    if (plans.length % STEP === 0) await yielder.due();
  }
  await inSteps(
    forEachInSteps(plans, (plan) => plan()),
    () => yielder.due(),
  );
  for (const name of part.dropPredicates) dropPredicate(name, turn);
  for (const type of part.types) draft.setType(type);
  for (const name of part.dropTypes) draft.removeType(name);
  return [...part.declare.map((declaration) => declaration.name), ...part.dropPredicates];
}

async function dropEverything(drop: 'data' | 'all', { draft, jobs, state }: Turn): Promise<readonly string[]> {
  for (const job of jobs.all) if (job.kind === 'build') jobs.remove(job.id);
  const names = draft.names();
  for (const name of names) {
    const record = draft.predicate(name)!;
    sweep(jobs, record.id, predicateRange(record.id));
    const ready = { ...record, indexes: record.indexes.map((index) => ({ ...index, ready: true })) };
    if (drop === 'data' || record.name.startsWith('service.')) draft.renew(ready);
    else draft.removePredicate(name);
  }
  if (drop === 'data') return names;
  for (const name of draft.typeNames()) draft.removeType(name);
  const { keys } = await readRange(state.snapshot, { ...metaRange(META.document), keysOnly: true });
  for (const key of keys) state.put(key, undefined);
  return names;
}

function dropPredicate(name: string, { draft, jobs }: Turn): void {
  const record = draft.predicate(name);
  if (!record) return;
  for (const job of jobs.all) if (job.kind === 'build' && job.predicate === record.id) jobs.remove(job.id);
  sweep(jobs, record.id, predicateRange(record.id));
  draft.removePredicate(name);
}

/** The keys of a range go, step by step. */
export function sweep(jobs: JobTable, predicate: number, range: { start: Key; end: Key }): void {
  const start = Buffer.from(range.start).toString('hex');
  const end = Buffer.from(range.end).toString('hex');
  jobs.add((id) => ({ id, kind: 'sweep', predicate, start, end }));
}

/** Whether anything is stored under the predicate. */
async function isFilled({ id }: PredicateRecord, snapshot: Snapshot): Promise<boolean> {
  const page = await snapshot.range({ ...predicateRange(id), limit: 1, keysOnly: true });
  return page.keys.length > 0;
}

/** Throws INVALID_SCHEMA where what is stored under the predicate refuses the declaration, whatever its values are. */
export async function verifyShape(before: PredicateRecord, after: Declaration, snapshot: Snapshot): Promise<void> {
  checkTypeChange(before, after, await isFilled(before, snapshot));
}

/** Checks one declaration and answers how to carry it out. */
async function planDeclaration(declaration: Declaration, turn: Turn): Promise<() => void> {
  const { draft, jobs } = turn;
  const before = draft.predicate(declaration.name);
  if (!before) {
    return () =>
      draft.create(declaration.name, { ...PLAIN, ...declaration, indexes: withReady(declaration, () => true) });
  }
  const building = jobs.all.some((job) => job.kind === 'build' && job.predicate === before.id);
  if (building) {
    throw new GraphsteadError(
      'INDEX_BUILDING',
      `predicate ${before.name} is still being built from an earlier change`,
      {
        fix: 'Alter it again when the build is done.',
      },
    );
  }
  const filled = turn.merge.touched(before.id) !== undefined || (await isFilled(before, turn.state.snapshot));
  checkTypeChange(before, declaration, filled);
  return () => declare(before, declaration, filled, turn);
}

function checkTypeChange(before: PredicateRecord, after: Declaration, filled: boolean): void {
  if (!filled) return;
  const refuse = (why: string): never => {
    throw new GraphsteadError('INVALID_SCHEMA', why, { fix: `Drop ${before.name} first, or give it another name.` });
  };
  if ((before.type === 'uid') !== (after.type === 'uid')) {
    refuse(`Schema change not allowed from scalar to uid or vice versa while there is data for pred: ${before.name}`);
  }
  if (before.list && !after.list) {
    refuse(`Type can't be changed from list to scalar for attr: [${before.name}] without dropping it first.`);
  }
  if (before.type !== after.type && (before.type === 'password' || after.type === 'password')) {
    refuse(`Schema change not allowed from or to password while there is data for pred: ${before.name}`);
  }
}

function sameOptions(before: PredicateRecord, after: Declaration): boolean {
  const text = (indexes: Declaration['indexes']) =>
    JSON.stringify(indexes.filter((index) => index.kind === 'hnsw').map((index) => index.options));
  return text(before.indexes) === text(after.indexes);
}

function withReady(declaration: Declaration, ready: (kind: string) => boolean): PredicateRecord['indexes'] {
  return declaration.indexes.map(({ kind, options }) => ({ kind, options, ready: ready(kind) }));
}

function declare(before: PredicateRecord, after: Declaration, filled: boolean, { draft, jobs }: Turn): void {
  const retyped = before.type !== after.type;
  const toList = !before.list && after.list && after.type !== 'uid';
  const fresh = (kind: string) =>
    retyped ||
    toList ||
    !before.indexes.some((index) => index.kind === kind && index.ready) ||
    (kind === 'hnsw' && !sameOptions(before, after));
  const newKinds = after.indexes.map((index) => index.kind).filter(fresh);
  const newReverse = after.reverse && !before.reverse;
  const newCount = after.count && (!before.count || toList);
  // keys that an unfinished sweep still takes away would be missed by an index that calls itself ready
  const swept = jobs.all.some((job) => job.kind === 'sweep' && job.predicate === before.id);
  const work = newKinds.length > 0 || newReverse || newCount || retyped || toList;
  const build = work && (filled || swept);
  const mixed = before.retyped || (retyped && filled);
  for (const { kind } of before.indexes) {
    if (!filled) continue;
    const stays = after.indexes.some((index) => index.kind === kind);
    if (kind === 'hnsw' && (!stays || fresh(kind))) sweep(jobs, before.id, hnswRange(before.id));
    else if (!stays) sweep(jobs, before.id, tokenRange(before.id, kind));
  }
  if (before.reverse && !after.reverse && filled) {
    sweep(jobs, before.id, familyRange(before.id, FAMILY.reverse));
    sweep(jobs, before.id, countsRange(before.id, true));
  }
  if (before.count && !after.count && filled) {
    sweep(jobs, before.id, countsRange(before.id, false));
    sweep(jobs, before.id, countsRange(before.id, true));
  }
  const indexes = withReady(after, (kind) => !build || !newKinds.some((fresher) => fresher === kind));
  // members of lists are found by their bytes: lists are converted at once
  const convert = mixed && after.list && after.type !== 'uid' ? { convert: after.type } : {};
  const building: PredicateRecord['building'][number][] = [];
  if (newReverse) building.push('reverse');
  if (newCount) building.push('count');
  if (toList || 'convert' in convert) building.push('list');
  draft.update({ ...before, ...after, indexes, retyped: mixed && !after.list, building: build ? building : [] });
  if (!build) return;
  jobs.add(
    (id): Job => ({
      id,
      kind: 'build',
      predicate: before.id,
      indexes: newKinds,
      reverse: newReverse,
      count: newCount,
      ...convert,
      toList,
      reversePass: false,
      cursor: 0,
      done: 0,
    }),
  );
}
