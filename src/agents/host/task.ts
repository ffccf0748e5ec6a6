import { AsyncLocalStorage } from 'node:async_hooks';
import { GraphsteadError, UnderWay } from '../../base/index.js';
import { callHash } from '../call-hash.js';
import type { CallerClaims } from '../info.js';
import type { EventEffect, JournalEntry, Rpc, RpcMethod, WireFailure } from '../protocol.js';
import { fromFailure, toFailure } from '../wire-failure.js';
import { withAppFrames } from './app-failure.js';
import { tell } from './link.js';
import { resumed } from './marker.js';
import type { TurnScope } from './turn-scope.js';

export type Claims = Readonly<Record<string, unknown>>;

interface Answer {
  readonly value?: unknown;
  readonly failure?: WireFailure;
}

interface Waiting {
  readonly task: number;
  resolve(answer: Answer): void;
}

const waiting = new UnderWay<Waiting>();
let nextRpc = 1;
let eventBytes = Number.POSITIVE_INFINITY;

/** @param bytes limits.eventBytes */
export function limitEvents(bytes: number): void {
  eventBytes = bytes;
}

let keepsPlaces = false;

/** Whether calls keep where the app made them. A stack follows what is awaited: behind `return graph.query(...)` it holds no line of the app. */
export function keepPlaces(keep: boolean): void {
  keepsPlaces = keep;
}

/** Calls that change something outside the task's own commit. */
const CHANGING: ReadonlySet<RpcMethod> = new Set(['send', 'sendAsync', 'start', 'stop', 'replay']);

/**
 * Whether a rerun gets the first run's answer. A turn's graph calls belong to its own transaction, which begins anew; those
 * of a function are commits of their own, and its open transactions outlive the process.
 */
function isRemembered(method: RpcMethod, args: readonly unknown[], inTurn: boolean): boolean {
  if (CHANGING.has(method)) return true;
  if (inTurn || !method.startsWith('graph.')) return false;
  return method !== 'graph.query' || args[0] !== 0;
}

type Journal = ReadonlyMap<number, JournalEntry>;
const NO_JOURNAL: Journal = new Map();

/** One running turn or function call: what app code reaches through `graphstead/app` is bound to it. */
export class Task {
  /** reason why it ended; later effects are refused with it */
  ended: string | undefined;
  /** called once, when it ends */
  onEnd: (() => void) | undefined;
  #journal: Journal;
  /** why its signal aborts */
  #over: string | undefined;
  /** made when somebody asks for it: most tasks need none */
  #abort: AbortController | undefined;
  /** the same for the calls to others that are under way */
  #calls: AbortController | undefined;
  #ordinal = 0;
  #transactions = 0;

  constructor(
    readonly id: number,
    readonly requestId: string,
    readonly turn: TurnScope | undefined,
    journal: readonly JournalEntry[] | undefined,
    /** headers that name this task to others */
    readonly traceHeaders: Readonly<Record<string, string>> = {},
    /** of a function, and of a message that a client sends by itself */
    readonly caller?: CallerClaims,
    /** name of the function that it calls */
    readonly called?: string,
  ) {
    this.#journal = journal === undefined ? NO_JOURNAL : new Map(journal.map((entry) => [entry.n, entry]));
  }

