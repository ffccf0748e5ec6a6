import { type ErrorCode, GraphsteadError, type Limits, noTrace, type Trace } from '../../base/index.js';
import type { HostApp, HostLog } from '../info.js';
import type { CallTask, Rpc } from '../protocol.js';
import { closing } from '../refusal.js';
import type { FunctionCall, HostManifest, Hosts, HostsOptions, Staged } from './contract.js';
import type { HostProcess } from './host-process.js';
import { MadeCalls } from './made-calls.js';
import { Placement } from './placement.js';
import { Processes, REPLACED } from './processes.js';
import { DEATH_FIX, ENOUGH, HostDied, held, heldByState, type HostTask } from './task.js';
import { traceOf, tracedTask } from './traced-task.js';

/** Answers what functions ask of the service; turns bring their own. It may throw at once. */
export type CallRpc = (call: FunctionCall, rpc: Rpc) => Promise<unknown>;

/** tasks that may run alone at the same time: they may wait for each other */
const ALONE = 4;

/** Where app code runs: tasks are given to processes, and tried again where those die under them. */
export class HostPool implements Hosts {
  readonly #limits: Limits;
  readonly #trace: Trace;
  readonly #processes: Processes;
  #rpc: CallRpc = async () => {
    throw new GraphsteadError('NOT_READY', 'the service is starting', { fix: 'ask again' });
  };
  #ended: (call: FunctionCall) => void = () => undefined;
  readonly #placement = new Placement();
  #isolated = 0;
  readonly #isolation: (() => void)[] = [];

  constructor(options: HostsOptions) {
    this.#limits = options.limits;
    this.#trace = options.trace ?? noTrace;
    this.#processes = new Processes(options);
  }

  get manifest(): HostManifest | undefined {
    return this.#processes.manifest;
  }

  /** Set by the agents: how calls of functions reach the service, and who is told of each that is over. */
  serve(rpc: CallRpc, ended: (call: FunctionCall) => void): void {
    this.#rpc = rpc;
    this.#ended = ended;
  }

  prepare(appDir: string): void {
    this.#processes.prepare(appDir);
  }

  async load(app: HostApp): Promise<HostManifest> {
    return (await this.stage(app)).take();
  }

  stage(app: HostApp, signal?: AbortSignal): Promise<Staged> {
    return this.#processes.stage(app, signal);
  }

  /**
   * Runs a task to its end. When its process dies, it runs again on another; a task whose code held the thread is
   * given up at once, and one that was present at two deaths runs alone, so that its innocence or guilt shows.
   */
  execute<T>(shard: number, task: HostTask, run: (host: HostProcess) => Promise<T>): Promise<T> {
    const running = this.#tries(shard, task, run, 0);
    return task.ended === undefined ? running : running.finally(() => task.ended?.());
  }

  /** Not async: most tasks find their process, which lives, and each promise more is felt in what one costs. */
  #tries<T>(shard: number, task: HostTask, run: (host: HostProcess) => Promise<T>, suspicion: number): Promise<T> {
    if (suspicion >= ENOUGH) return this.#alone(task, run);
    const again = (error: unknown): Promise<T> => {
      if (!(error instanceof HostDied)) throw error;
      if (this.#processes.closed) throw closing();
      if (error.blamed) throw this.#held(task, error);
      return this.#tries(shard, task, run, suspicion + (error.blamed === undefined ? error.suspicion : 0));
    };
    try {
      const found = this.#processes.alive(shard, task);
      return found instanceof Promise ? found.then((host) => run(host).catch(again)) : run(found).catch(again);
    } catch (refused) {
      return Promise.reject(refused);
    }
  }

  async #alone<T>(task: HostTask, run: (host: HostProcess) => Promise<T>): Promise<T> {
    const leave = await this.#enterQuarantine();
    let host: HostProcess | undefined;
    try {
      host = await this.#processes.apart();
      return await run(host);
    } catch (error) {
      if (!(error instanceof HostDied)) throw error;
      if (error.stuck) throw this.#held(task, error);
      throw new GraphsteadError(task.failureCode, `the host process died under it: ${error.message}`, {
        fix: DEATH_FIX,
      });
    } finally {
      host?.kill('quarantine over');
      leave();
    }
  }

  #held(task: HostTask, { taking }: HostDied): GraphsteadError {
    const told = taking ? heldByState : held;
    return told(task, this.#limits.turnThreadMs);
  }

  async #enterQuarantine(): Promise<() => void> {
    while (this.#isolated >= ALONE) await new Promise<void>((enter) => this.#isolation.push(enter));
    this.#isolated++;
    return () => {
      this.#isolated--;
      this.#isolation.shift()?.();
    };
  }

  call(call: FunctionCall): Promise<unknown> {
    if (!this.#trace.on) return this.#call(call);
    const facts = { 'graphstead.request.id': call.requestId };
    return this.#trace.step(`function ${call.name}`, { facts }, () => this.#call(call));
  }

  #call(call: FunctionCall): Promise<unknown> {
    const task = this.#taskOf(call);
    return this.execute(this.#placeOf(call), task, (host) => host.call(this.#asked(call), task));
  }

  /** Until its first item is there, it runs again where its process dies, as a call does. */
  async *stream(call: FunctionCall): AsyncIterable<unknown> {
    const task = this.#taskOf(call);
    try {
      for (let suspicion = 0; ; ) {
        const host = await this.#processes.loaded(this.#placeOf(call), task);
        try {
          for await (const item of host.stream(this.#asked(call), task)) {
            suspicion = ENOUGH;
            yield item;
          }
          return;
        } catch (error) {
          if (!(error instanceof HostDied)) throw error;
          if (error.blamed) throw this.#held(task, error);
          suspicion += error.suspicion;
          if (suspicion < ENOUGH) continue;
          throw broke(error);
        }
      }
    } finally {
      task.ended?.();
    }
  }

  #placeOf({ args }: FunctionCall): number {
    const { slots } = this.#processes;
    return slots.length === 0 ? 0 : this.#placement.of(args, slots); // where there is none, `alive` says so
  }

  #taskOf(call: FunctionCall): HostTask {
    return tracedTask(
      this.#trace,
      new FunctionTask(call, call.timeoutMs ?? this.#limits.turnWallMs, this.#rpc, this.#ended),
    );
  }

  #asked({ name, args, requestId, claims }: FunctionCall): CallTask {
    return { name, args, requestId, claims, ...traceOf(this.#trace) };
  }

  stats(): Readonly<Record<string, number>> {
    return this.#processes.stats();
  }

  close(): Promise<void> {
    return this.#processes.close();
  }
}

/** A stream that had begun goes on nowhere else. */
function broke({ message }: HostDied): GraphsteadError {
  const fix = 'subscribe again';
  if (message !== REPLACED) return new GraphsteadError('FUNCTION_FAILED', `the stream broke: ${message}`, { fix });
  return new GraphsteadError('APP_RELOADED', 'the stream ended: its app was loaded anew', { fix });
}

/** A call of a function, for all its runs. */
class FunctionTask implements HostTask {
  readonly timeoutCode: ErrorCode = 'FUNCTION_TIMEOUT';
  readonly failureCode: ErrorCode = 'FUNCTION_FAILED';
  readonly calls = new MadeCalls();

  constructor(
    readonly asked: FunctionCall,
    readonly wallMs: number,
    readonly answer: CallRpc,
    readonly over: (call: FunctionCall) => void,
  ) {}

  get label(): HostTask['label'] {
    return { requestId: this.asked.requestId, operation: this.asked.name };
  }

  get signal(): HostTask['signal'] {
    return this.asked.signal;
  }

  rpc(rpc: Rpc): Promise<unknown> {
    return this.answer(this.asked, rpc);
  }

  ended(): void {
    this.over(this.asked);
  }

  log(entry: HostLog): void {
    this.asked.log?.(entry);
  }
}

/** @throws RangeError when `count` is no positive number */
export function createHosts(options: HostsOptions): HostPool {
  return new HostPool(options);
}
