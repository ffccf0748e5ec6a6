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

/** The stored jobs, as a group changes them. */
export class JobTable {
  readonly #jobs: Map<number, Job>;
  readonly #changed = new Set<number>();
  #nextId: number;

  private constructor(jobs: readonly Job[]) {
    this.#jobs = new Map(jobs.map((job) => [job.id, job]));
    this.#nextId = Math.max(0, ...this.#jobs.keys()) + 1;
  }

  static async read(source: Source): Promise<JobTable> {
    const { values } = await readRange(source, metaRange(META.job));
    return new JobTable(values.map((bytes) => JSON.parse(Buffer.from(bytes).toString()) as Job));
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
