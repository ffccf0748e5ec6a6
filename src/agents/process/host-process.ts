import { asError, cancelled, type Clock, GraphsteadError, type Limits, UnderWay } from '../../base/index.js';
import type { CallRecord } from '../../connections/host.js';
import type { HostApp, HostLog } from '../info.js';
import type { CallTask, FromHost, ToHost, TurnTask, WireFailure } from '../protocol.js';
import { fromFailure, StateNotTaken, ThrownByApp, toFailure } from '../wire-failure.js';
import { Child } from './child.js';
import type { HostManifest } from './contract.js';
import { outcomeOf } from './made-calls.js';
import { DEATH_FIX, type HostExit, diedOf, HostDied, type HostTask, unbegun, unended, type Turned } from './task.js';
import { Watchdog } from './watchdog.js';

interface Pending {
  readonly task: HostTask;
  expiresAt: number;
  /** it may run in another process instead */
  readonly movable: boolean;
  /** whoever waits may leave: what was asked is given up then; a stream is told otherwise, as it may tidy up */
  readonly leaving?: 'gives up' | 'is told';
  /** it waits for the end of a stream: an item that was on its way is not its answer */
  readonly ends?: boolean;
  /** its calls that are not answered yet */
  asking: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Asked = Pick<Pending, 'task' | 'movable' | 'leaving' | 'ends'> & {
  /** what the message holds of an app's own values */
  readonly given?: unknown;
  /** milliseconds that it may take; default: those of the task */
  readonly wallMs?: number;
};

/** Handed from one process to the next: ids must differ, since a marker may outlive its task. */
let nextTask = 1;
const NEVER_MS = 2 ** 40;

interface HostProcessOptions {
  /** working directory */
  readonly dir: string;
  /** the data directory, where there is one */
  readonly data?: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: (entry: HostLog) => void;
  /** as it is now; asked at the start and at the load, between which it may be edited */
  readonly environment: () => Readonly<Record<string, string | undefined>>;
  readonly used?: (record: CallRecord) => void;
  /** which tasks another process would answer that this one does not get to */
  readonly mayMove: () => (task: HostTask) => boolean;
}

/** One forked process that gets one bundle to load. It never opens the store. */
export class HostProcess {
  /** resolves once the bundle is loaded; rejects with APP_LOAD */
  readonly ready: Promise<HostManifest>;
  /** absent where the system gave none */
  readonly #child: Child | undefined;
  readonly #watchdog: Watchdog;
  readonly #pending = new UnderWay<Pending>();
  readonly #options: HostProcessOptions;
  #settleReady!: { resolve(manifest: HostManifest): void; reject(error: unknown): void };
  #dead: string | undefined;
  #killed: string | undefined;
  #loaded = false;
  /** streams that have not ended: their code asks and tells between two items, too */
  readonly #streams = new UnderWay<HostTask>();
  /** streams that wait for an item, or for their end, now */
  #pulls = 0;
  #unborn: GraphsteadError | undefined;

  constructor(options: HostProcessOptions) {
    this.#options = options;
    const { limits } = options;
    this.#child = this.#fork(options);
    this.#watchdog = new Watchdog(
      {
        ping: (n) => this.#tell({ k: 'ping', n }),
        threadMs: () => this.#child?.threadMs(),
        residentBytes: () => this.#child?.residentBytes(),
      },
      limits,
    );
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    this.ready.catch(() => undefined);
  }

  /** A process that the system does not give has died before it began. */
  #fork({ dir, data, limits, environment }: HostProcessOptions): Child | undefined {
    try {
      return new Child({
        dir,
        data,
        heapMb: limits.hostHeapMb,
        environment: hostEnvironment(environment()),
        messageBytes: limits.hostMessageBytes,
        receive: (batch) => this.#receive(batch),
        refused: (message, error) => this.#refused(message, error),
        unreadable: (error) => this.#unreadable(error),
        line: (level, text) => this.#log(level, text),
        died: (how, begun) => this.#died(how, begun),
      });
    } catch (error) {
      setImmediate(() => this.#died((error as Error).message, false));
      return undefined;
    }
  }

  /** Once. */
  load({ bundle, appDir, connections, stacks }: HostApp): void {
    const { limits, environment } = this.#options;
    const load = { bundle, appDir, connections, stacks };
    const { agentStateBytes: stateBytes, eventBytes, hostMessageBytes: messageBytes } = limits;
    const { outboundReplyBytes: replyBytes, agentHistory: history } = limits;
    const told = { stateBytes, eventBytes, messageBytes, replyBytes, history };
    this.#tell({ k: 'load', app: load, limits: told, environment: hostEnvironment(environment()) }, load);
    const late = setTimeout(() => this.#late(), limits.hostLoadMs).unref();
    const inTime = () => clearTimeout(late);
    this.ready.then(inTime, inTime);
  }

  #late(): void {
    if (this.dead) return;
    const { hostLoadMs } = this.#options.limits;
    this.#settleReady.reject(this.notLoaded(hostLoadMs));
    this.kill('it did not load in time');
  }

