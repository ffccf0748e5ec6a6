import { asError, type Clock, GraphsteadError, type Limits, UnderWay } from '../../base/index.js';
import type { CallRecord } from '../../connections/host.js';
import type { HostApp, HostLog } from '../info.js';
import type { CallTask, FromHost, ToHost, TurnTask, WireFailure } from '../protocol.js';
import { fromFailure, ThrownByApp, toFailure } from '../wire-failure.js';
import { Child } from './child.js';
import type { HostManifest } from './contract.js';
import { outcomeOf } from './made-calls.js';
import { cancelled, type Death, deathOf, HostDied, type HostTask, timedOut, unbegun, type Turned } from './task.js';
import { Watchdog } from './watchdog.js';

interface Pending {
  readonly task: HostTask;
  expiresAt: number;
  /** it may run in another process instead */
  readonly movable: boolean;
  /** its calls that are not answered yet */
  asking: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

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
  /** streams whose readers have not left, and those that wait for an item now */
  #streams = 0;
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
        line: (level, text) => this.#log(level, text),
        died: (how, begun) => this.#died(how, begun),
      });
    } catch (error) {
      setImmediate(() => this.#died((error as Error).message, false));
      return undefined;
    }
  }

  /** Once. */
  load({ bundle, appDir, connections }: HostApp): void {
    const { limits, environment } = this.#options;
    const load = { bundle, appDir, connections };
    const { agentStateBytes: stateBytes, eventBytes, hostMessageBytes: messageBytes } = limits;
    const told = { stateBytes, eventBytes, messageBytes, replyBytes: limits.outboundReplyBytes };
    this.#tell({ k: 'load', app: load, limits: told, environment: hostEnvironment(environment()) }, load);
    const late = setTimeout(() => this.#late(), limits.hostLoadMs).unref();
    const inTime = () => clearTimeout(late);
    this.ready.then(inTime, inTime);
  }

  #late(): void {
    const { hostLoadMs } = this.#options.limits;
    const fix = 'look for a loop or an await without an end outside of functions; limits.hostLoadMs bounds it';
    this.#settleReady.reject(new GraphsteadError('APP_LOAD', `the app did not load within ${hostLoadMs} ms`, { fix }));
    this.kill('it did not load in time');
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
    return { tasks: this.#pending.size - this.#pulls, streams: this.#streams };
  }

  /** It has not answered for a while: new work goes elsewhere. */
  get stalled(): boolean {
    return this.#watchdog.stalled;
  }

  /** Runs a turn. Throws HostDied, the time-out's code, or what the handler threw. */
  turn(turn: TurnTask, task: HostTask): Promise<Turned> {
    const id = nextTask++;
    const journal = task.calls.journal();
    const whole = journal === undefined ? turn : { ...turn, journal };
    return this.#start(id, { k: 'turn', id, task: whole }, task, true, journal) as Promise<Turned>;
  }

  call(call: CallTask, task: HostTask): Promise<unknown> {
    return this.#call(nextTask++, call, task, true);
  }

  #call(id: number, call: CallTask, task: HostTask, movable: boolean): Promise<unknown> {
    const journal = task.calls.journal();
    const whole = journal === undefined ? call : { ...call, journal };
    return this.#start(id, { k: 'call', id, task: whole }, task, movable, [call.args, journal ?? null]);
  }

  /** Runs a function that streams; items come as they are pulled. */
  async *stream(call: CallTask, task: HostTask): AsyncIterable<unknown> {
    const id = nextTask++;
    let finished = false;
    this.#streams++;
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
      this.#streams--;
      if (!finished && !this.dead) this.#tell({ k: 'drop', id, reason: 'the subscriber left' });
    }
  }

  async #pull(id: number, task: HostTask): Promise<StreamItem> {
    this.#pulls++;
    try {
      return (await this.#start(id, { k: 'pull', id }, task, false, undefined, NEVER_MS)) as StreamItem;
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
   * One look of the watchdog. Only user turns are watched: a host without tasks is never asked. `late` is what the
   * main process itself lost since the last look.
   */
  watch(late: number): void {
    if (this.dead || this.#pending.size === 0) {
      this.#watchdog.rest();
      return;
    }
    const now = this.#options.clock.monotonic();
    for (const [id, pending] of this.#pending.entries()) {
      const { task } = pending;
      pending.expiresAt += late;
      if (now >= pending.expiresAt)
        this.#giveUp(id, 'it took too long', timedOut(task, `did not end within ${task.wallMs} ms`));
      else if (task.signal?.aborted === true) this.#giveUp(id, 'the caller left', cancelled());
    }
    if (!this.#loaded) return;
    const finding = this.#watchdog.look(now, late);
    if (finding === 'stalled') this.#moveWaiting();
    else if (finding !== 'fine') this.kill(finding);
  }

  /**
   * One task is known to hold the thread: those that were sent after it have not begun, and go elsewhere at once. What
   * this process still does for them is dropped.
   */
  #moveWaiting(): void {
    const holder = this.#child?.marked();
    if (holder === undefined || this.#pending.get(holder) === undefined) return;
    for (const [id, { movable }] of this.#pending.entries()) {
      if (id <= holder || !movable) continue;
      this.#giveUp(id, 'it was moved to another process', new HostDied('its process is busy', false, false, 0));
    }
  }

  #giveUp(id: number, reason: string, error: Error): void {
    this.#tell({ k: 'drop', id, reason });
    this.#pending.take(id)?.reject(error);
  }

  /** `given` is what the message holds of an app's own values. */
  #start(
    id: number,
    message: ToHost,
    task: HostTask,
    movable: boolean,
    given: unknown,
    wallMs = task.wallMs,
  ): Promise<unknown> {
    if (this.#dead !== undefined) return Promise.reject(new HostDied(this.#dead, undefined, false, 0));
    if (task.signal?.aborted === true) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      const expiresAt = this.#options.clock.monotonic() + wallMs;
      this.#pending.set(id, { task, expiresAt, movable, asking: 0, resolve, reject });
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
        this.#pending.take(message.id)?.resolve(message.done === undefined ? message.value : message);
        return;
      case 'failed':
        this.#failed(message.id, message.error);
        return;
      case 'rpc':
        void this.#answer(message);
        return;
      case 'note':
        this.#pending.get(message.id)?.task.calls.note(message.entry);
        return;
      case 'live':
        this.#pending.get(message.id)?.task.live?.(message.event);
        return;
      case 'log':
        this.#log(message.level, message.message, message.id);
        return;
      case 'used':
        this.#options.used?.(message.record);
        if (message.id !== undefined) this.#pending.get(message.id)?.task.used?.(message.record);
        return;
      case 'loaded':
        this.#loaded = true;
        this.#settleReady.resolve({ agentTypes: message.types, functions: message.functions });
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
    pending?.reject(fromFailure(failure, pending.task.failureCode, ThrownByApp));
  }

  async #answer(message: Extract<FromHost, { k: 'rpc' }>): Promise<void> {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return; // the task was given up
    const { task } = pending;
    const { rpc, method, n, args } = message;
    pending.asking++;
    const outcome = message.once
      ? await task.calls.once(
          { method, n, args },
          (call) => task.rpc(call),
          () => this.#differs(message),
        )
      : await outcomeOf(message, (call) => task.rpc(call));
    pending.asking--;
    this.#tell({ k: 'reply', rpc, ...outcome });
  }

  #differs({ method, n, id }: Extract<FromHost, { k: 'rpc' }>): void {
    this.#log('warn', `${method} is not what an earlier run asked at this place (call ${n}): it is made anew`, id);
  }

  #log(level: HostLog['level'], message: string, id?: number): void {
    const task = id === undefined ? undefined : this.#pending.get(id)?.task;
    const entry = { level, message, ...task?.label };
    task?.log?.(entry);
    this.#options.log(entry);
  }

  #died(how: string, begun: boolean): void {
    const reason = this.#killed ?? how;
    this.#dead = reason;
    if (!begun) this.#unborn = noProcess(how);
    if (this.#unborn !== undefined) this.#log('error', this.#unborn.message);
    const pending = this.#pending.entries();
    const tasks = new Set(pending.map(([id]) => id));
    const death: Death = { reason, stuck: this.#killed === 'stuck', marked: this.#child?.marked() ?? 0, tasks };
    this.#pending.clear();
    const of = (id: number, waiting: boolean) => (this.#loaded ? deathOf(id, waiting, death) : unbegun(reason));
    for (const [id, { asking, reject }] of pending) reject(of(id, asking > 0));
    this.#settleReady.reject(this.#unborn ?? unloaded(reason));
  }
}

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
