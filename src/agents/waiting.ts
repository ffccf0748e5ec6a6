import { BACKOFF_MOST_MS, type Job } from './job.js';
import type { MessagePosition } from './part.js';

/** bytes of stored messages that one agent keeps in memory; what lies behind them is read when they are done */
const KEPT_BYTES = 1024 * 1024;
/** the same with those that wait for their next try: behind so many of them, others wait too */
const MOST_BYTES = 16 * KEPT_BYTES;
/** what a message takes beside its own bytes */
const JOB_BYTES = 256;

type StoredJob = Job & { readonly stored: NonNullable<Job['stored']> };

/**
 * What one agent has to do, in order: what is asked of it now, and as much of its mailbox as was read. For each agent that
 * sends to it, first in is first out, wherever its messages wait; callers from outside ("") have no order among themselves.
 */
export class Waiting {
  /** something was added since the last look at the queue */
  fresh = false;
  /** more stored messages than were read lie in the store */
  more = false;
  /** a message landed while the mailbox was being read */
  #missed = false;
  /** position behind which stored messages were not read yet; undefined: none was read */
  #read: MessagePosition | undefined;
  #jobs: Job[] = [];
  #keptBytes = 0;
  /** what agents wait for, behind messages that they left in the mailbox before and that were not read yet */
  #later: Job[] = [];
  /** where the last message of each sender lies that was not read yet; undefined where nobody has looked */
  #unread: Map<string, MessagePosition> | undefined;
  /** senders whose messages were passed over, since one of theirs waits for its next try: they are read again after it */
  readonly #passed = new Set<string>();

  get count(): number {
    return this.#jobs.length + this.#later.length;
  }

  /** Something is to be done, here or in the store. */
  get some(): boolean {
    return this.more || this.count > 0;
  }

  /** stored messages that were read and have not begun */
  get stored(): number {
    return this.#jobs.reduce((sum, job) => sum + (isStored(job) ? 1 : 0), 0);
  }

  /** position behind which the mailbox is to be read on */
  get read(): MessagePosition | undefined {
    return this.#read;
  }

