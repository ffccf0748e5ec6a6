import { asError, type Clock, type GraphsteadError, Histogram, type Limits, type MaybePromise } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import { Activation, isInMemory } from './activation.js';
import type { AlarmClock } from './alarm-clock.js';
import { isTerminated, isWithoutClass, mailboxFull, terminated } from './refusal.js';
import type { SendOptions } from './contract.js';
import type { EventHub } from './event-hub.js';
import type { AgentStatus } from './info.js';
import {
  alarmJob,
  BACKOFF_MOST_MS,
  deadOps,
  freshJobId,
  isHopeless,
  isRefused,
  jobOf,
  landedJob,
  outOfTime,
  retryOps,
  type Job,
} from './job.js';
import type { AgentPart, HoldOp } from './part.js';
import { type DueAlarm, readAlarm, readMailbox, readNow, readSenders } from './reader.js';
import { STATUS_EVENT } from './own-event.js';
import type { TurnRunner } from './turn/turn-runner.js';
import { failureText, StateNotTaken } from './wire-failure.js';

/** stored messages of one agent read at a time */
const MAILBOX_PAGE = { messages: 64, bytes: 1024 * 1024 };
const BACKOFF_MS = 200;
/** how long a turn waits that the store could not take */
const REFUSED_MS = 5_000;

/** Writes a line about one agent to the log. */
export type AgentLog = (level: 'warn' | 'error', message: string, agentId: string, requestId?: string) => void;

/** What somebody who waits for its end asks of an agent. */
export type Ordered = Pick<Job, 'kind' | 'name' | 'data' | 'typed' | 'client' | 'reads' | 'create' | 'claim'> & {
  readonly from?: string;
};

interface QueuesOptions {
  readonly committer: Pick<Committer, 'commit' | 'snapshot'>;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly hub: EventHub;
  readonly runner: TurnRunner;
  readonly alarms: Pick<AlarmClock, 'done'>;
  readonly log: AgentLog;
}

/** What agents have to do: one job of an agent at a time, tried again or buried where it fails. */
export class Queues {
  readonly activations = new Map<string, Activation>();
  /** agents whose stored messages no loaded app could handle */
  readonly #unready = new Set<string>();
  /** how often an app was loaded, or not */
  #loads = 0;
  running = 0;
  turns = 0;
  failures = 0;
  /** of turns that landed */
  readonly seconds = new Histogram();
  /** no new turns begin */
  paused = false;
  closing = false;
  /** called when the last running turn has ended */
  drained: (() => void) | undefined;

  constructor(readonly options: QueuesOptions) {}

