import { availableParallelism } from 'node:os';
import {
  type Clock,
  type ErrorCode,
  GraphsteadError,
  type Limits,
  type MaybePromise,
  noTrace,
  systemClock,
  type Trace,
} from '../../base/index.js';
import type { HostApp, HostLog } from '../info.js';
import type { CallTask, Rpc } from '../protocol.js';
import { closing } from '../refusal.js';
import type { FunctionCall, HostManifest, Hosts, HostsOptions, Staged } from './contract.js';
import { HostProcess } from './host-process.js';
import { MadeCalls } from './made-calls.js';
import { Placement } from './placement.js';
import { ENOUGH, HostDied, type HostTask, timedOut } from './task.js';
import { traceOf, tracedTask } from './traced-task.js';

/** Answers what functions ask of the service; turns bring their own. It may throw at once. */
export type CallRpc = (call: FunctionCall, rpc: Rpc) => Promise<unknown>;

interface Generation {
  readonly app: HostApp;
  readonly manifest: HostManifest;
  readonly slots: HostProcess[];
  spare: HostProcess | undefined;
}

const WATCH_MS = 50;
/** processes made within so many milliseconds for others that died, before the next has to wait */
const DEATHS = 10;
const DEATHS_WITHIN_MS = 5_000;
const RESPAWN_MS = 1_000;
/** what a load is followed by comes first */
const PREFORK_MS = 250;
/** why a process of an app as it was before ends */
const REPLACED = 'replaced';
/** tasks that may run alone at the same time: they may wait for each other */
const ALONE = 4;

