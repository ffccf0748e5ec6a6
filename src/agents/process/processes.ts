import { availableParallelism } from 'node:os';
import { type Clock, GraphsteadError, type Limits, type MaybePromise, systemClock } from '../../base/index.js';
import type { HostApp, HostLog } from '../info.js';
import { closing } from '../refusal.js';
import { failureText } from '../wire-failure.js';
import type { HostManifest, HostsOptions, Staged } from './contract.js';
import { HostProcess } from './host-process.js';
import type { HostTask } from './task.js';

interface Generation {
  readonly app: HostApp;
  readonly manifest: HostManifest;
  readonly slots: HostProcess[];
  /** in reserve: one, and more while all others are held */
  readonly spares: Set<HostProcess>;
}

const WATCH_MS = 25;
/** processes made within so many milliseconds for others that died, before the next has to wait */
const DEATHS = 10;
const DEATHS_WITHIN_MS = 5_000;
const RESPAWN_MS = 1_000;
/** what a load is followed by comes first */
const PREFORK_MS = 250;
/** processes that one caller sees fail to load, one after the other, before it is told */
const LOADS = 2;
/** a load that has taken this part of its time is told of */
const SLOW = 4;
/** milliseconds in which no process is free before another is made, and most of those that are made so */
const RELIEF_MS = 500;
const RELIEFS = 4;
/** milliseconds in which there was always a free one before they go again */
const REST_MS = 10_000;
/** why a process of an app as it was before ends */
export const REPLACED = 'replaced';

/**
 * The processes that app code runs in: one a core with the newest app, one more in reserve, some more where all of these are held,
 * and a watchdog over all of them.
 */
export class Processes {
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #count: number;
  readonly #options: HostsOptions;
  readonly #log: (entry: HostLog) => void;
  readonly #all = new Set<HostProcess>();
  /** started before an app is there for them to load */
  readonly #blank = new Set<HostProcess>();
  #generation: Generation | undefined;
  #watch: NodeJS.Timeout;
  #lastWatch: number;
  #kills = 0;
  #deaths: number[] = [];
  /** monotonic milliseconds: since when no process is free, and when one last was not */
  #heldSince: number | undefined;
  #heldAt = Number.NEGATIVE_INFINITY;
  /** settles once the place of a dead process is taken */
  readonly #successions = new WeakMap<HostProcess, Promise<void>>();
  #closed = false;

