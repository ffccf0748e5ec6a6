import type { GroupState, Key } from '../../commit/index.js';
import type { UidList } from '../contract.js';
import { FAMILY, type Family } from '../key.js';
import type { GroupMerge } from '../merge/group-merge.js';
import { intoList } from '../merge/into-list.js';
import type { PredicateMerge } from '../merge/predicate-merge.js';
import { scanUids } from '../read/block-scan.js';
import { readLists } from '../read/list-reader.js';
import type { PredicateRecord } from '../schema.js';
import type { SchemaDraft } from '../schema-draft.js';
import type { Job, JobTable } from './job.js';
import type { StepPart } from './part.js';

/** Vectors that one step visits, and keys that one step of a sweep takes away. */
const STEP_VECTORS = 50;
const STEP_KEYS = 2_000;
/** Uids that are read at once: their values may be long. */
const SLICE_UIDS = 32;
/** What a visit costs, however short the value, in bytes of a value. */
const UID_BYTES = 32;
/** Sweeps that one step looks at. */
const STEP_SWEEPS = 500;

export type BuildJob = Extract<Job, { kind: 'build' }>;
type SweepJob = Extract<Job, { kind: 'sweep' }>;

/** What a step tells the runner. */
export interface StepResult {
  /** the job is over */
  readonly done: boolean;
}

/** What the steps of one group work on. */
interface Turn {
  readonly jobs: JobTable;
  readonly draft: SchemaDraft;
  readonly merge: GroupMerge;
  readonly state: GroupState;
  /** where sweeps of the group have taken keys away: what it merges of them comes from what was there */
  readonly swept: KeySpan[];
}

/** From `start` up to `end`, which is no part of it. */
export interface KeySpan {
  readonly start: Key;
  readonly end: Key;
}

/** One step of a job inside the writer's turn: it reads again what it works on, so nothing can slip in between. */
export async function applyStep({ job: id, bytes }: StepPart, turn: Turn): Promise<StepResult> {
  const { jobs, draft, merge } = turn;
  const job = jobs.get(id);
  if (!job) return { done: true };
  if (job.kind === 'sweep') return await sweepStep(job, turn);
  const record = draft.predicateById(job.predicate);
  if (!record) {
    jobs.remove(id);
    return { done: true };
  }
  return await buildStep(job, record, bytes, jobs, draft, merge);
}

/** Many small sweeps share one step: a drop of everything leaves one a predicate, and most of them are nearly empty. */
async function sweepStep(first: SweepJob, { jobs, draft, state, swept }: Turn): Promise<StepResult> {
  const others = jobs.all.filter((job): job is SweepJob => job.kind === 'sweep' && job.id !== first.id);
  let left = STEP_KEYS;
  for (const job of [first, ...others.slice(0, STEP_SWEEPS)]) {
    const start = Buffer.from(job.start, 'hex');
    const end = Buffer.from(job.end, 'hex');
    const page = await state.snapshot.range({ start, end, keysOnly: true, limit: left });
    for (const key of page.keys) state.put(key, undefined);
    if (draft.predicateById(job.predicate)) swept.push({ start, end });
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
  bytes: number,
  jobs: JobTable,
  draft: SchemaDraft,
  merge: GroupMerge,
): Promise<StepResult> {
  const { cursor, visited } = await visitSome(job, record, bytes, merge);
  if (visited > 0) {
    jobs.set({ ...job, cursor, done: job.done + visited });
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

/** Visits uids behind the job's cursor until they come to so many bytes. */
async function visitSome(job: BuildJob, record: PredicateRecord, bytes: number, merge: GroupMerge) {
  const work = merge.predicate(record);
  const most = job.indexes.includes('hnsw') ? STEP_VECTORS : Number.POSITIVE_INFINITY;
  const metrics = { keysRead: 0, uidsRead: 0 };
  let { cursor } = job;
  let [visited, read] = [0, 0];
  for await (const page of scanUids(merge.source, record.id, familiesOf(job, record), job.cursor, metrics)) {
    for (let at = 0; at < page.length; at += SLICE_UIDS) {
      const uids = page.subarray(at, Math.min(at + SLICE_UIDS, at + most - visited));
      read += uids.length * UID_BYTES + (await visit(job, uids, work, merge));
      cursor = uids[uids.length - 1];
      visited += uids.length;
      if (visited === most || read >= bytes) return { cursor, visited };
    }
  }
  return { cursor, visited };
}

/** Returns how much was read, in bytes. */
async function visit(job: BuildJob, uids: UidList, work: PredicateMerge, merge: GroupMerge): Promise<number> {
  if (work.record.type !== 'uid') return await rebuildValues(job, uids, work, merge);
  if (!job.reversePass) return await rebuildEdges(job, uids, work, merge);
  for (const uid of uids) work.recount(uid, true);
  return 0;
}

/** Families whose uids a build visits. */
export function familiesOf(job: BuildJob, record: PredicateRecord): Family[] {
  if (record.type === 'uid') return [job.reversePass ? FAMILY.reverse : FAMILY.edge];
  if (record.list) return job.toList ? [FAMILY.value, FAMILY.lang, FAMILY.member] : [FAMILY.member];
  return [FAMILY.value, FAMILY.lang];
}

async function rebuildValues(job: BuildJob, uids: UidList, work: PredicateMerge, merge: GroupMerge): Promise<number> {
  const { record } = work;
  const settling = job.toList || job.convert !== undefined;
  for (const uid of uids) {
    if (record.list) work.member.need(uid);
    if (!record.list || settling) {
      work.value.need(uid);
      work.lang.need(uid);
    }
    if (record.hasFacets && settling) work.valueFacet.need(uid);
  }
  await work.load(merge.source);
  let bytes = 0;
  for (const uid of uids) {
    bytes += work.bytesOf(uid);
    if (settling) intoList(uid, work);
    work.rebuild(uid, job.indexes);
  }
  return bytes;
}

async function rebuildEdges(job: BuildJob, uids: UidList, work: PredicateMerge, merge: GroupMerge): Promise<number> {
  const metrics = { keysRead: 0, uidsRead: 0 };
  if (job.reverse) {
    const rows = await readLists(merge.source, { predicate: work.record.id, family: FAMILY.edge, uids }, metrics);
    rows.forEach((row, i) => {
      for (const object of row) work.reverse.pending(object).add(uids[i]);
    });
  }
  if (job.count) for (const uid of uids) work.recount(uid, false);
  return metrics.uidsRead * Float64Array.BYTES_PER_ELEMENT;
}