/** Where app code runs: a process a core, one more in reserve, and a watchdog over all of them. */
export class HostPool implements Hosts {
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #count: number;
  readonly #options: HostsOptions;
  readonly #trace: Trace;
  readonly #log: (entry: HostLog) => void;
  readonly #all = new Set<HostProcess>();
  /** started before an app is there for them to load */
  readonly #blank = new Set<HostProcess>();
  #generation: Generation | undefined;
  #rpc: CallRpc = async () => {
    throw new GraphsteadError('NOT_READY', 'the service is starting');
  };
  #ended: (call: FunctionCall) => void = () => undefined;
  #watch: NodeJS.Timeout;
  #lastWatch: number;
  readonly #placement = new Placement();
  #kills = 0;
  #deaths: number[] = [];
  /** settles once the place of a dead process is taken */
  readonly #successions = new WeakMap<HostProcess, Promise<void>>();
  #isolated = 0;
  readonly #isolation: (() => void)[] = [];
  #closed = false;

  constructor(options: HostsOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#trace = options.trace ?? noTrace;
    this.#clock = options.clock ?? systemClock;
    this.#count = options.count ?? Math.max(1, availableParallelism());
    this.#log = options.log ?? (() => undefined);
    this.#lastWatch = this.#clock.monotonic();
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
    this.#watch.unref();
  }

  get manifest(): HostManifest | undefined {
    return this.#generation?.manifest;
  }

  /** Set by the agents: how calls of functions reach the service, and who is told of each that is over. */
  serve(rpc: CallRpc, ended: (call: FunctionCall) => void): void {
    this.#rpc = rpc;
    this.#ended = ended;
  }

  prepare(appDir: string): void {
    this.#fork(appDir, this.#count);
  }

  async load(app: HostApp): Promise<HostManifest> {
    return (await this.stage(app)).take();
  }

  async stage(app: HostApp, signal?: AbortSignal): Promise<Staged> {
    this.#assertOpen();
    if (signal?.aborted) throw new GraphsteadError('APP_LOAD', 'the app was not loaded: the load was called off');
    const slots = Array.from({ length: this.#count }, () => this.#spawn(app));
    const drop = (): void => {
      for (const host of slots) host.kill('the app did not load');
    };
    signal?.addEventListener('abort', drop, { once: true });
    try {
      const [manifest] = await Promise.all(slots.map((host) => host.ready));
      return { take: () => this.#take({ app, manifest, slots, spare: undefined }), drop };
    } catch (error) {
      drop();
      throw error;
    } finally {
      signal?.removeEventListener('abort', drop);
    }
  }

  #take(next: Generation): HostManifest {
    this.#assertOpen();
    const before = this.#generation;
    this.#generation = next;
    for (const host of next.slots) this.#replaceWhenDead(host);
    if (before !== undefined) for (const host of [...before.slots, before.spare]) this.#retire(host);
    this.#refill(next);
    const { appDir } = next.app;
    if (this.#options.prefork === true) setTimeout(() => this.#fork(appDir, this.#count + 1), PREFORK_MS).unref();
    return next.manifest;
  }

  /** The process for a shard. Not the same one for ever: residency has to be checked by identity. */
  pick(shard: number): HostProcess {
    const generation = this.#current();
    const { slots } = generation;
    const first = slots[shard % slots.length];
    if (first.loaded && !first.stalled) return first;
    const other = [...slots, generation.spare].find((host) => host?.loaded && !host.stalled);
    return other ?? first;
  }

  /**
   * Runs a task to its end. When its process dies, it runs again on another; a task whose code held the thread is
   * given up at once, and one that was present at two deaths runs alone, so that its innocence or guilt shows.
   */
  async execute<T>(shard: number, task: HostTask, run: (host: HostProcess) => Promise<T>): Promise<T> {
    try {
      for (let suspicion = 0; ; ) {
        if (suspicion >= ENOUGH) return await this.#alone(task, run);
        const picked = this.pick(shard);
        const host = picked.dead ? await this.#successor(shard, picked) : picked;
        try {
          return await run(host);
        } catch (error) {
          if (!(error instanceof HostDied) || this.#closed) throw error instanceof HostDied ? closing() : error;
          if (error.blamed) throw this.#held(task);
          if (error.blamed === undefined) suspicion += error.suspicion;
        }
      }
    } finally {
      task.ended?.();
    }
  }

  /** The process that takes a dead one's place. Throws OVERLOADED where the system gives none for now. */
  async #successor(shard: number, dead: HostProcess): Promise<HostProcess> {
    for (let host = dead; ; ) {
      await this.#successions.get(host);
      host = this.pick(shard);
      if (host.unborn !== undefined) throw host.unborn;
      if (!host.dead) return host;
    }
  }

  async #alone<T>(task: HostTask, run: (host: HostProcess) => Promise<T>): Promise<T> {
    const leave = await this.#enterQuarantine();
    let host: HostProcess | undefined;
    try {
      host = await this.#apart();
      return await run(host);
    } catch (error) {
      if (!(error instanceof HostDied)) throw error;
      if (error.stuck) throw this.#held(task);
      throw new GraphsteadError(task.failureCode, `the host process died under it: ${error.message}`, {
        fix: 'look for process.exit, too much memory (limits.hostHeapMb), or a native module that crashes',
      });
    } finally {
      host?.kill('quarantine over');
      leave();
    }
  }

  /** A process for nobody else. */
  #apart(): Promise<HostProcess> {
    return this.#loaded(() => this.#spawn(this.#current().app));
  }

  #held(task: HostTask): GraphsteadError {
    return timedOut(task, `held the thread for ${this.#limits.turnThreadMs} ms`);
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
        const host = await this.#ready(this.#placeOf(call));
        try {
          for await (const item of host.stream(this.#asked(call), task)) {
            suspicion = ENOUGH;
            yield item;
          }
          return;
        } catch (error) {
          if (!(error instanceof HostDied)) throw error;
          if (error.blamed) throw this.#held(task);
          suspicion += error.suspicion;
          if (suspicion < ENOUGH) continue;
          throw broke(error);
        }
      }
    } finally {
      task.ended?.();
    }
  }

  #ready(shard: number): Promise<HostProcess> {
    return this.#loaded(() => {
      const picked = this.pick(shard);
      return picked.dead ? this.#successor(shard, picked) : picked;
    });
  }

  /** A process that has loaded the app. Throws what one after another could not be loaded for. */
  async #loaded(next: () => MaybePromise<HostProcess>): Promise<HostProcess> {
    for (let tries = 1; ; tries++) {
      const host = await next();
      try {
        await host.ready;
        if (!host.dead) return host;
      } catch (error) {
        if (tries >= ENOUGH) throw error;
      }
    }
  }

  #placeOf({ args }: FunctionCall): number {
    const slots = this.#generation?.slots;
    return slots === undefined ? 0 : this.#placement.of(args, slots); // where there is none, `pick` says so
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
    const hosts = [...this.#all];
    return {
      hosts: hosts.length,
      host_tasks: hosts.reduce((sum, host) => sum + host.tasks, 0),
      host_kills: this.#kills,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    const all = [...this.#all];
    for (const host of all) host.kill('the service is closing');
    await Promise.all(all.map((host) => host.exited));
  }

  #current(): Generation {
    this.#assertOpen();
    if (this.#generation === undefined) throw new GraphsteadError('NOT_READY', 'no app is loaded');
    return this.#generation;
  }

  #assertOpen(): void {
    if (this.#closed) throw closing();
  }

  #spawn(app: HostApp): HostProcess {
    const [host = this.#start(app.appDir)] = this.#blank;
    this.#blank.delete(host);
    host.load(app);
    // one that did not load is of no use to anybody
    host.ready.catch(() => host.kill('the app did not load'));
    return host;
  }

  /** To start a process takes longer than all else that a reload does. */
  #fork(dir: string, wanted: number): void {
    if (this.#closed) return;
    for (let missing = wanted - this.#blank.size; missing > 0; missing--) {
      const host = this.#start(dir);
      this.#blank.add(host);
      void host.exited.then(() => this.#blank.delete(host));
    }
  }

  #start(dir: string): HostProcess {
    const host = new HostProcess({
      dir,
      data: this.#options.data,
      limits: this.#limits,
      clock: this.#clock,
      log: this.#log,
      environment: this.#options.environment ?? (() => process.env),
      used: this.#options.onCall,
    });
    this.#all.add(host);
    void host.exited.then(() => this.#all.delete(host));
    return host;
  }

  #replaceWhenDead(host: HostProcess): void {
    this.#successions.set(host, this.#succeed(host));
  }

  /** The spare takes a dead process's place at once, and another becomes the spare. */
  async #succeed(host: HostProcess): Promise<void> {
    await host.exited;
    const loaded = await host.ready.then(
      () => true,
      () => false,
    );
    const wait = loaded || this.#closed ? 0 : host.unborn === undefined ? this.#pause() : RESPAWN_MS;
    if (wait > 0) await new Promise<void>((over) => setTimeout(over, wait).unref());
    const generation = this.#generation;
    const slot = generation?.slots.indexOf(host) ?? -1;
    if (generation === undefined || slot === -1 || this.#closed) return;
    this.#kills++;
    const next = generation.spare?.dead === false ? generation.spare : this.#spawn(generation.app);
    generation.spare = undefined;
    generation.slots[slot] = next;
    this.#replaceWhenDead(next);
    this.#refill(generation);
  }

  #refill(generation: Generation): void {
    if (this.#closed || this.#generation !== generation || generation.spare?.dead === false) return;
    const wait = this.#pause();
    if (wait > 0) {
      setTimeout(() => this.#refill(generation), wait).unref();
      return;
    }
    const spare = this.#spawn(generation.app);
    generation.spare = spare;
    void spare.exited.then(() => {
      if (generation.spare === spare) generation.spare = undefined;
      if (spare.unborn !== undefined) setTimeout(() => this.#refill(generation), RESPAWN_MS).unref();
    });
  }

  /**
   * Milliseconds until another may be made: processes that die by themselves must not be followed by others as fast as they
   * can be forked.
   */
  #pause(): number {
    const now = this.#clock.monotonic();
    this.#deaths = [...this.#deaths.filter((at) => at > now - DEATHS_WITHIN_MS), now];
    if (this.#deaths.length <= DEATHS) return 0;
    this.#deaths = [];
    return RESPAWN_MS;
  }

  /** An old process ends when its last task has; streams, which may never end or have slow readers, get so much time. */
  #retire(host: HostProcess | undefined): void {
    if (host === undefined) return;
    const until = this.#clock.monotonic() + this.#limits.shutdownMs;
    const check = setInterval(() => {
      const { tasks, streams } = host.left;
      const isNeeded = tasks > 0 || (streams > 0 && this.#clock.monotonic() < until);
      if (isNeeded && !host.dead) return;
      clearInterval(check);
      host.kill(REPLACED);
    }, WATCH_MS);
    check.unref();
  }

  #look(): void {
    const now = this.#clock.monotonic();
    const late = Math.max(0, now - this.#lastWatch - WATCH_MS * 2);
    this.#lastWatch = now;
    for (const host of this.#all) host.watch(late);
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