  constructor(options: HostsOptions) {
    this.#options = options;
    this.#limits = options.limits;
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

  get closed(): boolean {
    return this.#closed;
  }

  /** Those that agents and calls are spread over; none before an app is loaded. */
  get slots(): readonly HostProcess[] {
    return this.#generation?.slots ?? [];
  }

  prepare(appDir: string): void {
    this.#fork(appDir, this.#count);
  }

  /** See Hosts.stage. */
  async stage(app: HostApp, signal?: AbortSignal): Promise<Staged> {
    this.#assertOpen();
    if (signal?.aborted) {
      throw new GraphsteadError('APP_LOAD', 'the app was not loaded: the load was called off', {
        fix: 'wait for the load that came after it, or load it again',
      });
    }
    const slots = Array.from({ length: this.#count }, () => this.#spawn(app));
    const drop = (): void => {
      for (const host of slots) host.kill('the app did not load');
    };
    signal?.addEventListener('abort', drop, { once: true });
    const slow = setTimeout(() => this.#tellSlow(slots), this.#limits.hostLoadMs / SLOW).unref();
    try {
      const [manifest] = await Promise.all(slots.map((host) => host.ready));
      return { take: () => this.#take({ app, manifest, slots, spares: new Set() }), drop };
    } catch (error) {
      drop();
      throw error;
    } finally {
      clearTimeout(slow);
      signal?.removeEventListener('abort', drop);
    }
  }

  /** Whoever waits for it sees nothing else, and may wait in vain. */
  #tellSlow(slots: readonly HostProcess[]): void {
    const error = slots.find((host) => !host.loaded && !host.dead)?.notLoaded(this.#limits.hostLoadMs / SLOW);
    if (error !== undefined) this.#log({ level: 'warn', message: failureText(error) });
  }

  #take(next: Generation): HostManifest {
    this.#assertOpen();
    const before = this.#generation;
    this.#generation = next;
    for (const host of next.slots) this.#replaceWhenDead(host);
    if (before !== undefined) for (const host of [...before.slots, ...before.spares]) this.#retire(host);
    this.#refill(next);
    const { appDir } = next.app;
    if (this.#options.prefork === true) setTimeout(() => this.#fork(appDir, this.#count + 1), PREFORK_MS).unref();
    return next.manifest;
  }

  /** The process for a shard, or the one that takes its place. Throws OVERLOADED where the system gives none for now. */
  alive(shard: number, task: HostTask): MaybePromise<HostProcess> {
    const picked = this.#pick(shard, task);
    return picked.dead ? this.#successor(shard, task, picked) : picked;
  }

  /** The same once it has loaded the app. */
  loaded(shard: number, task: HostTask): Promise<HostProcess> {
    return this.#loaded(() => this.alive(shard, task));
  }

  /** A process for nobody else: its caller ends it. */
  apart(): Promise<HostProcess> {
    return this.#loaded(() => this.#spawn(this.#current().app));
  }

  /** A process that has loaded the app. Throws what one after another could not be loaded for. */
  async #loaded(next: () => MaybePromise<HostProcess>): Promise<HostProcess> {
    for (let tries = 1; ; tries++) {
      const host = await next();
      try {
        await host.ready;
        if (!host.dead) return host;
      } catch (error) {
        if (tries >= LOADS) throw error;
      }
    }
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

  /** Not the same one for ever: residency has to be checked by identity. */
  #pick(shard: number, task: HostTask): HostProcess {
    const { slots, spares } = this.#current();
    const first = slots[shard % slots.length];
    if (isFree(first)) return first;
    return slots.find(isFree) ?? (this.#mayLeave()(task) ? [...spares].find(isFree) : undefined) ?? first;
  }

  /** Which tasks another process would answer. Those like one that holds its process do not get the last one that is left. */
  #mayLeave(): (task: HostTask) => boolean {
    const { slots, spares } = this.#current();
    if (slots.some(isFree)) return always;
    if (![...spares].some(isFree)) return never;
    const held = new Set([...slots, ...spares].map((host) => host.holding));
    return ({ label: { operation } }) => operation === undefined || !held.has(operation);
  }

  /** The process that takes a dead one's place. Throws OVERLOADED where the system gives none for now. */
  async #successor(shard: number, task: HostTask, dead: HostProcess): Promise<HostProcess> {
    for (let host = dead; ; ) {
      await this.#successions.get(host);
      host = this.#pick(shard, task);
      if (host.unborn !== undefined) throw host.unborn;
      if (!host.dead) return host;
    }
  }

  #current(): Generation {
    this.#assertOpen();
    if (this.#generation === undefined) {
      throw new GraphsteadError('NOT_READY', 'no app is loaded', {
        fix: 'start the service with the folder of an app; where it was, correct the mistakes that it told',
      });
    }
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
      mayMove: () => (this.#generation === undefined ? never : this.#mayLeave()),
    });
    this.#all.add(host);
    void host.exited.then(() => this.#all.delete(host));
    return host;
  }

  #replaceWhenDead(host: HostProcess): void {
    this.#successions.set(host, this.#succeed(host));
  }

  /** A spare takes a dead process's place at once, and another becomes the spare. */
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
    const next = [...generation.spares].find((spare) => !spare.dead && !spare.stalled) ?? this.#spawn(generation.app);
    generation.spares.delete(next);
    generation.slots[slot] = next;
    this.#replaceWhenDead(next);
    this.#refill(generation);
  }

  #refill(generation: Generation): void {
    if (this.#closed || this.#generation !== generation || [...generation.spares].some((spare) => !spare.dead)) return;
    const wait = this.#pause();
    if (wait > 0) {
      setTimeout(() => this.#refill(generation), wait).unref();
      return;
    }
    this.#addSpare(generation);
  }

  #addSpare(generation: Generation): void {
    const spare = this.#spawn(generation.app);
    generation.spares.add(spare);
    let loaded = false;
    spare.ready.then(() => {
      loaded = true;
    }, noop);
    void spare.exited.then(() => {
      if (generation.spares.delete(spare) && loaded) this.#refill(generation);
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

  /** While all processes are held, whatever else is asked would wait until the first of them is killed. */
  #relieve(now: number): void {
    if (this.#generation === undefined) return;
    const { slots, spares } = this.#generation;
    if (![...slots, ...spares].every((host) => host.loaded && host.stalled)) {
      this.#heldSince = undefined;
      if (now - this.#heldAt > REST_MS) this.#rest(this.#generation);
      return;
    }
    this.#heldAt = now;
    this.#heldSince ??= now;
    if (now - this.#heldSince < RELIEF_MS || spares.size > RELIEFS) return;
    this.#heldSince = undefined;
    this.#addSpare(this.#generation);
  }

  /** What was made while all were held goes, but for one. */
  #rest({ spares }: Generation): void {
    if (spares.size <= 1) return;
    const idle = [...spares].find((host) => isFree(host) && host.left.tasks + host.left.streams === 0);
    idle?.kill('it is not needed any more');
  }

  /** An old process ends when its last task has; streams, which may never end or have slow readers, get so much time. */
  #retire(host: HostProcess): void {
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
    this.#relieve(now);
  }
}

function noop(): void {}

const always = () => true;
const never = () => false;

/** It answers what it is sent. */
function isFree(host: HostProcess): boolean {
  return host.loaded && !host.stalled;
}
