import { setTimeout as rest } from 'node:timers/promises';
import { asError, type Clock, ClockSteps, type Histogram, noTrace, systemClock } from '../base/index.js';
import type { CommitRecord, Snapshot } from '../commit/index.js';
import { isInMemory } from './activation.js';
import { freshAgentId, keyedAgentId } from './agent-id.js';
import { AlarmClock } from './alarm-clock.js';
import {
  assertFilter,
  assertLetterPage,
  assertId,
  assertOver,
  assertPage,
  assertType,
  closing,
  isTerminated,
} from './refusal.js';
import { functionCalls } from './call-rpc.js';
import { UnregisteredTypes } from './unregistered-types.js';
import { Contended } from './contended.js';
import type {
  AgentEvent,
  AgentFilter,
  AgentInfo,
  AgentInspection,
  Agents,
  AgentsOptions,
  Alarm,
  DeadLetter,
  EventsRequest,
  DeadLetterPage,
  HistoryPage,
  Listener,
  PastState,
  SendOptions,
  StartOptions,
} from './contract.js';
import { EventHub } from './event-hub.js';
import { FunctionTransactions } from './function-transactions.js';
import { HeldAlarms } from './held-alarms.js';
import { historyOf, inspectAgent } from './inspect.js';
import { callerOf, claimOf, type Job } from './job.js';
import { Listening } from './listening.js';
import { Messages } from './messages.js';
import { agentPart } from './part.js';
import { type AgentLog, Queues } from './queues.js';
import { readHead, readHeads, readKnownHead, readNow, waitingAgents } from './reader.js';
import { Residence } from './residence.js';
import { alarmsInTurn, alarmsOf } from './set-alarms.js';
import type { Head } from './stored.js';
import { Sweeper } from './sweeper.js';
import { Tally } from './tally.js';
import { TurnRunner } from './turn/turn-runner.js';

const IDLE_LOOK_MS = 1_000;
const SETTLE_LOOK_MS = 2;
/** of a start by a key that others start and stop at the same time */
const START_TRIES = 5;

/** The agents of one service: mailboxes in front, turns in host processes, one commit a turn behind. */
class AgentRuntime implements Agents {
  readonly #options: AgentsOptions;
  readonly #clock: Clock;
  readonly #queues: Queues;
  readonly #residence: Residence;
  readonly #runner: TurnRunner;
  readonly #messages: Messages;
  readonly #hub: EventHub;
  readonly #alarms: AlarmClock;
  readonly #sweeper: Sweeper;
  readonly #listening: Listening;
  readonly #unregistered: UnregisteredTypes;
  readonly #held: HeldAlarms;
  readonly #tally = new Tally();
  readonly #unlisten: () => void;
  readonly #idle: NodeJS.Timeout;
  #resumed = false;

