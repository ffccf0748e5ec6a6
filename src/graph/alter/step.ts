import type { GroupState } from '../../commit/index.js';
import type { ScalarType } from '../../values/index.js';
import type { UidList } from '../contract.js';
import { type EntryMap, decodeEntries, encodeEntries } from '../entry-map.js';
import { FAMILY, type Family } from '../key.js';
import { memberEntry, membersOf } from '../member.js';
import type { GroupMerge } from '../merge/group-merge.js';
import type { PredicateMerge } from '../merge/predicate-merge.js';
import { scanUids } from '../read/block-scan.js';
import { readLists } from '../read/list-reader.js';
import { retyped } from '../retype.js';
import type { PredicateRecord } from '../schema.js';
import type { SchemaDraft } from '../schema-draft.js';
import type { Job, JobTable } from './job.js';

/** Uids that one step visits, and keys that one step of a sweep takes away. */
const STEP_UIDS = 1_000;
const STEP_VECTORS = 50;
const STEP_KEYS = 2_000;
/** Sweeps that one step looks at. */
const STEP_SWEEPS = 500;

type BuildJob = Extract<Job, { kind: 'build' }>;
type SweepJob = Extract<Job, { kind: 'sweep' }>;

/** What a step tells the runner. */
export interface StepResult {
  /** the job is over */
  readonly done: boolean;
}

/** One step of a job inside the writer's turn: it reads again what it works on, so nothing can slip in between. */
export async function applyStep(
  id: number,
  jobs: JobTable,
  draft: SchemaDraft,
  merge: GroupMerge,
  state: GroupState,
): Promise<StepResult> {
  const job = jobs.get(id);
  if (!job) return { done: true };
  if (job.kind === 'sweep') return sweepStep(job, jobs, state);
  const record = draft.predicateById(job.predicate);
  if (!record) {
    jobs.remove(id);
    return { done: true };
  }
  return buildStep(job, record, jobs, draft, merge);
}

/** Many small sweeps share one step: a drop of everything leaves one a predicate, and most of them are nearly empty. */
async function sweepStep(first: SweepJob, jobs: JobTable, state: GroupState): Promise<StepResult> {
  const others = jobs.all.filter((job): job is SweepJob => job.kind === 'sweep' && job.id !== first.id);
  let left = STEP_KEYS;
  for (const job of [first, ...others.slice(0, STEP_SWEEPS)]) {
    const start = Buffer.from(job.start, 'hex');
    const end = Buffer.from(job.end, 'hex');
    const page = await state.snapshot.range({ start, end, keysOnly: true, limit: left });
    for (const key of page.keys) state.put(key, undefined);
    if (page.next) return { done: false };
    jobs.remove(job.id);
    left -= page.keys.length;
    if (left <= 0) break;
  }
  return { done: true };
}

async function buildStep(
  job: BuildJob,
  record: PredicateRecord,
  jobs: JobTable,
  draft: SchemaDraft,
  merge: GroupMerge,
): Promise<StepResult> {
  const page = await nextUids(merge, record, familiesOf(job, record), job.cursor);
  const uids = page.slice(0, job.indexes.includes('hnsw') ? STEP_VECTORS : STEP_UIDS);
  if (uids.length > 0) {
    const work = merge.predicate(record);
    if (record.type !== 'uid') await rebuildValues(job, record, uids, work, merge);
    else if (job.reversePass) for (const uid of uids) work.recount(uid, true);
    else await rebuildEdges(job, record, uids, work, merge);
    jobs.set({ ...job, cursor: uids[uids.length - 1], done: job.done + uids.length });
    return { done: false };
  }
  if (record.type === 'uid' && job.count && record.reverse && !job.reversePass) {
    jobs.set({ ...job, cursor: 0, reversePass: true });
    return { done: false };
  }
  const indexes = record.indexes.map((index) => (job.indexes.includes(index.kind) ? { ...index, ready: true } : index));
  draft.update({ ...record, indexes, building: [] });
  jobs.remove(job.id);
  return { done: true };
}

/** Families whose uids a build visits. */
export function familiesOf(job: BuildJob, record: PredicateRecord): Family[] {
  if (record.type === 'uid') return [job.reversePass ? FAMILY.reverse : FAMILY.edge];
  if (record.list) return job.toList ? [FAMILY.value, FAMILY.lang, FAMILY.member] : [FAMILY.member];
  return [FAMILY.value, FAMILY.lang];
}

async function nextUids(
  merge: GroupMerge,
  record: PredicateRecord,
  families: readonly Family[],
  after: number,
): Promise<UidList> {
  const metrics = { keysRead: 0, uidsRead: 0 };
  for await (const uids of scanUids(merge.source, record.id, families, after, metrics)) return uids;
  return new Float64Array(0);
}

async function rebuildValues(
  job: BuildJob,
  record: PredicateRecord,
  uids: UidList,
  work: PredicateMerge,
  merge: GroupMerge,
): Promise<void> {
  for (const uid of uids) {
    if (record.list) work.member.need(uid);
    if (!record.list || job.toList) {
      work.value.need(uid);
      work.lang.need(uid);
    }
  }
  await work.load(merge.source);
  for (const uid of uids) {
    if (job.toList) intoList(uid, work);
    if (job.convert) convertMembers(uid, job.convert, work);
    work.rebuild(uid);
  }
}

/** A single value, and those of its languages, become members of a list. */
function intoList(uid: number, work: PredicateMerge): void {
  const single = work.value.get(uid);
  const langs = work.lang.get(uid);
  if (!single && !langs) return;
  const members: EntryMap = decodeEntries(work.member.get(uid));
  const values = [...(single ? [single] : []), ...decodeEntries(langs).values()];
  for (const value of values) {
    const entry = memberEntry(value);
    members.set(entry.key, entry.value);
  }
  work.member.set(uid, encodeEntries(members));
  if (single) work.value.set(uid, undefined);
  if (langs) work.lang.set(uid, undefined);
}

function convertMembers(uid: number, to: ScalarType, work: PredicateMerge): void {
  const members = work.member.get(uid);
  if (!members) return;
  const converted: EntryMap = new Map();
  for (const value of membersOf(members)) {
    // one that cannot be converted stays; the alter looked for such before it began
    const entry = memberEntry(retyped(value, to) ?? value);
    converted.set(entry.key, entry.value);
  }
  work.member.set(uid, encodeEntries(converted));
}

async function rebuildEdges(
  job: BuildJob,
  record: PredicateRecord,
  uids: UidList,
  work: PredicateMerge,
  merge: GroupMerge,
): Promise<void> {
  if (job.reverse) {
    const metrics = { keysRead: 0, uidsRead: 0 };
    const rows = await readLists(merge.source, { predicate: record.id, family: FAMILY.edge, uids }, metrics);
    rows.forEach((row, i) => {
      for (const object of row) work.reverse.pending(object).add(uids[i]);
    });
  }
  if (job.count) for (const uid of uids) work.recount(uid, false);
}
