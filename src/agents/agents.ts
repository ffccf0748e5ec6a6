import { setTimeout as rest } from 'node:timers/promises';
import { asError, type Clock, GraphsteadError, noTrace, systemClock } from '../base/index.js';
import type { CommitRecord } from '../commit/index.js';
import { Activation, type Job } from './activation.js';
import { AlarmClock } from './alarm-clock.js';
import { assertId, noLetter, terminated, unknownAgent } from './refusal.js';
import { callRpc, type SendArgs } from './call-rpc.js';
import type {
  AgentEvent,
  AgentFilter,
  AgentInfo,
  AgentInspection,
  Agents,
  AgentsOptions,
  AgentType,
  DeadLetter,
  EventsRequest,
  SendOptions,
  StartOptions,
} from './contract.js';
import { EventHub } from './event-hub.js';
import { freshAgentId } from './host/turn-scope.js';
import type { Rpc } from './process/task.js';
import { inspectAgent } from './inspect.js';
import { callerOf, claimOf, digest, freshJobId, lastingId } from './job.js';
import type { AgentOp, AgentPart } from './part.js';
import { Queues } from './queues.js';
import { readHead, readHeads, readLetters, toDeadLetter, waitingAgents } from './reader.js';
import { Residence } from './residence.js';
import type { Head } from './stored.js';
import { Sweeper } from './sweeper.js';
import { Tally } from './tally.js';
import { TurnRunner } from './turn/turn-runner.js';
import { WaitGraph } from './wait-graph.js';

const IDLE_LOOK_MS = 1_000;
const SETTLE_LOOK_MS = 2;

/** The agents of one service: mailboxes in front, turns in host processes, one commit a turn behind. */
export class AgentRuntime implements Agents {
  readonly #options: AgentsOptions;
  readonly #clock: Clock;
  readonly #queues: Queues;
  readonly #residence: Residence;
  readonly #runner: TurnRunner;
  readonly #hub: EventHub;
  readonly #alarms: AlarmClock;
  readonly #sweeper: Sweeper;
  readonly #waits = new WaitGraph();
  readonly #tally = new Tally();
  readonly #unlisten: () => void;
  readonly #idle: NodeJS.Timeout;
  #resumed = false;

