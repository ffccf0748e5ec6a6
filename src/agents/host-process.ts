import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { type Clock, compiled, type ErrorCode, GraphsteadError, type Limits } from '../base/index.js';
import type { HostApp, HostLog, HostManifest } from './contract.js';
import type { CallRecord } from '../connections/host.js';
import type {
  CallTask,
  Effects,
  EventEffect,
  FromHost,
  JournalEntry,
  RpcMethod,
  ToHost,
  TurnTask,
  WireFailure,
} from './protocol.js';
import { fromFailure, toFailure } from './wire-failure.js';

/** A request from a task to the service. */
export interface Rpc {
  readonly method: RpcMethod;
  readonly n: number;
  readonly args: readonly unknown[];
}

/** What a task needs while it runs. */
export interface TaskOptions {
  readonly label: Omit<HostLog, 'level' | 'message'>;
  readonly wallMs: number;
  readonly timeoutCode: ErrorCode;
  readonly failureCode: ErrorCode;
  /** results of finished calls, shared by all runs of the task */
  readonly journal: Map<number, JournalEntry>;
  /** calls that were made, answered or not, by place and hash */
  readonly asked: Map<number, Map<string, Promise<CallOutcome>>>;
  readonly signal?: AbortSignal;
  rpc(call: Rpc): Promise<unknown>;
  live?(event: EventEffect): void;
  log?(entry: HostLog): void;
  /** the task called a connection or a model */
  used?(record: CallRecord): void;
}

export interface Turned {
  readonly reply?: string;
  readonly effects: Effects;
}

/** The process died under its tasks; `blamed` is certain, and undefined when it is not known whose fault it was. */
export class HostDied extends Error {
  constructor(
    reason: string,
    readonly blamed: boolean | undefined,
    readonly stuck: boolean,
    /** how much speaks against the task where nothing is certain; at 1 twice, it runs alone */
    readonly suspicion: number,
  ) {
    super(reason);
  }
}

interface Pending {
  readonly options: TaskOptions;
  readonly expiresAt: number;
  readonly detach: () => void;
  /** it may run in another process instead */
  readonly movable: boolean;
  /** its calls that are not answered yet */
  asking: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Handed from one process to the next: ids must differ, since a marker may outlive its task. */
let nextTask = 1;

const PROGRAM = compiled('agents/host/main');

export interface HostProcessOptions {
  readonly app: HostApp;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: (entry: HostLog) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly used?: (record: CallRecord) => void;
}

/** One forked process with one loaded bundle. It never opens the store. */
export class HostProcess {
  /** resolves once the bundle is loaded; rejects with APP_LOAD */
  readonly ready: Promise<HostManifest>;
  readonly #child: ChildProcess;
  readonly #marker: number;
  readonly #pending = new Map<number, Pending>();
  readonly #options: HostProcessOptions;
  readonly #limits: Limits;
  readonly #clock: Clock;
  #outbox: ToHost[] = [];
  #settleReady: { resolve(manifest: HostManifest): void; reject(error: unknown): void };
  #dead: string | undefined;
  #killed: string | undefined;
  #loaded = false;
  /** when the oldest unanswered ping went out, and the thread time used by then */
  #asked: { readonly at: number; readonly cpu: number | undefined; readonly n: number } | undefined;
  #pings = 0;
  #looks = 0;
  readonly exited: Promise<void>;

  constructor(options: HostProcessOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#clock = options.clock;
    const file = join(tmpdir(), `graphstead-marker-${randomUUID()}`);
    this.#marker = openSync(file, 'w+', 0o600);
    unlinkSync(file);
    this.#child = fork(PROGRAM, [], {
      execArgv: [`--max-old-space-size=${this.#limits.hostHeapMb}`, '--enable-source-maps'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', this.#marker],
      serialization: 'advanced',
      cwd: options.app.appDir,
      env: hostEnvironment(options.environment),
    });
    const { promise, resolve, reject } = promiseParts<HostManifest>();
    this.ready = promise;
    this.ready.catch(() => undefined);
    this.#settleReady = { resolve, reject };
    this.exited = new Promise((done) => this.#child.once('exit', () => done()).once('error', () => done()));
    this.#child.on('message', (batch) => this.#receive(batch as readonly FromHost[]));
    this.#child.once('exit', (code, signal) => this.#died(signal ?? `exit code ${code}`));
    this.#child.once('error', (error) => this.#died(error.message));
    this.#forward('stdout', 'info');
    this.#forward('stderr', 'warn');
    this.#tell({
      k: 'load',
      app: { bundle: options.app.bundle, appDir: options.app.appDir, connections: options.app.connections },
      stateBytes: this.#limits.agentStateBytes,
      eventBytes: this.#limits.eventBytes,
    });
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