  /** Puts a job into the agent's queue and waits for its end, or for the caller's patience to end. */
  submit(id: string, part: Ordered, options: SendOptions): Promise<string | undefined> {
    const { messageMs, mailboxMessages } = this.options.limits;
    const timeoutMs = options.timeoutMs ?? messageMs;
    const waiting = this.activations.get(id)?.waiting.count ?? 0;
    if (waiting >= mailboxMessages && part.kind !== 'stop') return Promise.reject(mailboxFull(id, waiting));
    return new Promise((resolve, reject) => {
      const job: Job = {
        kind: part.kind,
        id: freshJobId(),
        name: part.name,
        data: part.data,
        from: part.from ?? '',
        requestId: options.requestId ?? '',
        typed: part.typed,
        client: part.client,
        reads: part.reads,
        create: part.create,
        claim: part.claim,
        attempts: 0,
        notBefore: 0,
        begun: false,
        resolve: (reply) => {
          clearTimeout(timer);
          resolve(reply);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const activation = this.activate(id);
      if (job.create !== undefined && job.create.key === undefined) activation.isNew = true;
      const timer = setTimeout(() => {
        activation.waiting.remove(job);
        reject(outOfTime(id, job, timeoutMs));
      }, timeoutMs);
      if (job.kind === 'stop') activation.waiting.unshift(job);
      else activation.waiting.add(job);
      this.kick(activation);
    });
  }

  /** What is known of an agent; it is in `activations` from here on. */
  activate(id: string): Activation {
    let activation = this.activations.get(id);
    if (activation === undefined) {
      activation = new Activation(id);
      this.activations.set(id, activation);
    }
    return activation;
  }

  /** Begins to work off what waits, unless that goes on already. */
  kick(activation: Activation): void {
    if (activation.busy || this.paused) return;
    activation.busy = true;
    this.running++;
    void this.#work(activation);
  }

  #worked(activation: Activation, failed: boolean): void {
    activation.busy = false;
    activation.isNew = false;
    activation.lastUsed = this.options.clock.monotonic();
    this.running--;
    if (this.running === 0) this.drained?.();
    if (activation.waiting.fresh && !this.paused && !failed) this.kick(activation);
    else if (activation.head?.status === 'terminated' || activation.head === undefined) this.forget(activation);
  }

  /** Nothing is to be done, and no process holds it. */
  forget(activation: Activation): void {
    if (!activation.waiting.some && !activation.busy) this.activations.delete(activation.id);
  }

  async #work(activation: Activation): Promise<void> {
    let failed = false;
    try {
      if (activation.wake !== undefined) clearTimeout(activation.wake);
      activation.wake = undefined;
      activation.wakesAt = Number.POSITIVE_INFINITY;
      if (activation.head === undefined && !activation.isNew) await this.#known(activation);
      while (!this.paused) {
        const found = this.#next(activation);
        const next = found instanceof Promise ? await found : found;
        if (next === undefined) return;
        if (typeof next === 'number') {
          this.#wakeAt(activation, next);
          return;
        }
        await this.#perform(activation, next);
      }
    } catch (thrown) {
      // nothing was taken out of the queue: it is the store that could not be read
      failed = true;
      this.options.log('error', `its work could not go on: ${asError(thrown).message}`, activation.id);
      this.#wakeAt(activation, this.options.clock.wall() + BACKOFF_MS);
    } finally {
      this.#worked(activation, failed);
    }
  }