  constructor(options: AgentsOptions) {
    const { committer, limits, hosts } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#hub = new EventHub(committer, options.incarnation, limits.streamBufferBytes);
    this.#alarms = new AlarmClock(committer, this.#clock, (alarm) => this.#queues.ring(alarm));
    this.#sweeper = new Sweeper(committer, this.#clock, (error) => {
      this.#log('error', `what stopped agents leave could not be taken away: ${asError(error).message}`, '');
    });
    this.#runner = new TurnRunner({
      committer,
      hosts,
      graph: options.graph,
      clock: this.#clock,
      limits,
      hub: this.#hub,
      trace: options.trace ?? noTrace,
      log: options.log ?? (() => undefined),
      rpc: (activation, job, rpc) => this.#turnRpc(activation, job, rpc),
    });
    this.#queues = new Queues({
      committer,
      clock: this.#clock,
      limits,
      hub: this.#hub,
      runner: this.#runner,
      alarms: this.#alarms,
      log: (...entry) => this.#log(...entry),
    });
    this.#residence = new Residence(this.#queues, hosts);
    hosts.serve(callRpc(this, options.graph));
    this.#unlisten = committer.onCommit((records) => this.#landed(records));
    this.#idle = setInterval(() => this.#lookAround(), IDLE_LOOK_MS);
    this.#idle.unref();
  }

  // Life

  async start(name: string, options: StartOptions = {}): Promise<AgentInfo> {
    this.#assertOpen();
    this.#typeOf(name);
    const id = freshAgentId();
    const claim = claimOf(`agents.start ${callerOf(options)}`, options.idempotencyKey, name);
    const reply = await this.#queues
      .submit(id, { kind: 'init', name: 'onInitialize', create: name, claim }, options)
      .catch((error: unknown) => {
        this.#queues.activations.delete(id);
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
    const head = await this.#head(id);
    if (head === undefined) throw unknownAgent(id);
    return this.#shown(id, head);
  }

  async list(filter: AgentFilter = {}): Promise<readonly AgentInfo[]> {
    const most = Math.min(Math.max(1, filter.first ?? 100), 1_000);
    const found: AgentInfo[] = [];
    const snapshot = this.#options.committer.snapshot();
    try {
      await readHeads(snapshot, filter.after, (id, head) => {
        if (filter.name !== undefined && head.type !== filter.name) return true;
        const info = this.#shown(id, head);
        if (filter.status === undefined || info.status === filter.status) found.push(info);
        return found.length < most;
      });
    } finally {
      snapshot.release();
    }
    return found;
  }

  async inspect(id: string): Promise<AgentInspection> {
    assertId(id);
    const snapshot = this.#options.committer.snapshot();
    try {
      return await inspectAgent(snapshot, id, this.#options.incarnation, (head) => this.#shown(id, head));
    } finally {
      snapshot.release();
    }
  }

  // Messages

  async send(id: string, message: string, data?: string, options: SendOptions = {}): Promise<string | undefined> {
    assertId(id);
    const { idempotencyKey } = options;
    if (idempotencyKey === undefined) return this.#send(id, message, data, options, undefined);
    const claim = claimOf(`agent ${id} ${callerOf(options)}`, idempotencyKey, `${message}\n${data ?? ''}`);
    return this.#send(id, message, data, options, claim);
  }

  async #send(
    id: string,
    message: string,
    data: string | undefined,
    options: SendOptions,
    claim: Job['claim'],
  ): Promise<string | undefined> {
    this.#assertOpen();
    this.#assertSize(message, data);
    const from = options.from ?? '';
    const job = { kind: 'message', name: message, data, typed: options.typed } as const;
    const head = this.#queues.activations.get(id)?.head ?? (await this.#head(id));
    if (head === undefined) throw unknownAgent(id);
    if (head.status === 'terminated') throw terminated(id);
    if (this.#isReadOnly(head.type, message)) return this.#sendReadOnly(id, job, options);
    if (from === '') return this.#queues.submit(id, { ...job, claim }, options);
    const leave = this.#waits.wait(from, id, (one) => this.#describe(one));
    return this.#queues.submit(id, { ...job, from, claim }, options).finally(leave);
  }

  async sendAsync(id: string, message: string, data?: string, options: SendOptions = {}): Promise<string> {
    assertId(id);
    this.#assertOpen();
    this.#assertSize(message, data);
    const { from = '', requestId } = options;
    const claim = claimOf(`mail ${id} ${callerOf(options)}`, options.idempotencyKey, `${message}\n${data ?? ''}`);
    const post: AgentOp = { op: 'post', to: id, from, kind: 'message', name: message, data, requestId };
    const head = this.#queues.activations.get(id)?.head ?? (await this.#head(id));
    if (head?.status === 'terminated') throw terminated(id);
    const committed = await this.#options.committer.commit({
      startTs: 0,
      parts: { agents: { ops: [post] } },
      conflicts: [],
      ...(claim === undefined ? {} : { idempotency: { ...claim, reply: new Uint8Array(0) } }),
    });
    return `${committed.commitTs}.0`;
  }

  async #sendReadOnly(
    id: string,
    part: Pick<Job, 'kind' | 'name' | 'data' | 'typed'>,
    options: SendOptions,
  ): Promise<string | undefined> {
    const requestId = options.requestId ?? '';
    const job: Job = { ...part, from: '', id: freshJobId(), requestId, attempts: 0, notBefore: 0, begun: true };
    return this.#runner.readOnly(new Activation(id), job);
  }

  #isReadOnly(type: string, message: string): boolean {
    return (
      this.#options.hosts.manifest?.agentTypes.find((one) => one.name === type)?.readOnly.includes(message) ?? false
    );
  }

  // Dead letters

  async deadLetters(agentId: string): Promise<readonly DeadLetter[]> {
    assertId(agentId);
    const snapshot = this.#options.committer.snapshot();
    try {
      const head = await readHead(snapshot, agentId);
      if (head === undefined) throw unknownAgent(agentId);
      return (await readLetters(snapshot, agentId)).map((letter) => toDeadLetter(agentId, letter));
    } finally {
      snapshot.release();
    }
  }

  async replay(agentId: string, deadLetterId: string): Promise<void> {
    assertId(agentId);
    this.#assertOpen();
    const head = await this.#head(agentId);
    if (head === undefined) throw unknownAgent(agentId);
    if (head.status === 'terminated') throw terminated(agentId);
    const snapshot = this.#options.committer.snapshot();
    const letters = await readLetters(snapshot, agentId).finally(() => snapshot.release());
    const letter = letters.find((one) => String(one.seq) === deadLetterId);
    if (letter === undefined) throw noLetter(agentId, deadLetterId);
    const { name, data, from, seq, bytes } = letter;
    const ops: AgentOp[] = [
      { op: 'bury', id: agentId, seq, bytes },
      { op: 'post', to: agentId, from, kind: 'message', name, data },
    ];
    await this.#options.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
  }

  events(request: EventsRequest): AsyncIterable<AgentEvent> {
    assertId(request.agentId);
    return this.#hub.events(request);
  }

  // What lands

  #landed(records: readonly CommitRecord[]): void {
    this.#hub.landed(records);
    this.#alarms.landed(records);
    this.#sweeper.landed(records);
    for (const { commitTs, parts } of records) {
      const part = parts['agents'] as AgentPart | undefined;
      if (part === undefined) continue;
      this.#tally.landed(part);
      if (this.#resumed) this.#queues.deliver(part, commitTs);
    }
  }

  // What turns ask

  async #turnRpc(activation: Activation, job: Job, rpc: Rpc): Promise<unknown> {
    if (rpc.method !== 'send')
      return callRpc(this, undefined)({ name: job.name, args: [], requestId: job.requestId }, rpc);
    const [to, name, { timeout: timeoutMs, typed, idempotencyKey }, data] = rpc.args as SendArgs;
    const from = activation.id;
    const given = { timeoutMs, typed, idempotencyKey, from, requestId: job.requestId };
    const lasting = lastingId(from, job);
    if (idempotencyKey !== undefined || lasting === undefined) return this.send(to, name, data, given);
    // A job that is tried again, by this process or the next, gets the replies of what it sent before.
    const body = `${to}\n${name}\n${data ?? ''}`;
    const repeated = claimOf('turn', `${lasting}.${rpc.n}`, body);
    return this.#send(to, name, data, given, repeated).catch((error: unknown) => {
      if (!(error instanceof GraphsteadError) || error.code !== 'IDEMPOTENCY_MISMATCH') throw error;
      const what = `"${name}" to ${to} is not what an earlier try of "${job.name}" sent at this place: it is sent anew`;
      this.#log('warn', what, from, job.requestId);
      return this.#send(to, name, data, given, claimOf('turn', `${lasting}.${rpc.n}.${digest(body)}`, body));
    });
  }

  #describe(id: string): string {
    const type = this.#queues.activations.get(id)?.head?.type;
    return type === undefined ? id : `${type} ${id}`;
  }

  // Memory

  #lookAround(): void {
    this.#residence.suspendIdle();
    if (this.#resumed) void this.#sweeper.look();
  }

  swap<T>(load: () => Promise<T>): Promise<T> {
    return this.#residence.swap(load);
  }

  async resume(): Promise<void> {
    if (this.#resumed) return;
    // From here on what lands is delivered; what landed before is found in the store.
    this.#resumed = true;
    for await (const id of waitingAgents(() => this.#options.committer.snapshot())) {
      const head = await this.#head(id);
      if (head === undefined || head.status === 'terminated') continue;
      const activation = this.#queues.activate(id);
      activation.more = true;
      activation.read = undefined;
      for (const job of activation.drain()) if (job.stored === undefined) activation.push(job);
      this.#queues.kick(activation);
    }
    this.#alarms.start();
  }

  stats(): Readonly<Record<string, number>> {
    return {
      agents_in_memory: this.#queues.activations.size,
      turns_running: this.#queues.running,
      turns: this.#queues.turns,
      turn_failures: this.#queues.failures,
      mailbox_waiting: [...this.#queues.activations.values()].reduce((sum, one) => sum + one.waiting, 0),
      event_subscribers: this.#hub.subscribers,
      ...this.#tally.stats(),
    };
  }

  /** wall milliseconds at which something waits to be done; Infinity when nothing does */
  nextDue(): number {
    return this.#alarms.next;
  }

  async clockMoved(): Promise<void> {
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
    this.#unlisten();
    for (const activation of this.#queues.activations.values()) {
      clearTimeout(activation.wake);
      for (const job of activation.drain()) job.reject?.(new GraphsteadError('NOT_READY', 'the service is closing'));
    }
  }

  // Small things

  async #head(id: string): Promise<Head | undefined> {
    const snapshot = this.#options.committer.snapshot();
    try {
      return await readHead(snapshot, id);
    } finally {
      snapshot.release();
    }
  }

  #shown(id: string, head: Head): AgentInfo {
    const activation = this.#queues.activations.get(id);
    const inMemory = activation?.host?.dead === false || activation?.busy === true;
    const active = activation?.passing ?? (inMemory ? 'running' : 'suspended');
    return {
      id,
      name: head.type,
      status: head.status === 'active' ? active : head.status,
      startedAt: new Date(head.startedAt).toISOString(),
      turns: head.turns,
      waiting: head.waiting,
      deadLetters: head.dead,
    };
  }

  #typeOf(name: string): AgentType {
    const types = this.#options.hosts.manifest?.agentTypes ?? [];
    const found = types.find((type) => type.name === name);
    if (found !== undefined) return found;
    const known = types.map((type) => type.name).sort();
    throw new GraphsteadError('AGENT_TYPE_UNKNOWN', `unknown agent type "${name}"`, {
      fix: known.length === 0 ? 'call agents.register(Class) in the app' : `registered types: ${known.join(', ')}`,
    });
  }

  #assertOpen(): void {
    if (this.#queues.closing) throw new GraphsteadError('NOT_READY', 'the service is closing');
  }

  #assertSize(message: string, data: string | undefined): void {
    const bytes = Buffer.byteLength(message) + Buffer.byteLength(data ?? '');
    const most = this.#options.limits.messageBytes;
    if (bytes <= most) return;
    throw new GraphsteadError('LIMIT_EXCEEDED', `message "${message.slice(0, 100)}" holds ${bytes} bytes`, {
      fix: `limits.messageBytes is ${most}: store it in the graph and send its uid`,
    });
  }

  #log(level: 'warn' | 'error', message: string, agentId: string, requestId = ''): void {
    this.#options.log?.({ level, message, agentId, ...(requestId === '' ? {} : { requestId }) });
  }
}

/** The agents of one service; call `resume` once an app is loaded. */
export function createAgents(options: AgentsOptions): Agents {
  return new AgentRuntime(options);
}