  /** It has not answered for a while: new work goes elsewhere. */
  get stalled(): boolean {
    return this.#asked !== undefined && this.#clock.monotonic() - this.#asked.at > STALL_MS;
  }

  /** Runs a turn. Throws HostDied, the time-out's code, or what the handler threw. */
  turn(task: TurnTask, options: TaskOptions): Promise<Turned> {
    return this.#run('turn', task, options) as Promise<Turned>;
  }

  call(task: CallTask, options: TaskOptions): Promise<unknown> {
    return this.#run('call', task, options);
  }

  /** Runs a function that streams; items come as they are pulled. */
  async *stream(task: CallTask, options: TaskOptions): AsyncIterable<unknown> {
    const id = nextTask++;
    let finished = false;
    try {
      await this.#start(id, { k: 'call', id, task: { ...task, stream: true } }, { ...options, wallMs: options.wallMs });
      for (;;) {
        const item = (await this.#start(id, { k: 'pull', id }, { ...options, wallMs: NEVER_MS })) as StreamItem;
        if (item.done === true) {
          finished = true;
          return;
        }
        yield item.value;
      }
    } finally {
      if (!finished && !this.dead) this.#tell({ k: 'drop', id, reason: 'the subscriber left' });
    }
  }

  /** Forgets an instance that moved elsewhere. */
  evict(agentId: string): void {
    if (!this.dead) this.#tell({ k: 'evict', agentId });
  }

  kill(reason: string): void {
    if (this.dead) return;
    this.#killed = reason;
    this.#child.kill('SIGKILL');
  }

  /**
   * One look of the watchdog. Only user turns are watched: a host without tasks is never asked. `late` is what the
   * main process itself lost since the last look.
   */
  watch(late: number): void {
    if (this.dead || this.#pending.size === 0) {
      this.#asked = undefined;
      return;
    }
    const now = this.#clock.monotonic();
    for (const [id, pending] of this.#pending) if (now >= pending.expiresAt) this.#expire(id, pending);
    if (!this.#loaded) return;
    if (++this.#looks % MEMORY_LOOKS === 0) this.#watchMemory();
    if (this.#asked === undefined) {
      this.#asked = { at: now, cpu: this.#cpu(), n: ++this.#pings };
      this.#tell({ k: 'ping', n: this.#pings });
      return;
    }
    if (late > 0) this.#asked = { ...this.#asked, at: this.#asked.at + late };
    const silent = now - this.#asked.at;
    if (silent >= this.#limits.turnThreadMs && this.#isStuck(silent)) this.kill('stuck');
    else if (silent > STALL_MS) {
      this.#moveWaiting();
    }
  }

  /**
   * One task is known to hold the thread: those that were sent after it have not begun, and go elsewhere at once. What
   * this process still does for them is dropped.
   */
  #moveWaiting(): void {
    const holder = this.#readMarker();
    if (!this.#pending.has(holder)) return;
    for (const [id, { movable }] of this.#pending) {
      if (id <= holder || !movable) continue;
      this.#tell({ k: 'drop', id, reason: 'it was moved to another process' });
      this.#settle(id)?.reject(new HostDied('its process is busy', false, false, 0));
    }
  }

  /** Silence alone is no proof on a busy machine: it must have used the thread, or be silent for much longer. */
  #isStuck(silent: number): boolean {
    const before = this.#asked?.cpu;
    const now = this.#cpu();
    if (before === undefined || now === undefined) return true;
    return now - before >= this.#limits.turnThreadMs * 0.5 || silent >= this.#limits.turnThreadMs * 2;
  }

  /** Milliseconds of thread time, where the system tells it. */
  #cpu(): number | undefined {
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
    } catch {
      return undefined;
    }
  }

  /** The heap has its own limit; what lies beside it (buffers) is watched here. */
  #watchMemory(): void {
    try {
      const pages = Number(readFileSync(`/proc/${this.#child.pid}/statm`, 'latin1').split(' ')[1]);
      if (pages * 4096 > (this.#limits.hostHeapMb * 2 + 256) * 1024 * 1024) this.kill('out of memory');
    } catch {
      // no /proc on this system: the heap's own limit has to do
    }
  }

  #expire(id: number, pending: Pending): void {
    this.#tell({ k: 'drop', id, reason: 'it took too long' });
    this.#settle(id)?.reject(timedOut(pending.options, `did not end within ${pending.options.wallMs} ms`));
  }

  async #run(kind: 'turn' | 'call', task: TurnTask | CallTask, options: TaskOptions): Promise<unknown> {
    const id = nextTask++;
    const journal = [...options.journal.values()];
    const withJournal = journal.length === 0 ? task : { ...task, journal };
    return this.#start(id, { k: kind, id, task: withJournal } as ToHost, options);
  }

  #start(id: number, message: ToHost, options: TaskOptions): Promise<unknown> {
    if (this.#dead !== undefined) return Promise.reject(new HostDied(this.#dead, undefined, false, 0));
    if (options.signal?.aborted) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#tell({ k: 'drop', id, reason: 'the caller left' });
        this.#settle(id)?.reject(cancelled());
      };
      options.signal?.addEventListener('abort', abort, { once: true });
      const detach = () => options.signal?.removeEventListener('abort', abort);
      const expiresAt = this.#clock.monotonic() + options.wallMs;
      const movable = message.k === 'turn' || (message.k === 'call' && message.task.stream !== true);
      this.#pending.set(id, { options, expiresAt, detach, movable, asking: 0, resolve, reject });
      if (this.#loaded) this.#tell(message);
      else this.ready.then(() => this.#pending.has(id) && this.#tell(message), reject);
    });
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.detach();
    return pending;
  }

