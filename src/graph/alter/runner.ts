import { setImmediate as endOfTurn } from 'node:timers/promises';
import { asError, type GraphsteadError } from '../../base/index.js';
import type { CommitRecord, Committer } from '../../commit/index.js';
import type { IndexProgress } from '../contract.js';
import { scanUids } from '../read/block-scan.js';
import type { SchemaVersion } from '../schema.js';
import type { SchemaCache } from '../schema-store.js';
import { GRAPH, type GraphPart, graphPart } from '../part.js';
import { type Job, JobTable } from './job.js';
import { StepSize } from './step-size.js';
import { type BuildJob, familiesOf, type StepResult } from './step.js';

/** Milliseconds of counting between two pauses. */
const COUNT_MS = 10;
/** Milliseconds after which a job that failed is tried again. */
const RETRY_MS = 5_000;
/** Milliseconds after the last commit of somebody else until it counts as quiet. */
const QUIET_MS = 5_000;

/** Carries stored jobs out, one step a commit, so that other commits land in between. */
export class JobRunner {
  readonly #committer: Committer;
  readonly #schemas: SchemaCache;
  #jobs: readonly Job[] = [];
  /** uids that each build visits, counted when it begins */
  readonly #totals = new Map<number, number>();
  readonly #size = new StepSize();
  /** when somebody else committed last */
  #othersAt = Number.NEGATIVE_INFINITY;
  readonly #unlisten: () => void;
  #running: Promise<void> | undefined;
  #closed = false;
  #failure: GraphsteadError | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(committer: Committer, schemas: SchemaCache) {
    this.#committer = committer;
    this.#schemas = schemas;
    this.#unlisten = committer.onCommit((records) => {
      if (this.#jobs.length > 0 && !records.every(isStep)) this.#othersAt = performance.now();
      // where another process carries them out, this one only tells how far they are
      if (committer.readOnly && records.some(movesJobs)) void this.wake().catch(() => undefined);
    });
  }

  /** What is being built now. */
  progress(schema: SchemaVersion): IndexProgress[] {
    return this.#jobs.flatMap((job) => {
      const predicate = job.kind === 'build' ? schema.predicateById(job.predicate) : undefined;
      if (job.kind !== 'build' || !predicate) return [];
      const kinds = [...job.indexes, ...(job.reverse ? ['reverse'] : []), ...(job.count ? ['count'] : [])];
      const total = this.#totals.get(job.id);
      return [{ predicate: predicate.name, kinds, done: job.done, ...(total === undefined ? {} : { total }) }];
    });
  }

  /** Looks for stored jobs and begins on them. Resolves when the table was read. */
  async wake(): Promise<void> {
    this.#jobs = await this.#read();
    if (this.#jobs.length === 0 || this.#committer.readOnly) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    this.#running.catch(() => undefined);
  }

  /** Resolves when no build is left, of these predicates where they are given; sweeps may go on. Throws what stopped the runner. */
  async built(predicates?: ReadonlySet<number | undefined>): Promise<void> {
    await this.wake();
    const isLeft = () =>
      this.#jobs.some(({ kind, predicate }) => kind === 'build' && (predicates?.has(predicate) ?? true));
    while (this.#running && isLeft()) await this.#stepped();
    if (this.#failure && isLeft()) throw this.#failure;
  }

  #waiting: (() => void)[] = [];

  #stepped(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #tellStepped(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #read(): Promise<readonly Job[]> {
    const snapshot = this.#committer.snapshot();
    try {
      return (await JobTable.read(snapshot)).all;
    } finally {
      snapshot.release();
    }
  }

  async #run(): Promise<void> {
    this.#failure = undefined;
    let last = 0;
    try {
      while (!this.#closed) {
        const job = nextJob(this.#jobs, last);
        if (!job) return;
        await this.#count(job);
        const { done } = await this.#step(job);
        last = job.id;
        if (done) this.#totals.delete(job.id);
        this.#jobs = await this.#read();
        this.#tellStepped();
      }
    } catch (thrown) {
      this.#failure = asError(thrown);
      this.#again();
    } finally {
      queueMicrotask(() => this.#tellStepped());
    }
  }

  /** After a full disk, say, what is left is tried by and by. */
  #again(): void {
    clearTimeout(this.#retry);
    if (!this.#closed) this.#retry = setTimeout(() => void this.wake().catch(() => this.#again()), RETRY_MS).unref();
  }

  async #count(job: Job): Promise<void> {
    if (job.kind !== 'build' || this.#totals.has(job.id)) return;
    let total = 0;
    for (let after: number | undefined = 0; after !== undefined; await endOfTurn()) {
      if (this.#closed) return;
      const slice = await this.#countSome(job, after);
      total += slice.count;
      after = slice.next;
    }
    this.#totals.set(job.id, total);
  }

  /** Counts for a while, on a snapshot of its own: one that were held to the end would have the file grow with every commit. */
  async #countSome(job: BuildJob, after: number): Promise<{ readonly count: number; readonly next?: number }> {
    const snapshot = this.#committer.snapshot();
    const until = performance.now() + COUNT_MS;
    let count = 0;
    try {
      const schema = await this.#schemas.read(snapshot);
      const predicate = schema.predicateById(job.predicate);
      const families = predicate ? familiesOf(job, predicate) : [];
      for await (const uids of scanUids(snapshot, job.predicate, families, after, { keysRead: 0, uidsRead: 0 })) {
        count += uids.length;
        if (performance.now() >= until) return { count, next: uids[uids.length - 1] };
      }
      return { count };
    } finally {
      snapshot.release();
    }
  }

  async #step(job: Job): Promise<StepResult> {
    const begun = performance.now();
    const quiet = begun - this.#othersAt > QUIET_MS;
    const part: GraphPart = { kind: 'step', job: job.id, bytes: this.#size.bytes(quiet) };
    const committed = await this.#committer.commit({
      startTs: 0,
      parts: { [GRAPH]: part },
      conflicts: [],
      reclaim: job.kind === 'sweep',
    });
    if (job.kind === 'build') this.#size.took(performance.now() - begun, quiet);
    return committed.results[GRAPH] as StepResult;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unlisten();
    clearTimeout(this.#retry);
    await this.#running;
  }
}

function isStep(record: CommitRecord): boolean {
  return graphPart(record)?.kind === 'step';
}

function movesJobs(record: CommitRecord): boolean {
  const kind = graphPart(record)?.kind;
  return kind === 'step' || kind === 'alter' || kind === 'bulk';
}

/**
 * Builds go first, for somebody waits, and take turns, so that a short one does not wait for a long one; but not before what
 * they would lose to a sweep was swept.
 */
function nextJob(jobs: readonly Job[], last: number): Job | undefined {
  const builds = jobs.filter((job) => job.kind === 'build');
  const built = new Set(builds.map(({ predicate }) => predicate));
  return (
    jobs.find((job) => job.kind === 'sweep' && built.has(job.predicate)) ??
    builds.find(({ id }) => id > last) ??
    builds[0] ??
    jobs[0]
  );
}