  /** aborts when the task is given up, and when its reader leaves */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#over !== undefined) this.#abort.abort(new Error(this.#over));
    }
    return this.#abort.signal;
  }

  /** Ends a call to others that begins now: aborts when the task is given up, and when its reader leaves meanwhile. */
  get callSignal(): AbortSignal {
    this.#calls ??= new AbortController();
    return this.#calls.signal;
  }

  end(reason: string): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    this.#signalOver(reason);
    this.onEnd?.();
  }

  /** Nobody waits for it: what it has under way with others ends too, and it begins nothing more. */
  giveUp(reason: string): void {
    this.end(reason);
    this.#calls ??= new AbortController();
    this.#calls.abort(new Error(reason));
  }

  /** What goes by the signal ends, and what is under way with others; what it does otherwise, from here on, still counts. */
  leave(reason: string): void {
    this.#signalOver(reason);
    this.#calls?.abort(new Error(reason));
    this.#calls = undefined;
  }

  #signalOver(reason: string): void {
    this.#over ??= reason;
    this.#abort?.abort(new Error(reason));
  }

  /** Goes on behind calls of an earlier run that a checkpoint of it has made count. */
  goOn(calls: number): void {
    this.#ordinal = calls;
  }

  /** Place of the next call in the task; equal in a rerun as long as the code asks the same. */
  ordinal(): number {
    return this.#ordinal++;
  }

  /** Number of the next `graph.transaction` of a turn; 0 is no number. */
  nextTransaction(): number {
    return ++this.#transactions;
  }

  assertOpen(what: string): void {
    if (this.ended === undefined) return;
    throw new GraphsteadError('INVALID_REQUEST', `${what} came after its turn or call had ended: ${this.ended}`, {
      fix: 'await every promise before the handler or function returns',
    });
  }

  /** Asks the main process. */
  async call(method: RpcMethod, args: readonly unknown[]): Promise<unknown> {
    this.assertOpen(method);
    const n = this.ordinal();
    const place: { readonly stack?: string } = {};
    if (keepsPlaces) Error.captureStackTrace(place);
    const once = isRemembered(method, args, this.turn !== undefined);
    const known = once ? this.#known(n, method, args) : undefined;
    if (known !== undefined) return replay(known);
    const { value, failure } = await this.#ask({ method, n, args }, once);
    // made here, behind an await, it names those who wait: app code among them
    if (failure !== undefined) throw placed(fromFailure(failure, 'INTERNAL'), place);
    return value;
  }

  #ask({ method, n, args }: Rpc, once: boolean): Promise<Answer> {
    const rpc = nextRpc++;
    return new Promise((resolve) => {
      waiting.set(rpc, { task: this.id, resolve });
      tell({ k: 'rpc', rpc, id: this.id, n, once, method, args }, args);
    });
  }

  /** Runs an outside call (a model, a connection) once for all reruns of this task. */
  async once<T>(kind: string, args: readonly unknown[], work: (key: string) => Promise<T>): Promise<T> {
    this.assertOpen(kind);
    const n = this.ordinal();
    const known = this.#known(n, kind, args);
    if (known !== undefined) return replay(known) as T;
    const hash = callHash(kind, args);
    try {
      const value = await work(`${this.turn?.message?.id ?? this.requestId}.${n}`);
      this.#note({ n, hash, ok: true, value });
      return value;
    } catch (error) {
      this.#note({ n, hash, ok: false, error: toFailure(error) });
      throw error;
    }
  }

  /** An event of this turn; a live one goes out at once. */
  publish(event: EventEffect, live: boolean): void {
    const bytes = Buffer.byteLength(event.name) + Buffer.byteLength(event.data);
    if (bytes > eventBytes) {
      throw new GraphsteadError('LIMIT_EXCEEDED', `event "${event.name.slice(0, 100)}" holds ${bytes} bytes`, {
        fix: `limits.eventBytes is ${eventBytes}: publish less, or store it in the graph and publish its id`,
      });
    }
    if (live) tell({ k: 'live', id: this.id, event });
    else this.turn?.event(event);
  }

  #known(n: number, kind: string, args: readonly unknown[]): JournalEntry | undefined {
    const entry = this.#journal.get(n);
    if (entry === undefined || entry.hash === callHash(kind, args)) return entry;
    // The code asked something else at the same place: from here on nothing of the earlier run fits.
    this.#journal = new Map([...this.#journal].filter(([place]) => place < n));
    return undefined;
  }

  #note(entry: JournalEntry): void {
    tell({ k: 'note', id: this.id, entry }, entry.value);
  }
}

const current = new AsyncLocalStorage<Task>();

/** Runs work as part of a task: everything it awaits stays part of it. */
export function within<T>(task: Task, work: () => T): T {
  return current.run(task, work);
}

export function currentTask(): Task | undefined {
  return current.getStore();
}

/** The task that app code runs in; throws where there is none (module top level, a timer of an ended process). */
export function requireTask(what: string): Task {
  const task = current.getStore();
  if (task === undefined) {
    throw new GraphsteadError('INVALID_REQUEST', `${what} works only inside a function call or an agent's handler`, {
      fix: 'call it from an exported function or from a method of an Agent, not while the module loads',
    });
  }
  return task;
}

/** The main process answered a call. */
export function answered(rpc: number, ok: boolean, value: unknown, failure: WireFailure | undefined): void {
  const waited = waiting.take(rpc);
  if (waited === undefined) return;
  resumed(waited.task);
  waited.resolve(ok ? { value } : { failure: failure ?? { message: 'the call failed' } });
}

function placed(error: GraphsteadError, { stack }: { readonly stack?: string }): GraphsteadError {
  if (stack !== undefined) error.stack = withAppFrames(error.stack ?? '', stack);
  return error;
}

function replay(entry: JournalEntry): unknown {
  if (entry.ok) return entry.value;
  throw fromFailure(entry.error ?? { message: 'the call failed' }, 'INTERNAL');
}