  /** That it has not within so many milliseconds. */
  notLoaded(ms: number): GraphsteadError {
    const fix = 'look for a loop or an await without an end outside of functions; limits.hostLoadMs bounds it';
    return new GraphsteadError('APP_LOAD', `the app did not load within ${ms} ms${this.#loadingWhat()}`, { fix });
  }

  /** Packages are loaded before the first file of the app is. */
  #loadingWhat(): string {
    const file = this.#child?.loading();
    return file === undefined ? '' : `; it was at ${file}, or at what that imports`;
  }

  get exited(): Promise<void> {
    return this.#child?.exited ?? this.ready.then(noop, noop);
  }

  /** Why the system gave no process for it. */
  get unborn(): GraphsteadError | undefined {
    return this.#unborn;
  }

  get dead(): boolean {
    return this.#dead !== undefined || this.#killed !== undefined;
  }

  get loaded(): boolean {
    return this.#loaded && !this.dead;
  }

  /** Tasks that have not ended. */
  get tasks(): number {
    return this.#pending.size;
  }

  /** What is left for a process that has been replaced to do. */
  get left(): { readonly tasks: number; readonly streams: number } {
    return { tasks: this.#pending.size - this.#pulls, streams: this.#streams.size };
  }

  /** It has not answered for a while: new work goes elsewhere. */
  get stalled(): boolean {
    return this.#watchdog.stalled;
  }

  /** The function or the message whose code holds it while it does not answer, where that is known. */
  get holding(): string | undefined {
    if (!this.stalled || this.dead) return undefined;
    const holder = Math.abs(this.#child?.marked().holder ?? 0);
    return this.#pending.get(holder)?.task.label.operation;
  }

  /** Runs a turn. Throws HostDied, the time-out's code, or what the handler threw. */
  turn(turn: TurnTask, task: HostTask): Promise<Turned> {
    const id = nextTask++;
    const journal = task.calls.journal();
    const whole = journal === undefined ? turn : { ...turn, journal };
    const asked = { task, movable: true, leaving: 'gives up', given: journal } as const;
    return this.#start(id, { k: 'turn', id, task: whole }, asked) as Promise<Turned>;
  }

  call(call: CallTask, task: HostTask): Promise<unknown> {
    return this.#call(nextTask++, call, task, true);
  }

  #call(id: number, call: CallTask, task: HostTask, movable: boolean): Promise<unknown> {
    const journal = task.calls.journal();
    const whole = journal === undefined ? call : { ...call, journal };
    const given = [call.args, journal ?? null];
    return this.#start(id, { k: 'call', id, task: whole }, { task, movable, leaving: 'gives up', given });
  }

  /** Runs a function that streams; items come as they are pulled. When its reader leaves, it ends once its code has tidied up. */
  async *stream(call: CallTask, task: HostTask): AsyncIterable<unknown> {
    const id = nextTask++;
    let finished = false;
    this.#streams.set(id, task);
    try {
      await this.#call(id, { ...call, stream: true }, task, false);
      for (;;) {
        const item = await this.#pull(id, task);
        if (item.done === true) {
          finished = true;
          return;
        }
        yield item.value;
      }
    } finally {
      if (!finished && !this.dead) await this.#leave(id, task);
      this.#streams.take(id);
    }
  }

  #pull(id: number, task: HostTask): Promise<StreamItem> {
    return this.#askStream({ k: 'pull', id }, { task, movable: false, leaving: 'is told', wallMs: NEVER_MS });
  }

  /** Nobody hears how that went; what the app threw is in the log. */
  async #leave(id: number, task: HostTask): Promise<void> {
    const wallMs = this.#options.limits.streamEndMs;
    await this.#askStream({ k: 'leave', id }, { task, movable: false, ends: true, wallMs }).catch(noop);
  }

  async #askStream(message: Extract<ToHost, { k: 'pull' | 'leave' }>, asked: Asked): Promise<StreamItem> {
    this.#pulls++;
    try {
      return (await this.#start(message.id, message, asked)) as StreamItem;
    } finally {
      this.#pulls--;
    }
  }

  /** Forgets an instance that moved elsewhere. */
  evict(agentId: string): void {
    if (!this.dead) this.#tell({ k: 'evict', agentId });
  }

  kill(reason: string): void {
    if (this.dead) return;
    this.#killed = reason;
    this.#child?.kill();
  }

  /**
   * One look of the watchdog. Only user turns are watched: a host without tasks is not asked, unless what one left behind holds
   * it. `late` is what the main process itself lost since the last look.
   */
  watch(late: number): void {
    if (this.dead || (this.#pending.size === 0 && !this.stalled)) {
      this.#watchdog.rest();
      return;
    }
    const now = this.#options.clock.monotonic();
    for (const [id, pending] of this.#pending.entries()) {
      const { task, leaving } = pending;
      pending.expiresAt += late;
      if (now >= pending.expiresAt) this.#giveUp(id, 'it took too long', unended(task));
      else if (leaving === undefined || task.signal?.aborted !== true) continue;
      else if (leaving === 'gives up') this.#giveUp(id, 'the caller left', cancelled('the caller left'));
      else this.#pending.take(id)?.reject(cancelled('the caller left'));
    }
    if (!this.#loaded) return;
    const finding = this.#watchdog.look(now, late);
    if (finding === 'stalled' || finding === 'held') this.#moveWaiting(finding === 'held');
    else if (finding !== 'fine') this.kill(finding);
  }

  /**
   * What was sent after the task that holds the thread has not begun, nor has what was sent after the last one that has: it
   * goes elsewhere as soon as another process is free. What this process still does for it is dropped.
   * @param held the thread is in use, by whatever
   */
  #moveWaiting(held: boolean): void {
    const { holder = 0, begun = 0 } = this.#child?.marked() ?? {};
    const last = held ? begun : this.#pending.get(holder) && holder;
    if (!last) return;
    const mayMove = this.#options.mayMove();
    for (const [id, { task, movable }] of this.#pending.entries()) {
      if (id <= last || !movable || !mayMove(task)) continue;
      this.#giveUp(id, 'it was moved to another process', new HostDied('its process is busy', false, false, 0));
    }
  }

  #giveUp(id: number, reason: string, error: Error): void {
    this.#tell({ k: 'drop', id, reason });
    this.#pending.take(id)?.reject(error);
  }

  #start(
    id: number,
    message: ToHost,
    { task, movable, leaving, ends, given, wallMs = task.wallMs }: Asked,
  ): Promise<unknown> {
    if (this.#dead !== undefined) return Promise.reject(new HostDied(this.#dead, undefined, false, 0));
    if (leaving !== undefined && task.signal?.aborted === true) return Promise.reject(cancelled('the caller left'));
    return new Promise((resolve, reject) => {
      const expiresAt = this.#options.clock.monotonic() + wallMs;
      this.#pending.set(id, { task, expiresAt, movable, leaving, ends, asking: 0, resolve, reject });
      if (this.#loaded) this.#tell(message, given);
      else {
        this.ready.then(
          () => this.#pending.get(id) && this.#tell(message, given),
          // it has not begun: it may run where the app loads
          () => this.#pending.take(id)?.reject(new HostDied('the app did not load', undefined, false, 1)),
        );
      }
    });
  }

  #tell(message: ToHost, given?: unknown): void {
    this.#child?.pipe.tell(message, given);
  }

  #receive(batch: readonly FromHost[]): void {
    if (this.dead) return; // a word from a killed host is dropped
    for (const message of batch) this.#take(message);
  }

  #take(message: FromHost): void {
    switch (message.k) {
      case 'pong':
        this.#watchdog.answered(message.n);
        return;
      case 'turned':
        this.#pending.take(message.id)?.resolve(message);
        return;
      case 'called':
        if (message.done !== true && this.#pending.get(message.id)?.ends === true) return;
        this.#pending.take(message.id)?.resolve(message.done === undefined ? message.value : message);
        return;
      case 'failed':
        this.#failed(message.id, message.error);
        return;
      case 'rpc':
        void this.#answer(message);
        return;
      case 'note':
        this.#taskOf(message.id)?.calls.note(message.entry);
        return;
      case 'live':
        this.#taskOf(message.id)?.live?.(message.event);
        return;
      case 'log':
        this.#log(message.level, message.message, message.id);
        return;
      case 'used':
        this.#options.used?.(message.record);
        if (message.id !== undefined) this.#taskOf(message.id)?.used?.(message.record);
        return;
      case 'loaded':
        this.#loaded = true;
        this.#settleReady.resolve({ agentTypes: message.types });
        return;
      case 'refused':
        this.#settleReady.reject(fromFailure(message.error, 'APP_LOAD'));
        return;
    }
  }

  /** Too large for the pipe: whoever waits for it is told. What earlier runs called is not: it is asked for, or called, again. */
  #refused(message: ToHost, error: unknown): ToHost | undefined {
    if (message.k === 'reply') return { k: 'reply', rpc: message.rpc, ok: false, error: toFailure(error, 'INTERNAL') };
    if (message.k === 'load') this.#settleReady.reject(unloadable(error));
    if (message.k !== 'turn' && message.k !== 'call') return undefined;
    const { journal, ...task } = message.task;
    if (journal === undefined) this.#failed(message.id, toFailure(error, 'INTERNAL'));
    else this.#tell({ ...message, task } as ToHost, 'args' in task ? task.args : undefined);
    return undefined;
  }

  #failed(id: number, failure: WireFailure): void {
    const pending = this.#pending.take(id);
    pending?.reject(fromFailure(failure, pending.task.failureCode, failure.notTaken ? StateNotTaken : ThrownByApp));
  }

  async #answer(message: Extract<FromHost, { k: 'rpc' }>): Promise<void> {
    const { rpc, method, n, args } = message;
    const pending = this.#pending.get(message.id);
    const task = this.#taskOf(message.id);
    if (task === undefined) {
      // it was given up; its code must not wait for ever
      this.#tell({ k: 'reply', rpc, ok: false, error: toFailure(cancelled('the caller left')) });
      return;
    }
    if (pending !== undefined) pending.asking++;
    const outcome = message.once
      ? await task.calls.once(
          { method, n, args },
          (call) => task.rpc(call),
          () => this.#differs(message),
        )
      : await outcomeOf(message, (call) => task.rpc(call));
    if (pending !== undefined) pending.asking--;
    this.#tell({ k: 'reply', rpc, ...outcome });
  }

  #unreadable(error: unknown): void {
    this.#log(
      'error',
      `what a process of the app says cannot be read, and it is ended: ${asError(error).message} (${UNREADABLE_FIX})`,
    );
    this.kill('what it said cannot be read');
  }

  #taskOf(id: number): HostTask | undefined {
    return this.#pending.get(id)?.task ?? this.#streams.get(id);
  }

  #differs({ method, n, id }: Extract<FromHost, { k: 'rpc' }>): void {
    this.#log('warn', `${method} is not what an earlier run asked at this place (call ${n}): it is made anew`, id);
  }

  #log(level: HostLog['level'], message: string, id?: number): void {
    const task = id === undefined ? undefined : this.#taskOf(id);
    const entry = { level, message, ...task?.label };
    task?.log?.(entry);
    this.#options.log(entry);
  }

  #died(how: string, begun: boolean): void {
    const reason = this.#killed ?? how;
    this.#dead = reason;
    if (!begun) this.#unborn = noProcess(how);
    if (this.#unborn !== undefined) this.#log('error', this.#unborn.message);
    // what it ran goes on in another: nothing else would tell of one that the system ends again and again
    else if (this.#killed === undefined && this.#loaded) this.#log('warn', `${ENDED}: ${how} (${LOOK_FOR})`);
    const pending = this.#pending.entries();
    const { holder = 0, begun: newest = 0, taking = 0 } = this.#child?.marked() ?? {};
    const hasBegun = (id: number): boolean => this.#loaded && (newest === 0 || id <= newest);
    const tasks = new Set(pending.map(([id]) => id).filter(hasBegun));
    const exit: HostExit = { reason, stuck: this.#killed === 'stuck', marked: holder, taking, tasks };
    this.#pending.clear();
    const of = (id: number, waiting: boolean) => (hasBegun(id) ? diedOf(id, waiting, exit) : unbegun(reason));
    for (const [id, { asking, reject }] of pending) reject(of(id, asking > 0));
    this.#settleReady.reject(this.#unborn ?? unloaded(reason + this.#loadingWhat()));
  }
}

const UNREADABLE_FIX = 'look for code of the app or of a package that changes Array.prototype or Object.prototype';
const ENDED = 'a process of the app has ended, and what it ran goes on in another';
const LOOK_FOR = `${DEATH_FIX}; the system's log tells whether it ended it`;

/** What an app is told at its load: connections, and the environment, which may be large. */
function unloadable(error: unknown): GraphsteadError {
  const message = `what the app is told when it loads is too large: ${asError(error).message}`;
  return new GraphsteadError('APP_LOAD', message, {
    fix: 'raise limits.hostMessageBytes, or make the environment smaller',
  });
}

function unloaded(reason: string): GraphsteadError {
  return new GraphsteadError('APP_LOAD', `the host process ended while it loaded the app: ${reason}`, {
    fix: 'look for process.exit or a crash outside of functions; where something else ended it, send it again',
  });
}

function noop(): void {}

function noProcess(how: string): GraphsteadError {
  return new GraphsteadError('OVERLOADED', `the system gives no process for the app: ${how}`, {
    fix: 'give the service more processes, open files (ulimit -u, ulimit -n) or memory; it goes on by itself',
  });
}

interface StreamItem {
  readonly value?: unknown;
  readonly done?: boolean;
}

/** App code sees the environment without what configures the service itself (keys among it). */
function hostEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !entry[0].startsWith('GRAPHSTEAD_') && entry[0] !== 'NODE_OPTIONS',
    ),
  );
}