  #tell(message: ToHost): void {
    if (this.#outbox.length === 0) setImmediate(() => this.#flush());
    this.#outbox.push(message);
  }

  #flush(): void {
    const batch = this.#outbox;
    this.#outbox = [];
    if (this.dead || !this.#child.connected) return;
    this.#child.send(batch, (error) => {
      if (error !== null) this.kill('its channel is closed');
    });
  }

  #receive(batch: readonly FromHost[]): void {
    if (this.dead) return; // a word from a killed host is dropped
    for (const message of batch) this.#take(message);
  }

  #take(message: FromHost): void {
    switch (message.k) {
      case 'pong':
        if (message.n === this.#asked?.n) this.#asked = undefined;
        return;
      case 'turned':
        this.#settle(message.id)?.resolve({ reply: message.reply, effects: message.effects });
        return;
      case 'called':
        this.#called(message);
        return;
      case 'failed':
        this.#failed(message.id, message.error);
        return;
      case 'rpc':
        void this.#answer(message);
        return;
      case 'note':
        this.#pending.get(message.id)?.options.journal.set(message.entry.n, message.entry);
        return;
      case 'live':
        this.#pending.get(message.id)?.options.live?.(message.event);
        return;
      case 'log':
        this.#log(message.level, message.message, message.id);
        return;
      case 'used':
        this.#options.used?.(message.record);
        if (message.id !== undefined) this.#pending.get(message.id)?.options.used?.(message.record);
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

  #called(message: Extract<FromHost, { k: 'called' }>): void {
    const item = message.done === undefined ? message.value : { value: message.value, done: message.done };
    this.#settle(message.id)?.resolve(item);
  }

  #failed(id: number, failure: WireFailure): void {
    const pending = this.#settle(id);
    pending?.reject(fromFailure(failure, pending.options.failureCode));
  }

  async #answer(message: Extract<FromHost, { k: 'rpc' }>): Promise<void> {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return; // the task was given up
    pending.asking++;
    const outcome = await answerOnce(pending.options, message, () => {
      const what = `${message.method} is not what an earlier run asked at this place (call ${message.n}): it is made anew`;
      this.#log('warn', what, message.id);
    });
    pending.asking--;
    if (!this.dead) this.#tell({ k: 'reply', rpc: message.rpc, ...outcome });
  }

  #log(level: HostLog['level'], message: string, task?: number): void {
    const options = task === undefined ? undefined : this.#pending.get(task)?.options;
    const entry = { level, message, ...options?.label };
    options?.log?.(entry);
    this.#options.log(entry);
  }

  /** What native code or process.stdout writes, line by line. */
  #forward(stream: 'stdout' | 'stderr', level: HostLog['level']): void {
    const input = this.#child[stream];
    if (input === null) return;
    createInterface({ input }).on('line', (line) => this.#log(level, line));
  }

  #died(how: string): void {
    if (this.#dead !== undefined) return;
    const stuck = this.#killed === 'stuck';
    this.#dead = this.#killed ?? how;
    const marked = this.#readMarker();
    closeSync(this.#marker);
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const [id, task] of pending) {
      task.detach();
      const blamed = blame(id, marked, pending, stuck);
      task.reject(new HostDied(this.#dead, blamed, stuck, suspicionOf(id, marked, stuck, task.asking > 0)));
    }
    const cause = new GraphsteadError('APP_LOAD', `the host process ended while it loaded the app: ${this.#dead}`);
    this.#settleReady.reject(cause);
  }

  #readMarker(): number {
    const bytes = Buffer.alloc(8);
    readSync(this.#marker, bytes, 0, 8, 0);
    return bytes.readDoubleLE();
  }
}

interface CallOutcome {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: WireFailure;
}

/** Answers a call; one that changes something is made once for all runs of its task, also when a run died meanwhile. */
async function answerOnce(
  options: TaskOptions,
  { n, hash, method, args }: Extract<FromHost, { k: 'rpc' }>,
  differs: () => void,
): Promise<CallOutcome> {
  const ask = () =>
    options.rpc({ method, n, args }).then(
      (value): CallOutcome => ({ ok: true, value }),
      (error: unknown): CallOutcome => ({ ok: false, error: toFailure(error, 'INTERNAL') }),
    );
  if (hash === '') return ask();
  const here = options.asked.get(n) ?? new Map<string, Promise<CallOutcome>>();
  options.asked.set(n, here);
  if (here.size > 0 && !here.has(hash)) differs();
  const asked = here.get(hash) ?? ask();
  here.set(hash, asked);
  const outcome = await asked;
  options.journal.set(n, { n, hash, ...outcome });
  return outcome;
}

interface StreamItem {
  readonly value?: unknown;
  readonly done?: boolean;
}

const NEVER_MS = 2 ** 40;
/** looks of the watchdog from one look at the memory to the next */
const MEMORY_LOOKS = 20;
/** suspicion that a task may gather before it runs alone */
export const ENOUGH = 2;
const DOUBT = 0.2;
/** silence after which new work goes to another host, milliseconds */
const STALL_MS = 500;
/** /proc counts in hundredths of a second */
const CLOCK_TICK_MS = 10;

/** Likely to be guilty: runs alone at once. Waiting for an answer then: hardly guilty. */
function suspicionOf(id: number, marked: number, stuck: boolean, waiting: boolean): number {
  if (stuck && marked === -id) return ENOUGH;
  return waiting ? DOUBT : 1;
}

/** Certain only where one task's code is known to have held the thread, or no other was there. */
function blame(id: number, marked: number, pending: readonly unknown[], stuck: boolean): boolean | undefined {
  if (!stuck) return undefined;
  if (pending.length === 1) return true;
  const known = marked > 0 && pending.some((entry) => (entry as [number, Pending])[0] === marked);
  return known ? id === marked : undefined;
}

/** The time-out of a task, in the words of its kind. */
export function timedOut(options: TaskOptions, how: string): GraphsteadError {
  const { agentId, operation } = options.label;
  const what = agentId === undefined ? `function ${operation}` : `"${operation}" of agent ${agentId}`;
  return new GraphsteadError(options.timeoutCode, `${what} ${how}`, {
    fix: 'look for a loop without an end; limits.turnThreadMs and limits.turnWallMs bound it',
  });
}

function cancelled(): GraphsteadError {
  return new GraphsteadError('CANCELLED', 'the caller left');
}

/** App code sees the environment without what configures the service itself (keys among it). */
function hostEnvironment(environment: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(
    ([name]) => !name.startsWith('GRAPHSTEAD_') && name !== 'NODE_OPTIONS',
  );
  return Object.fromEntries(kept);
}

function promiseParts<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