  /** The next job, or when there is one; the mailbox is read as far as that needs. */
  #next(activation: Activation): MaybePromise<Job | number | undefined> {
    const { waiting } = activation;
    const starting = activation.head?.status === 'starting';
    const wall = this.options.clock.wall();
    if (waiting.isOwing) waiting.reread();
    if (waiting.readsOn(wall, starting) || waiting.asksWho) return this.#readNext(activation, wall, starting);
    return nextOf(activation, wall, starting);
  }

  async #readNext(activation: Activation, wall: number, starting: boolean): Promise<Job | number | undefined> {
    const { waiting } = activation;
    while (waiting.readsOn(wall, starting)) await this.#readMailbox(activation, wall);
    if (waiting.asksWho) await this.#lookForSenders(activation);
    return nextOf(activation, wall, starting);
  }

  /** Reads the head of an agent that was not in memory; what waits in its mailbox comes before what was delivered by now. */
  async #known(activation: Activation): Promise<void> {
    const delivered = activation.waiting.stored;
    const head = await this.options.runner.head(activation);
    if (head !== undefined && head.waiting > delivered) activation.waiting.reread();
  }

  #wakeAt(activation: Activation, wall: number): void {
    const wait = Math.min(Math.max(1, wall - this.options.clock.wall()), BACKOFF_MOST_MS);
    activation.wakesAt = wall;
    activation.wake = setTimeout(() => {
      activation.wake = undefined;
      activation.wakesAt = Number.POSITIVE_INFINITY;
      this.kick(activation);
    }, wait);
    activation.wake.unref();
  }

  async #perform(activation: Activation, job: Job): Promise<void> {
    job.begun = true;
    const { alarm } = job;
    const loads = this.#loads;
    const wasIn = isInMemory(activation);
    let again = false;
    try {
      if (alarm !== undefined && !(await this.#stillSet(activation.id, job, alarm))) return;
      this.#passing(activation, job);
      const since = performance.now();
      const reply = await this.options.runner.run(activation, job);
      this.turns++;
      this.seconds.add((performance.now() - since) / 1000);
      job.resolve?.(job.create === undefined ? reply : (reply ?? activation.id));
      if (job.kind === 'stop') this.#refuseAll(activation);
    } catch (error) {
      this.failures++;
      this.#tellStays(activation, wasIn);
      job.reject?.(error);
      const background = job.stored !== undefined || job.alarm !== undefined;
      again = background && (await this.#failed(activation, job, asError(error), loads));
    } finally {
      activation.passing = undefined;
      // a round that has become a message of the mailbox leaves its alarm free
      const holds = again && job.alarm !== undefined;
      if (alarm !== undefined && !holds) this.options.alarms.done(activation.id, alarm.id, alarm.at);
    }
  }

  /** An earlier turn may have moved the alarm or taken it back. */
  async #stillSet(id: string, job: Job, alarm: { readonly id: string; readonly at: number }): Promise<boolean> {
    const set = await readNow(this.options.committer, (snapshot) => readAlarm(snapshot, id, alarm.id));
    job.every = set?.every;
    return set?.at === alarm.at;
  }

  #passing(activation: Activation, job: Job): void {
    const status = job.kind === 'init' ? 'starting' : job.kind === 'stop' ? 'stopping' : undefined;
    if (status === undefined) return;
    activation.passing = status;
    this.#tell(activation.id, status);
  }

  /** A turn that failed has taken its agent out of memory, or what was told when it began is over. */
  #tellStays(activation: Activation, wasIn: boolean): void {
    if (activation.head?.status !== 'active') return;
    const isIn = isInMemory(activation);
    if (isIn !== wasIn || activation.passing !== undefined) this.#tell(activation.id, isIn ? 'running' : 'suspended');
  }

  #tell(id: string, status: AgentStatus): void {
    this.options.hub.live(id, STATUS_EVENT, JSON.stringify({ status }), this.options.clock.wall());
  }

  #refuseAll(activation: Activation): void {
    for (const job of activation.waiting.drain()) {
      job.reject?.(terminated(activation.id));
      if (job.alarm !== undefined) this.options.alarms.done(activation.id, job.alarm.id, job.alarm.at);
    }
  }

  /** A background job failed: it waits for another try (true), or becomes a dead letter. */
  async #failed(activation: Activation, job: Job, error: GraphsteadError, loads: number): Promise<boolean> {
    if (this.closing || isTerminated(error, activation.id)) return false;
    const isUnready = () => this.#isUnready(activation, error, loads);
    if (isUnready()) {
      this.#tellUnready(activation, job, error);
      if (job.alarm !== undefined) return this.#hold(activation, job, job.alarm, isUnready);
      this.#unready.add(activation.id);
      return true;
    }
    const { message } = error;
    if (isRefused(error)) {
      this.options.log('warn', `"${job.name}" waits for the store: ${message}`, activation.id, job.requestId);
      this.#again(activation, job, job.attempts, REFUSED_MS);
      return true;
    }
    const attempts = job.attempts + 1;
    this.options.log(
      'warn',
      `"${job.name}" failed, try ${attempts}: ${failureText(error)}`,
      activation.id,
      job.requestId,
    );
    const last = attempts >= this.#mostAttempts(activation) || isHopeless(activation.id, error, attempts);
    const wait = Math.min(BACKOFF_MS * 2 ** (attempts - 1), BACKOFF_MOST_MS);
    const ops = last
      ? deadOps(activation, job, attempts, message, this.options.clock.wall())
      : retryOps(activation.id, job, attempts, this.options.clock.wall() + wait, message);
    if (!last) this.#again(activation, job, attempts, wait);
    if (ops.length === 0) return !last;
    try {
      await this.options.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
      if (last && job.kind === 'init') activation.head = undefined;
    } catch (thrown) {
      this.options.log(
        'error',
        `the failure of "${job.name}" could not be stored: ${asError(thrown).message}`,
        activation.id,
      );
      // It still lies in its mailbox: the next failure may find its place among the dead letters.
      if (last) this.#again(activation, job, job.attempts, Math.max(wait, REFUSED_MS));
      return true;
    }
    return !last;
  }

  /** The alarm waits in the store for a load that brings its class; true where the store did not take that. */
  async #hold(activation: Activation, job: Job, alarm: HoldOp['alarm'], isUnready: () => boolean): Promise<boolean> {
    const commit = (op: HoldOp['op']) => {
      const ops: readonly HoldOp[] = [{ op, id: activation.id, alarm }];
      return this.options.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
    };
    try {
      await commit('hold');
      // A load that came meanwhile has looked for those that are held before this one was.
      if (!isUnready()) await commit('release');
      return false;
    } catch (thrown) {
      const { message } = asError(thrown);
      this.options.log('error', `"${job.name}" could not be left for its class: ${message}`, activation.id);
      this.#again(activation, job, job.attempts, REFUSED_MS);
      return true;
    }
  }

  #mostAttempts({ head }: Activation): number {
    const { limits, runner } = this.options;
    const type = runner.options.hosts.manifest?.agentTypes.find(({ name }) => name === head?.type);
    return type?.attempts ?? limits.messageAttempts;
  }

  #again(activation: Activation, job: Job, attempts: number, wait: number): void {
    const notBefore = this.options.clock.wall() + wait;
    activation.waiting.unshift({ ...job, attempts, notBefore, begun: false, resolve: undefined, reject: undefined });
  }

  /**
   * No handler ran, since there is no app, none of its classes is the agent's, or that cannot take the agent's state: what is stored
   * waits for another load than those that had been when it was begun. Handlers throw the same codes, for what they met elsewhere:
   * those count as failures.
   */
  #isUnready({ head }: Activation, error: GraphsteadError, loads: number): boolean {
    if (error instanceof StateNotTaken) return loads === this.#loads;
    return isWithoutClass(this.options.runner.options.hosts.manifest, head?.type, error);
  }

  /** Agents without a class are counted behind the load; one that has a class is told of, once for its messages. */
  #tellUnready({ id }: Activation, { name, requestId }: Job, error: GraphsteadError): void {
    if (!(error instanceof StateNotTaken) || this.#unready.has(id)) return;
    const message = `"${name}" waits for code that takes the state of its agent: ${failureText(error)}`;
    this.options.log('warn', message, id, requestId);
  }

  /** An app was loaded, or not: work begins again, that of those too for whom there was none. */
  goOn(): void {
    this.paused = this.closing;
    this.#loads++;
    for (const id of this.#unready) this.activate(id).waiting.reread();
    this.#unready.clear();
    for (const activation of this.activations.values()) if (activation.waiting.some) this.kick(activation);
  }

  async #readMailbox({ id, waiting }: Activation, wall: number): Promise<void> {
    const after = waiting.read;
    const { entries, more } = await readNow(this.options.committer, (snapshot) =>
      readMailbox(snapshot, id, after, MAILBOX_PAGE),
    );
    waiting.page(after, entries.map(jobOf), more, wall);
  }

  async #lookForSenders({ id, waiting }: Activation): Promise<void> {
    const { found, forget } = waiting.gather();
    try {
      await readNow(this.options.committer, (snapshot) => readSenders(snapshot, id, waiting.read, found));
    } catch (thrown) {
      forget();
      throw thrown;
    }
  }

  /** Queues the messages of a commit that has landed. */
  deliver(part: AgentPart, ts: number): void {
    let n = 0;
    for (const op of part.ops) {
      if (op.op !== 'post' && op.op !== 'spawn') continue;
      const at = n++;
      const activation = this.activate(op.op === 'post' ? op.to : op.id);
      const { waiting } = activation;
      // One that has begun stays as it is: it may be in memory, and in a turn.
      if (op.op === 'spawn' && activation.head?.status === 'active') continue;
      if (op.op === 'spawn') {
        // The store tells whether it begins now: a rerun of the turn that began it says so again.
        activation.head = undefined;
        waiting.look();
      } else if (op.begun !== undefined) {
        // its turn goes on; where that fails, it is found in the mailbox
        waiting.reread();
      } else if (waiting.more) waiting.missed(op.from, { ts, n: at });
      else waiting.landed(landedJob(op, ts, at));
      this.kick(activation);
    }
  }

  /** Queues an alarm that is due. */
  ring(alarm: DueAlarm): void {
    const activation = this.activate(alarm.agentId);
    activation.waiting.add(alarmJob(alarm));
    this.kick(activation);
  }
}

/** What an activation does next, by what of its mailbox is in memory. */
function nextOf({ waiting }: Activation, wall: number, starting: boolean): Job | number | undefined {
  waiting.release();
  waiting.fresh = false;
  return waiting.next(wall, starting);
}