  constructor(options: AgentsOptions) {
    const { committer, limits, hosts } = options;
    const log: AgentLog = (...entry) => this.#log(...entry);
    const contended = new Contended();
    // a turn's graph calls are answered by its own transaction
    const { answer: inTurns } = functionCalls(this);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#hub = new EventHub(committer, options.incarnation, limits.streamBufferBytes);
    this.#alarms = new AlarmClock(
      committer,
      this.#clock,
      (alarm) => this.#queues.ring(alarm),
      (error) => {
        if (error === undefined) this.#log('warn', 'the alarms are read again', '');
        else this.#log('error', `the alarms cannot be read, and ring once they can: ${asError(error).message}`, '');
      },
    );
    this.#sweeper = new Sweeper(
      committer,
      this.#clock,
      options.steps ?? new ClockSteps(this.#clock),
      limits,
      (error) => {
        this.#log('error', `what stopped agents leave could not be taken away: ${asError(error).message}`, '');
      },
    );
    this.#unregistered = new UnregisteredTypes(
      committer,
      (message) => this.#log('warn', message, ''),
      (error) => this.#log('error', `the stored agents could not be counted: ${asError(error).message}`, ''),
    );
    this.#held = new HeldAlarms(committer, (error) =>
      this.#log('error', `alarms that waited for their class could not be made due: ${asError(error).message}`, ''),
    );
    this.#runner = new TurnRunner({
      committer,
      hosts,
      graph: options.graph,
      contended,
      clock: this.#clock,
      limits,
      hub: this.#hub,
      trace: options.trace ?? noTrace,
      log: options.log ?? (() => undefined),
      closing: () => this.#queues.closing,
      rpc: (activation, job, rpc) => {
        const { method, args } = rpc;
        if (method === 'send') return this.#messages.sendInTurn(activation, job, rpc);
        if (method === 'keyed') return this.#clear(args[0] as string, args[1] === true);
        if (method === 'alarms' && args[0] === activation.id) return this.#alarmsInTurn(activation.id, job);
        return inTurns({ name: job.name, args: [], requestId: job.requestId }, rpc);
      },
    });
    this.#queues = new Queues({
      committer,
      clock: this.#clock,
      limits,
      hub: this.#hub,
      runner: this.#runner,
      alarms: this.#alarms,
      log,
    });
    this.#messages = new Messages({
      committer,
      limits,
      hosts,
      queues: this.#queues,
      runner: this.#runner,
      sweeper: this.#sweeper,
      log,
    });
    this.#residence = new Residence(this.#queues, hosts);
    this.#listening = new Listening({
      hosts,
      log,
      head: (id) => this.#head(id),
      batches: (request) => this.#hub.batches(request),
    });
    const { graph } = options;
    const transactions =
      graph && new FunctionTransactions({ graph, contended, mail: this.#messages, committer, limits });
    const { answer, ended } = functionCalls(this, graph, transactions);
    hosts.serve(answer, ended);
    this.#unlisten = committer.onCommit((records) => this.#landed(records));
    this.#idle = setInterval(() => this.#lookAround(), IDLE_LOOK_MS);
    this.#idle.unref();
  }

  // Life

  async start(name: string, options: StartOptions = {}): Promise<AgentInfo> {
    this.#assertOpen();
    assertType(this.#options.hosts.manifest, name);
    const { key } = options;
    if (key === undefined) return this.#begin(name, freshAgentId(), options);
    const id = keyedAgentId(name, key);
    for (let tries = 1; ; tries++) {
      // one that is there is not waited for: it may be in a long turn
      const known = await this.#head(id);
      if (known !== undefined && known.status !== 'terminated') return this.#shown(id, known);
      const turns = known === undefined ? undefined : await this.#sweeper.clear(id);
      try {
        return await this.#begin(name, id, options, turns);
      } catch (error) {
        // somebody else has started it meanwhile, and it was stopped since
        if (!isTerminated(error, id) || tries >= START_TRIES) throw error;
      }
    }
  }

  async #begin(name: string, id: string, options: StartOptions, turns?: number): Promise<AgentInfo> {
    const { key, idempotencyKey } = options;
    const claim = claimOf(`agents.start ${callerOf(options)}`, idempotencyKey, key === undefined ? name : id);
    const reply = await this.#queues
      .submit(id, { kind: 'init', name: 'onInitialize', create: { type: name, key, turns }, claim }, options)
      .catch((error: unknown) => {
        const activation = this.#queues.activations.get(id);
        if (activation !== undefined) this.#queues.forget(activation);
        throw error;
      });
    // Nobody else has its id yet: what is known here is what was stored. A repeated start gives the first one's.
    const begun = reply === id ? this.#queues.activations.get(id)?.head : undefined;
    return begun === undefined ? this.info(reply ?? id) : this.#shown(id, begun);
  }

  async stop(id: string, options: { requestId?: string } = {}): Promise<AgentInfo> {
    assertId(id);
    this.#assertOpen();
    await this.#queues.submit(id, { kind: 'stop', name: 'onTerminate' }, options);
    return this.info(id);
  }

  async info(id: string): Promise<AgentInfo> {
    assertId(id);
    return this.#shown(id, await this.#read((snapshot) => readKnownHead(snapshot, id)));
  }

  async list(filter: AgentFilter = {}): Promise<readonly AgentInfo[]> {
    assertFilter(filter);
    const most = filter.first ?? 100;
    const found: AgentInfo[] = [];
    const take = (id: string, head: Head): boolean => {
      if (filter.name !== undefined && head.type !== filter.name) return true;
      const info = this.#shown(id, head);
      if (filter.status === undefined || info.status === filter.status) found.push(info);
      return found.length < most;
    };
    await this.#read((snapshot) => readHeads(snapshot, filter.after, take));
    return found;
  }

  async inspect(id: string): Promise<AgentInspection> {
    assertId(id);
    const { incarnation } = this.#options;
    return this.#read((snapshot) => inspectAgent(snapshot, id, incarnation, (head) => this.#shown(id, head)));
  }

  async history(id: string, page: HistoryPage = {}): Promise<readonly PastState[]> {
    assertId(id);
    assertPage(page);
    return this.#read((snapshot) => historyOf(snapshot, id, page, this.#options.limits.agentStateBytes));
  }

  async alarms(id: string): Promise<readonly Alarm[]> {
    assertId(id);
    return this.#read((snapshot) => alarmsOf(snapshot, id));
  }

  /** Makes room for one that a turn starts by its key. Throws INVALID_REQUEST where the turn has stopped it, and it still is there. */
  async #clear(id: string, stopped: boolean): Promise<unknown> {
    if (stopped) assertOver(id, await this.#head(id));
    return this.#sweeper.clear(id);
  }

  #alarmsInTurn(id: string, { alarm: handled }: Job): Promise<readonly Alarm[]> {
    return this.#read((snapshot) => alarmsInTurn(snapshot, id, handled, this.#clock.wall()));
  }

  // Messages

  send(id: string, message: string, data?: string, options: SendOptions = {}): Promise<string | undefined> {
    return this.#messages.send(id, message, data, options);
  }

  sendAsync(id: string, message: string, data?: string, options: SendOptions = {}): Promise<string> {
    return this.#messages.sendAsync(id, message, data, options);
  }

  async deadLetters(agentId: string, page: DeadLetterPage = {}): Promise<readonly DeadLetter[]> {
    assertLetterPage(page);
    return this.#messages.deadLetters(agentId, page);
  }

  replay(agentId: string, deadLetterId: string): Promise<void> {
    return this.#messages.replay(agentId, deadLetterId);
  }

  eventBatches(request: EventsRequest): AsyncIterable<readonly AgentEvent[]> {
    assertId(request.agentId);
    return this.#hub.batches(request);
  }

  async keptEvents(agentId: string): Promise<readonly AgentEvent[]> {
    assertId(agentId);
    return this.#hub.kept(agentId);
  }

  listen(request: EventsRequest, listener: Listener): AsyncIterable<readonly AgentEvent[]> {
    assertId(request.agentId);
    return this.#listening.batches(request, listener);
  }

  async *events(request: EventsRequest): AsyncIterable<AgentEvent> {
    for await (const events of this.eventBatches(request)) yield* events;
  }

  // What lands

  #landed(records: readonly CommitRecord[]): void {
    this.#hub.landed(records);
    this.#alarms.landed(records);
    this.#sweeper.landed(records);
    for (const record of records) {
      const part = agentPart(record);
      if (part === undefined) continue;
      this.#tally.landed(part);
      if (this.#resumed) this.#queues.deliver(part, record.commitTs);
    }
  }

  // Memory

  #lookAround(): void {
    this.#residence.suspendIdle();
    if (this.#resumed) void this.#sweeper.look();
  }

  async swap<T>(load: () => Promise<T>): Promise<T> {
    const loaded = await this.#residence.swap(load);
    if (this.#resumed) this.#lookAtTypes();
    return loaded;
  }

  #lookAtTypes(): void {
    const types = this.#options.hosts.manifest?.agentTypes.map(({ name }) => name);
    if (types === undefined || this.#queues.closing) return;
    this.#unregistered.look(types);
    this.#held.look(types);
  }

  async resume(): Promise<void> {
    if (this.#resumed) return;
    // From here on what lands is delivered; what landed before is found in the store.
    this.#resumed = true;
    for await (const id of waitingAgents(this.#options.committer)) {
      const head = await this.#head(id);
      if (head === undefined || head.status === 'terminated') continue;
      const activation = this.#queues.activate(id);
      activation.waiting.reread();
      this.#queues.kick(activation);
    }
    this.#alarms.start();
    this.#lookAtTypes();
  }

  times(): Readonly<Record<string, Histogram>> {
    return { turn_seconds: this.#queues.seconds };
  }

  stats(): Readonly<Record<string, number>> {
    return {
      agents_in_memory: this.#queues.activations.size,
      turns_running: this.#queues.running,
      turns: this.#queues.turns,
      turn_failures: this.#queues.failures,
      mailbox_waiting: [...this.#queues.activations.values()].reduce((sum, one) => sum + one.waiting.count, 0),
      event_subscribers: this.#hub.subscribers,
      ...this.#tally.stats(),
    };
  }

  /** wall milliseconds at which something waits to be done; Infinity when nothing does */
  nextDue(): number {
    const tries = [...this.#queues.activations.values()].map(({ wakesAt }) => wakesAt);
    return tries.reduce((least, at) => Math.min(least, at), this.#alarms.next);
  }

  async clockMoved(): Promise<void> {
    await this.#held.settled();
    for (;;) {
      const before = this.#queues.turns;
      for (const activation of this.#queues.activations.values())
        if (activation.wake !== undefined) this.#queues.kick(activation);
      await this.#alarms.look();
      while (this.#queues.running > 0) await rest(SETTLE_LOOK_MS);
      if (this.#queues.turns === before || this.#queues.closing) break;
    }
    await this.#sweeper.look();
  }

  async close(): Promise<void> {
    if (this.#queues.closing) return;
    this.#queues.closing = true;
    clearInterval(this.#idle);
    this.#alarms.stop();
    await this.#residence.pause();
    await this.#sweeper.stop();
    await this.#unregistered.stop();
    await this.#held.stop();
    this.#unlisten();
    for (const activation of this.#queues.activations.values()) {
      clearTimeout(activation.wake);
      for (const job of activation.waiting.drain()) job.reject?.(closing());
    }
  }

  // Small things

  #head(id: string): Promise<Head | undefined> {
    return this.#read((snapshot) => readHead(snapshot, id));
  }

  #read<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return readNow(this.#options.committer, read);
  }

  #shown(id: string, head: Head): AgentInfo {
    const activation = this.#queues.activations.get(id);
    const isIn = activation !== undefined && (isInMemory(activation) || activation.busy);
    const active = activation?.passing ?? (isIn ? 'running' : 'suspended');
    return {
      id,
      name: head.type,
      ...(head.key === undefined ? {} : { key: head.key }),
      status: head.status === 'active' ? active : head.status,
      startedAt: new Date(head.startedAt).toISOString(),
      turns: head.turns,
      waiting: head.waiting,
      deadLetters: head.dead,
      alarms: head.alarms,
    };
  }

  #assertOpen(): void {
    if (this.#queues.closing) throw closing();
  }

  #log(level: 'warn' | 'error', message: string, agentId: string, requestId = ''): void {
    const about = agentId === '' ? {} : { agentId };
    this.#options.log?.({ level, message, ...about, ...(requestId === '' ? {} : { requestId }) });
  }
}

/** The agents of one service; call `resume` once an app is loaded. */
export function createAgents(options: AgentsOptions): Agents {
  return new AgentRuntime(options);
}
