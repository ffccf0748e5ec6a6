import type { IndexKind, ScalarType } from '../../values/index.js';
import { META, metaKey, metaRange } from '../key.js';
import { type PutKey, readRange, type Source } from '../source.js';

/** Work that goes on after an alter, a step at a time inside the writer's turn; stored with its cursor. */
export type Job =
  | {
      readonly id: number;
      readonly kind: 'build';
      readonly predicate: number;
      readonly indexes: readonly IndexKind[];
      readonly reverse: boolean;
      readonly count: boolean;
      /** members of the list are converted to this type first */
      readonly convert?: ScalarType;
      /** single values become members of a list */
      readonly toList: boolean;
      /** the next block to visit; the reverse family follows the forward one */
      readonly cursor: number;
      /** set while the second pass, over reverse edges, runs */
      readonly reversePass: boolean;
      readonly done: number;
    }
  | {
      readonly id: number;
      readonly kind: 'sweep';
      readonly predicate: number;
      readonly start: string;
      readonly end: string;
    };

async function readJobs(source: Source): Promise<readonly Job[]> {
  const { values } = await readRange(source, metaRange(META.job));
  return values.map((bytes) => JSON.parse(Buffer.from(bytes).toString()) as Job);
}

/** The stored jobs as the one writer knows them, so that no group reads what hardly ever changes. */
export class JobCache {
  #jobs: readonly Job[] | undefined;

  async table(source: Source): Promise<JobTable> {
    this.#jobs ??= await readJobs(source);
    return new JobTable(this.#jobs);
  }

  /** The group of this table is on disk. */
  landed(table: JobTable): void {
    if (table.changed) this.#jobs = table.all;
  }

  /** Nobody knows what a group that failed has left. */
  forget(): void {
    this.#jobs = undefined;
  }
}

/** The stored jobs, as a group changes them. */
export class JobTable {
  readonly #jobs: Map<number, Job>;
  readonly #changed = new Set<number>();
  #nextId: number;

  /** @param jobs as the store has them */
  constructor(jobs: readonly Job[]) {
    this.#jobs = new Map(jobs.map((job) => [job.id, job]));
    this.#nextId = jobs.reduce((most, { id }) => Math.max(most, id), 0) + 1;
  }

  static async read(source: Source): Promise<JobTable> {
    return new JobTable(await readJobs(source));
  }

  get changed(): boolean {
    return this.#changed.size > 0;
  }

  get all(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  get(id: number): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Adds a job; its id is given here. */
  add(make: (id: number) => Job): void {
    const job = make(this.#nextId++);
    this.set(job);
  }

  set(job: Job): void {
    this.#jobs.set(job.id, job);
    this.#changed.add(job.id);
  }

  remove(id: number): void {
    this.#jobs.delete(id);
    this.#changed.add(id);
  }

  write(put: PutKey): void {
    for (const id of this.#changed) {
      const job = this.#jobs.get(id);
      put(metaKey(META.job, id), job && Buffer.from(JSON.stringify(job)));
    }
  }
}