  add(job: Job): void {
    this.fresh = true;
    const behind = job.from !== '' && !isStored(job) && (this.more || this.#passed.has(job.from));
    if (behind) this.#later.push(job);
    else this.#jobs.push(job);
    if (isStored(job)) this.#keptBytes += bytesOf(job);
  }

  /** Ahead of everything that waits. */
  unshift(job: Job): void {
    this.fresh = true;
    this.#jobs.unshift(job);
    if (isStored(job)) this.#keptBytes += bytesOf(job);
  }

  /** A message has landed in the mailbox: it waits there, where others do. */
  missed(from: string, at: MessagePosition): void {
    this.#missed = true;
    this.#unread?.set(from, at);
  }

  /** A message has landed in a mailbox that was read to its end: it waits here, or there where it is too much. */
  landed(job: StoredJob): void {
    const { from, stored } = job;
    if (this.#keptBytes + bytesOf(job) > KEPT_BYTES) {
      this.more = true;
      this.#unread = new Map([[from, stored]]);
    } else if (!this.#passed.has(from)) {
      this.add(job);
      this.#read = stored;
    }
  }

  /** Something landed in the mailbox that is known from there alone. */
  look(): void {
    this.#missed = true;
    this.more = true;
  }

  /** Takes back a job that has not begun. */
  remove(job: Job): void {
    for (const jobs of [this.#jobs, this.#later]) {
      const at = jobs.indexOf(job);
      if (at !== -1) jobs.splice(at, 1);
    }
  }

  /** Everything that waits, taken out. */
  drain(): Job[] {
    this.more = false;
    this.#passed.clear();
    this.#keptBytes = 0;
    return [...this.#jobs.splice(0), ...this.#later.splice(0)];
  }

  /** The mailbox is to be read from its beginning: older messages may lie there than those that were delivered. */
  reread(): void {
    this.more = true;
    this.#read = undefined;
    this.#unread = undefined;
    this.#passed.clear();
    const isAsked = (job: Job): boolean => job.from !== '' && !isStored(job);
    this.#later.unshift(...this.#jobs.filter(isAsked));
    this.#jobs = this.#jobs.filter((job) => !isAsked(job));
  }

  /** Those that were passed over are due: nothing of theirs is left that came before. */
  get isOwing(): boolean {
    if (this.#passed.size === 0) return false;
    const here = new Set(this.#jobs.filter(isStored).map(({ from }) => from));
    return [...this.#passed].some((from) => !here.has(from));
  }

  /** The mailbox is to be read on before anything runs: nothing of it that was read can. What is asked meanwhile waits no page. */
  readsOn(wall: number, starting: boolean): boolean {
    if (!this.more) return false;
    if (this.#read === undefined) return true;
    if (this.#keptBytes > MOST_BYTES || (starting && this.#jobs.some(({ kind }) => kind === 'init'))) return false;
    return typeof this.#find(wall, starting, isStored) !== 'object';
  }

  /** A page of the mailbox was read, behind what `read` was then; `more` where others lie behind it. */
  page(after: MessagePosition | undefined, jobs: readonly StoredJob[], more: boolean, wall: number): void {
    if (after !== this.#read) return; // meanwhile it is to be read from its beginning
    if (after === undefined) {
      // what is read again must not wait twice
      this.#jobs = this.#jobs.filter((job) => !isStored(job));
      this.#keptBytes = 0;
    }
    const held = new Set(this.#jobs.filter((job) => isStored(job) && backsOff(job, wall)).map(({ from }) => from));
    for (const job of jobs) {
      this.#read = job.stored;
      const passes = job.from !== '' && (held.has(job.from) || this.#passed.has(job.from));
      if (passes) this.#passed.add(job.from);
      else this.add(job);
      if (backsOff(job, wall)) held.add(job.from);
    }
    this.more = more || this.#missed;
    this.#missed = false;
    if (!this.more) this.#unread = undefined;
  }

  /** Whether an agent waits, and nobody knows yet what it left in the mailbox before. */
  get asksWho(): boolean {
    return this.more && this.#unread === undefined && this.#later.length > 0;
  }

  /** Begins to gather where the last unread message of each sender lies; `forget` where they could not be read. */
  gather(): { readonly found: (from: string, at: MessagePosition) => void; readonly forget: () => void } {
    const unread = new Map<string, MessagePosition>();
    this.#unread = unread;
    return {
      found: (from, at) => {
        const known = unread.get(from);
        if (known === undefined || isBehind(at, known)) unread.set(from, at);
      },
      forget: () => {
        this.#unread = undefined;
      },
    };
  }

  /** What waited for older messages of its sender may run once those were read. */
  release(): void {
    if (this.#later.length === 0) return;
    const waits = ({ from }: Job): boolean => {
      if (this.#passed.has(from)) return true;
      if (!this.more) return false;
      const last = this.#unread?.get(from);
      if (this.#unread === undefined) return true;
      return last !== undefined && (this.#read === undefined || isBehind(last, this.#read));
    };
    this.#jobs.push(...this.#later.filter((job) => !waits(job)));
    this.#later = this.#later.filter(waits);
  }

  /**
   * The next job that may run, taken out; or the wall time at which one may. Order is kept for each sender: behind a
   * message that backs off, only messages of the same agent wait. An agent that has not begun takes its onInitialize first.
   */
  next(wall: number, starting: boolean): Job | number | undefined {
    const job = this.#find(wall, starting);
    if (typeof job !== 'object') return job;
    if (this.#jobs[0] === job) this.#jobs.shift();
    else this.#jobs.splice(this.#jobs.indexOf(job), 1);
    if (isStored(job)) this.#keptBytes -= bytesOf(job);
    return job;
  }

  #find(wall: number, starting: boolean, wanted?: (job: Job) => boolean): Job | number | undefined {
    let held: Set<string> | undefined;
    let earliest: number | undefined;
    for (const job of this.#jobs) {
      if (starting && job.kind !== 'init' && job.kind !== 'stop') continue;
      if (job.from !== '' && held?.has(job.from)) continue;
      if (backsOff(job, wall)) {
        earliest = Math.min(earliest ?? job.notBefore, job.notBefore);
        held = (held ?? new Set()).add(job.from);
      } else if (wanted === undefined || wanted(job)) return job;
    }
    return earliest;
  }
}

/** Nothing waits longer than a pause may be: a clock that was set back since does not count. */
function backsOff({ notBefore }: Job, wall: number): boolean {
  return notBefore > wall && notBefore <= wall + BACKOFF_MOST_MS;
}

function isStored(job: Job): job is StoredJob {
  return job.stored !== undefined;
}

function bytesOf({ stored }: StoredJob): number {
  return stored.bytes + JOB_BYTES;
}

function isBehind(one: MessagePosition, other: MessagePosition): boolean {
  return one.ts > other.ts || (one.ts === other.ts && one.n > other.n);
}
