import type { IdempotencyClaim } from '../commit/index.js';
import type { HostProcess } from './process/host-process.js';
import type { Head } from './stored.js';

/** Something an agent has to do: one turn when all goes well. */
export interface Job {
  readonly kind: 'init' | 'message' | 'alarm' | 'stop' | 'suspend';
  /** timestamp.n when stored, alarm.timestamp.id of an alarm, otherwise its own; the same in every try */
  readonly id: string;
  readonly name: string;
  readonly data?: string;
  /** agent id of the sender; "" from outside */
  readonly from: string;
  readonly requestId: string;
  readonly typed?: boolean;
  /** the type, for an agent that begins with this job */
  readonly create?: string;
  readonly stored?: { readonly ts: number; readonly n: number; readonly bytes: number };
  readonly alarm?: { readonly id: string; readonly at: number };
  readonly claim?: Omit<IdempotencyClaim, 'reply'>;
  /** turns whose failure was counted */
  attempts: number;
  /** wall milliseconds */
  notBefore: number;
  begun: boolean;
  /** calls made up to its last checkpoint: they are done, whoever runs it again goes on behind them and knows that it is not the first */
  calls?: number;
  resolve?(reply: string | undefined): void;
  reject?(error: unknown): void;
}

/** An agent that has something to do, or is in memory: what the main process knows of it. */
export class Activation {
  /** last committed head, once read */
  head: Head | undefined;
  /** the process that holds the instance as of the last committed turn */
  host: HostProcess | undefined;
  busy = false;
  /** passing status while a hook runs */
  passing: 'starting' | 'suspending' | 'resuming' | 'stopping' | undefined;
  /** monotonic milliseconds */
  lastUsed = 0;
  wake: NodeJS.Timeout | undefined;
  /** something was pushed since the last look at the queue */
  fresh = false;
  /** more stored messages than were read lie in the store */
  more = false;
  /** a message landed while the mailbox was being read */
  missed = false;
  /** position behind which stored messages were not read yet */
  read: { ts: number; n: number } | undefined;
  #jobs: Job[] = [];

  constructor(readonly id: string) {}

  get waiting(): number {
    return this.#jobs.length;
  }

  /** Something is to be done, here or in the store. */
  get hasWork(): boolean {
    return this.#jobs.length > 0 || this.more;
  }

  push(job: Job): void {
    this.fresh = true;
    this.#jobs.push(job);
  }

  /** Ahead of everything that waits. */
  unshift(job: Job): void {
    this.fresh = true;
    this.#jobs.unshift(job);
  }

  /** Takes back a job that has not begun. */
  remove(job: Job): boolean {
    const at = this.#jobs.indexOf(job);
    if (at === -1) return false;
    this.#jobs.splice(at, 1);
    return true;
  }

  /** Everything that waits, taken out. */
  drain(): Job[] {
    return this.#jobs.splice(0);
  }

  /** stored messages that were read and have not begun */
  get stored(): number {
    return this.#jobs.reduce((sum, job) => sum + (job.stored === undefined ? 0 : 1), 0);
  }

  /** More of the mailbox is to be read before anything of it runs: from its beginning, or behind what was read. */
  get readsOn(): boolean {
    return this.more && (this.read === undefined || this.stored === 0);
  }

  /** The mailbox is to be read from its beginning: older messages may lie there than those that were delivered. */
  reread(): void {
    this.more = true;
    this.read = undefined;
  }

  /** What agents send and wait for comes behind what they left in the mailbox before. */
  sendLater(): void {
    const isSent = (job: Job): boolean => job.from !== '' && job.stored === undefined;
    if (!this.#jobs.some(isSent)) return;
    this.#jobs = [...this.#jobs.filter((job) => !isSent(job)), ...this.#jobs.filter(isSent)];
  }

  /** What is read again must not wait twice. */
  dropStored(): void {
    this.#jobs = this.#jobs.filter((job) => job.stored === undefined);
  }

  /**
   * The next job that may run, taken out; or the wall time at which one may. Order is kept for each sender: behind a
   * message that backs off, only messages of the same agent wait. An agent that has not begun takes its onInitialize first.
   */
  next(wall: number): Job | number | undefined {
    const starting = this.head?.status === 'starting';
    if (!starting && this.#jobs.length > 0 && this.#jobs[0].notBefore <= wall) return this.#jobs.shift();
    const held = new Set<string>();
    let earliest: number | undefined;
    for (let i = 0; i < this.#jobs.length; i++) {
      const job = this.#jobs[i];
      if (starting && job.kind !== 'init' && job.kind !== 'stop') continue;
      if (job.from !== '' && held.has(job.from)) continue;
      if (job.notBefore <= wall) {
        this.#jobs.splice(i, 1);
        return job;
      }
      earliest = Math.min(earliest ?? job.notBefore, job.notBefore);
      held.add(job.from);
    }
    return earliest;
  }
}
