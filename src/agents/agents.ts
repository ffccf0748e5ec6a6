import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { asError, type Clock, GraphsteadError, systemClock } from '../base/index.js';
import type { CommitRecord } from '../commit/index.js';
import { Activation, type Job } from './activation.js';
import { AlarmClock } from './alarm-clock.js';
import { mailboxFull, terminated, unknownAgent } from './applier.js';
import { callRpc } from './call-rpc.js';
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
import { EventHub, STATUS_EVENT } from './event-hub.js';
import { freshAgentId } from './host/turn-scope.js';
import type { Rpc } from './host-process.js';
import { inspectAgent } from './inspect.js';
import type { AgentOp, AgentPart } from './part.js';
import {
  type DueAlarm,
  type MailboxEntry,
  readAlarm,
  readHead,
  readHeads,
  readLetters,
  readMailbox,
  toDeadLetter,
  waitingAgents,
} from './reader.js';
import type { Head } from './stored.js';
import { Sweeper } from './sweeper.js';
import { TurnRunner } from './turn-runner.js';
import { WaitGraph } from './wait-graph.js';

/** stored messages of one agent read at a time */
const MAILBOX_PAGE = 64;
const IDLE_LOOK_MS = 1_000;
const SETTLE_LOOK_MS = 2;
const SUSPENDED_AT_ONCE = 1_000;
/** part of one host's heap that states may take as text; as objects they take several times that */
const RESIDENT_SHARE = 0.125;
const BACKOFF_MS = 200;
const BACKOFF_MOST_MS = 60_000;
/** milliseconds that a reload or a shutdown waits for running turns */
const DRAIN_MS = 10_000;

/** The agents of one service: mailboxes in front, turns in host processes, one commit a turn behind. */
export class AgentRuntime implements Agents {
  readonly #options: AgentsOptions;
  readonly #clock: Clock;
  readonly #activations = new Map<string, Activation>();
  readonly #runner: TurnRunner;
  readonly #hub: EventHub;
  readonly #alarms: AlarmClock;
  readonly #sweeper: Sweeper;
  readonly #waits = new WaitGraph();
  readonly #unlisten: () => void;
  readonly #idle: NodeJS.Timeout;
  #running = 0;
  #turns = 0;
  #failures = 0;
  #paused = false;
  #resumed = false;
  #closing = false;
  #drained: (() => void) | undefined;
  /** agents whose stored messages could not be handled while no app was loaded */
  readonly #unready = new Set<string>();
  #swapping: Promise<unknown> = Promise.resolve();

  constructor(options: AgentsOptions) {
    const { committer, limits, hosts } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#hub = new EventHub(committer, options.incarnation, limits.streamBufferBytes);
    this.#alarms = new AlarmClock(committer, this.#clock, (alarm) => this.#ring(alarm));
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
      log: options.log ?? (() => undefined),
      rpc: (activation, job, rpc) => this.#turnRpc(activation, job, rpc),
    });
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
    const reply = await this.#submit(id, { kind: 'init', name: 'onInitialize', create: name, claim }, options).catch(
      (error: unknown) => {
        this.#activations.delete(id);
        throw error;
      },
    );
    return this.info(reply ?? id);
  }

  async stop(id: string, options: { requestId?: string } = {}): Promise<AgentInfo> {
    assertId(id);
    this.#assertOpen();
    await this.#submit(id, { kind: 'stop', name: 'onTerminate' }, options);
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
    const claim = claimOf(`agent ${id} ${callerOf(options)}`, options.idempotencyKey, `${message}\n${data ?? ''}`);
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
    const head = this.#activations.get(id)?.head ?? (await this.#head(id));
    if (head === undefined) throw unknownAgent(id);
    if (head.status === 'terminated') throw terminated(id);
    if (this.#isReadOnly(head.type, message)) return this.#sendReadOnly(id, job, options);
    if (from === '') return this.#submit(id, { ...job, claim }, options);
    const leave = this.#waits.wait(from, id, (one) => this.#describe(one));
    return this.#submit(id, { ...job, from, claim }, options).finally(leave);
  }

  async sendAsync(id: string, message: string, data?: string, options: SendOptions = {}): Promise<string> {
    assertId(id);
    this.#assertOpen();
    this.#assertSize(message, data);
    const { from = '', requestId } = options;
    const claim = claimOf(`mail ${id} ${callerOf(options)}`, options.idempotencyKey, `${message}\n${data ?? ''}`);
    const post: AgentOp = { op: 'post', to: id, from, kind: 'message', name: message, data, requestId };
    const head = this.#activations.get(id)?.head ?? (await this.#head(id));
    if (head?.status === 'terminated') throw terminated(id);
    const committed = await this.#options.committer.commit({
      startTs: 0,
      parts: { agents: { ops: [post] } },
      conflicts: [],
      ...(claim === undefined ? {} : { idempotency: { ...claim, reply: new Uint8Array(0) } }),
    });
    return `${committed.commitTs}.0`;
  }

  /** Puts a job into the agent's queue and waits for its end, or for the caller's patience to end. */
  #submit(
    id: string,
    part: Partial<Job> & Pick<Job, 'kind' | 'name'>,
    options: SendOptions,
  ): Promise<string | undefined> {
    const { messageMs, mailboxMessages } = this.#options.limits;
    const timeoutMs = options.timeoutMs ?? messageMs;
    const waiting = this.#activations.get(id)?.waiting ?? 0;
    if (waiting >= mailboxMessages && part.kind !== 'stop') return Promise.reject(mailboxFull(id, waiting));
    return new Promise((resolve, reject) => {
      const job: Job = {
        from: '',
        ...part,
        id: randomUUID(),
        requestId: options.requestId ?? '',
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
      const activation = this.#activate(id);
      const timer = setTimeout(() => {
        activation.remove(job);
        reject(outOfTime(id, job, timeoutMs));
      }, timeoutMs);
      if (job.kind === 'stop') activation.unshift(job);
      else activation.push(job);
      this.#kick(activation);
    });
  }

  async #sendReadOnly(
    id: string,
    part: Pick<Job, 'kind' | 'name' | 'data' | 'typed'>,
    options: SendOptions,
  ): Promise<string | undefined> {
    const requestId = options.requestId ?? '';
    const job: Job = { ...part, from: '', id: randomUUID(), requestId, attempts: 0, notBefore: 0, begun: true };
    const { reply } = await this.#runner.readOnly(new Activation(id), job);
    return reply;
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
    this.#assertOpen();
    const snapshot = this.#options.committer.snapshot();
    const [letters, head] = await Promise.all([readLetters(snapshot, agentId), readHead(snapshot, agentId)]).finally(
      () => snapshot.release(),
    );
    if (head?.status === 'terminated') throw terminated(agentId);
    const letter = letters.find((one) => String(one.seq) === deadLetterId);
    if (letter === undefined) {
      throw new GraphsteadError('NOT_FOUND', `agent "${agentId}" has no dead letter ${deadLetterId}`);
    }
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

  // Turns

  #activate(id: string): Activation {
    let activation = this.#activations.get(id);
    if (activation === undefined) {
      activation = new Activation(id);
      this.#activations.set(id, activation);
    }
    return activation;
  }

  #kick(activation: Activation): void {
    if (activation.busy || this.#paused) return;
    activation.busy = true;
    this.#running++;
    void this.#work(activation).finally(() => {
      activation.busy = false;
      activation.lastUsed = this.#clock.monotonic();
      this.#running--;
      if (this.#running === 0) this.#drained?.();
      if ((activation.fresh || activation.more) && !this.#paused) this.#kick(activation);
      else if (activation.head?.status === 'terminated' || activation.head === undefined) this.#forget(activation);
    });
  }

  #forget(activation: Activation): void {
    if (activation.waiting === 0 && !activation.busy) this.#activations.delete(activation.id);
  }

  async #work(activation: Activation): Promise<void> {
    clearTimeout(activation.wake);
    activation.wake = undefined;
    await this.#known(activation);
    while (!this.#paused) {
      if (activation.more && !activation.hasStored) await this.#readMailbox(activation);
      activation.fresh = false;
      const next = activation.next(this.#clock.wall());
      if (next === undefined) return;
      if (typeof next === 'number') {
        this.#wakeAt(activation, next);
        return;
      }
      await this.#perform(activation, next);
    }
  }

  /** Reads the head of an agent that was not in memory; what already waits in its mailbox comes with it. */
  async #known(activation: Activation): Promise<void> {
    if (activation.head !== undefined) return;
    const head = await this.#runner.head(activation);
    if (head !== undefined && head.waiting > 0 && activation.read === undefined) activation.more = true;
  }

  #wakeAt(activation: Activation, wall: number): void {
    const wait = Math.min(Math.max(1, wall - this.#clock.wall()), BACKOFF_MOST_MS);
    activation.wake = setTimeout(() => {
      activation.wake = undefined;
      this.#kick(activation);
    }, wait);
    activation.wake.unref();
  }

  async #perform(activation: Activation, job: Job): Promise<void> {
    job.begun = true;
    if (job.alarm !== undefined && !(await this.#stillSet(activation.id, job.alarm))) {
      this.#alarms.done(activation.id, job.alarm.id, job.alarm.at);
      return;
    }
    this.#passing(activation, job);
    let again = false;
    try {
      const { reply } = await this.#runner.run(activation, job);
      this.#turns++;
      job.resolve?.(job.create === undefined ? reply : (reply ?? activation.id));
      if (job.kind === 'stop') this.#refuseAll(activation);
    } catch (error) {
      this.#failures++;
      job.reject?.(error);
      const background = job.stored !== undefined || job.alarm !== undefined;
      again = background && (await this.#failed(activation, job, asError(error)));
    } finally {
      activation.passing = undefined;
      if (job.alarm !== undefined && !again) this.#alarms.done(activation.id, job.alarm.id, job.alarm.at);
    }
  }

  /** An earlier turn may have moved the alarm or taken it back. */
  async #stillSet(id: string, alarm: { readonly id: string; readonly at: number }): Promise<boolean> {
    const snapshot = this.#options.committer.snapshot();
    try {
      return (await readAlarm(snapshot, id, alarm.id))?.at === alarm.at;
    } finally {
      snapshot.release();
    }
  }

  #passing(activation: Activation, job: Job): void {
    const status = job.kind === 'init' ? 'starting' : job.kind === 'stop' ? 'stopping' : undefined;
    if (status === undefined) return;
    activation.passing = status;
    this.#hub.live(activation.id, STATUS_EVENT, JSON.stringify({ status }), this.#clock.wall());
  }

  #refuseAll(activation: Activation): void {
    for (const job of activation.drain()) {
      job.reject?.(terminated(activation.id));
      if (job.alarm !== undefined) this.#alarms.done(activation.id, job.alarm.id, job.alarm.at);
    }
  }

  /** A background job failed: it waits for another try (true), or becomes a dead letter. */
  async #failed(activation: Activation, job: Job, error: GraphsteadError): Promise<boolean> {
    if (error.code === 'NOT_READY') this.#unready.add(activation.id);
    if (error.code === 'AGENT_TERMINATED' || error.code === 'NOT_READY' || this.#closing) return false;
    const attempts = job.attempts + 1;
    const { message } = error;
    this.#log('warn', `"${job.name}" failed, try ${attempts}: ${message}`, activation.id, job.requestId);
    const last = attempts >= this.#options.limits.messageAttempts || isHopeless(error, attempts);
    const notBefore = this.#clock.wall() + Math.min(BACKOFF_MS * 2 ** (attempts - 1), BACKOFF_MOST_MS);
    const ops = last
      ? deadOps(activation, job, attempts, message)
      : retryOps(activation, job, attempts, notBefore, message);
    if (!last) {
      activation.unshift({ ...job, attempts, notBefore, begun: false, resolve: undefined, reject: undefined });
    }
    if (ops.length === 0) return !last;
    try {
      await this.#options.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
      if (last && job.kind === 'init') activation.head = undefined;
    } catch (thrown) {
      this.#log('error', `the failure of "${job.name}" could not be stored: ${asError(thrown).message}`, activation.id);
    }
    return !last;
  }

  async #readMailbox(activation: Activation): Promise<void> {
    activation.missed = false;
    const snapshot = this.#options.committer.snapshot();
    try {
      const entries = await readMailbox(snapshot, activation.id, activation.read, MAILBOX_PAGE);
      const last = entries.at(-1);
      if (last !== undefined) activation.read = { ts: last.ts, n: last.n };
      for (const entry of entries) activation.push(jobOf(entry));
      activation.more = entries.length === MAILBOX_PAGE || activation.missed;
    } finally {
      snapshot.release();
    }
  }

  // What lands

  #landed(records: readonly CommitRecord[]): void {
    this.#hub.landed(records);
    this.#alarms.landed(records);
    this.#sweeper.landed(records);
    for (const { commitTs, parts } of records) {
      const part = parts['agents'] as AgentPart | undefined;
      if (part !== undefined && this.#resumed) this.#deliver(part, commitTs);
    }
  }

  #deliver(part: AgentPart, ts: number): void {
    let n = 0;
    for (const op of part.ops) {
      if (op.op !== 'post' && op.op !== 'spawn') continue;
      const at = n++;
      const activation = this.#activate(op.op === 'post' ? op.to : op.id);
      if (op.op === 'spawn') activation.head = undefined;
      if (activation.more) {
        activation.missed = true;
        this.#kick(activation);
      } else this.#deliverTo(activation, op, ts, at);
    }
  }

  #deliverTo(activation: Activation, op: AgentOp & { op: 'post' | 'spawn' }, ts: number, n: number): void {
    const post = op.op === 'post' ? op : ({ ...op, kind: 'init', name: 'onInitialize' } as const);
    const { kind, name, from } = post;
    const data = 'data' in post ? post.data : undefined;
    const requestId = 'requestId' in post ? post.requestId : undefined;
    const bytes = Buffer.byteLength(JSON.stringify({ kind, name, data, from, requestId }));
    activation.push(jobOf({ kind, name, data, from, requestId, ts, n, bytes, attempts: 0, notBefore: 0 }));
    activation.read = { ts, n };
    this.#kick(activation);
  }

  #ring(alarm: DueAlarm): void {
    const activation = this.#activate(alarm.agentId);
    activation.push({
      kind: 'alarm',
      id: `alarm.${alarm.at}.${alarm.id}`,
      name: alarm.name,
      data: alarm.data,
      from: '',
      requestId: '',
      alarm: { id: alarm.id, at: alarm.at },
      attempts: alarm.attempts ?? 0,
      notBefore: alarm.notBefore ?? 0,
      begun: false,
    });
    this.#kick(activation);
  }

  // What turns ask

  async #turnRpc(activation: Activation, job: Job, rpc: Rpc): Promise<unknown> {
    if (rpc.method !== 'send')
      return callRpc(this, undefined)({ name: job.name, args: [], requestId: job.requestId, key: '' }, rpc);
    const [to, name, data, options] = rpc.args as [
      string,
      string,
      string | undefined,
      SendOptions & { timeout?: number },
    ];
    const { timeout: timeoutMs, typed, idempotencyKey } = options;
    const from = activation.id;
    const given = { timeoutMs, typed, idempotencyKey, from, requestId: job.requestId };
    if (idempotencyKey !== undefined || job.stored === undefined) return this.send(to, name, data, given);
    // A stored message that is tried again gets the replies of what it sent before.
    const body = `${to}\n${name}\n${data ?? ''}`;
    const repeated = claimOf(`turn ${from}`, `${job.id}.${rpc.n}`, body);
    return this.#send(to, name, data, given, repeated).catch((error: unknown) => {
      if (!(error instanceof GraphsteadError) || error.code !== 'IDEMPOTENCY_MISMATCH') throw error;
      const what = `"${name}" to ${to} is not what an earlier try of "${job.name}" sent at this place: it is sent anew`;
      this.#log('warn', what, from, job.requestId);
      return this.#send(to, name, data, given, claimOf(`turn ${from}`, `${job.id}.${rpc.n}.${digest(body)}`, body));
    });
  }

  #describe(id: string): string {
    const type = this.#activations.get(id)?.head?.type;
    return type === undefined ? id : `${type} ${id}`;
  }

  // Memory

  #lookAround(): void {
    this.#suspendIdle();
    if (this.#resumed) void this.#sweeper.look();
  }

  /** Who was idle for long leaves memory, and the longest idle ones when all states together grow too large for the hosts. */
  #suspendIdle(): void {
    if (this.#paused) return;
    const { agentIdleMs, hostHeapMb } = this.#options.limits;
    const before = this.#clock.monotonic() - agentIdleMs;
    const idle: Activation[] = [];
    let bytes = 0;
    for (const activation of this.#activations.values()) {
      if (activation.host !== undefined) bytes += residentBytes(activation);
      const rests = !activation.busy && activation.waiting === 0 && activation.wake === undefined;
      if (rests) idle.push(activation);
    }
    const budget = hostHeapMb * 1024 * 1024 * RESIDENT_SHARE;
    if (bytes > budget) idle.sort((a, b) => a.lastUsed - b.lastUsed);
    let most = SUSPENDED_AT_ONCE;
    for (const activation of idle) {
      if (activation.lastUsed > before && bytes <= budget) continue;
      if (most-- === 0) return;
      bytes -= residentBytes(activation);
      void this.#suspend(activation);
    }
  }

  async #suspend(activation: Activation): Promise<void> {
    const { host } = activation;
    if (host === undefined || host.dead || activation.head?.status !== 'active') {
      this.#forget(activation);
      return;
    }
    const hooks = this.#options.hosts.manifest?.agentTypes.find((type) => type.name === activation.head?.type);
    activation.busy = true;
    activation.passing = 'suspending';
    this.#hub.live(activation.id, STATUS_EVENT, '{"status":"suspending"}', this.#clock.wall());
    try {
      // Every turn ends with its state stored: without a hook there is nothing left to do.
      if (hooks?.onSuspend === false) host.evict(activation.id);
      else await this.#runner.run(activation, suspension());
      this.#hub.live(activation.id, STATUS_EVENT, '{"status":"suspended"}', this.#clock.wall());
    } catch (error) {
      this.#log('error', `onSuspend failed: ${asError(error).message}`, activation.id);
    } finally {
      activation.busy = false;
      activation.passing = undefined;
      activation.host = undefined;
      if (activation.waiting > 0) this.#kick(activation);
      else this.#forget(activation);
    }
  }

  /** One after the other. */
  swap<T>(load: () => Promise<T>): Promise<T> {
    const swapped = this.#swapping.then(() => this.#swap(load));
    this.#swapping = swapped.catch(() => undefined);
    return swapped;
  }

  async #swap<T>(load: () => Promise<T>): Promise<T> {
    await this.#pause();
    try {
      return await load();
    } finally {
      this.#paused = this.#closing;
      for (const id of this.#unready) Object.assign(this.#activate(id), { more: true, read: undefined });
      this.#unready.clear();
      for (const activation of this.#activations.values())
        if (activation.waiting > 0 || activation.more) this.#kick(activation);
    }
  }

  /** No new turns; running ones end; who is in memory is suspended. */
  async #pause(): Promise<void> {
    this.#paused = true;
    if (this.#running > 0) {
      const drained = new Promise<void>((done) => {
        this.#drained = done;
      });
      const patience = new Promise<void>((done) => setTimeout(done, DRAIN_MS).unref());
      await Promise.race([drained, patience]);
      this.#drained = undefined;
    }
    const idle = [...this.#activations.values()].filter((activation) => !activation.busy);
    await Promise.all(idle.map((activation) => this.#suspend(activation)));
  }

  async resume(): Promise<void> {
    if (this.#resumed) return;
    // From here on what lands is delivered; what landed before is found in the store.
    this.#resumed = true;
    for await (const id of waitingAgents(() => this.#options.committer.snapshot())) {
      const head = await this.#head(id);
      if (head === undefined || head.status === 'terminated') continue;
      const activation = this.#activate(id);
      activation.more = true;
      activation.read = undefined;
      for (const job of activation.drain()) if (job.stored === undefined) activation.push(job);
      this.#kick(activation);
    }
    this.#alarms.start();
  }

  stats(): Readonly<Record<string, number>> {
    return {
      agents_in_memory: this.#activations.size,
      turns_running: this.#running,
      turns: this.#turns,
      turn_failures: this.#failures,
      event_subscribers: this.#hub.subscribers,
    };
  }

  /** wall milliseconds at which something waits to be done; Infinity when nothing does */
  nextDue(): number {
    return this.#alarms.next;
  }

  async clockMoved(): Promise<void> {
    for (;;) {
      const before = this.#turns;
      for (const activation of this.#activations.values()) if (activation.wake !== undefined) this.#kick(activation);
      await this.#alarms.look();
      while (this.#running > 0) await rest(SETTLE_LOOK_MS);
      if (this.#turns === before || this.#closing) break;
    }
    await this.#sweeper.look();
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    clearInterval(this.#idle);
    this.#alarms.stop();
    await this.#pause();
    await this.#sweeper.stop();
    this.#unlisten();
    for (const activation of this.#activations.values()) {
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
    const activation = this.#activations.get(id);
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
    if (this.#closing) throw new GraphsteadError('NOT_READY', 'the service is closing');
  }

  #assertSize(message: string, data: string | undefined): void {
    const bytes = Buffer.byteLength(data ?? '');
    const most = this.#options.limits.messageBytes;
    if (bytes <= most) return;
    throw new GraphsteadError('LIMIT_EXCEEDED', `message "${message}" holds ${bytes} bytes of data`, {
      fix: `limits.messageBytes is ${most}: store it in the graph and send its uid`,
    });
  }

  #log(level: 'warn' | 'error', message: string, agentId: string, requestId = ''): void {
    this.#options.log?.({ level, message, agentId, ...(requestId === '' ? {} : { requestId }) });
  }
}

function jobOf(entry: MailboxEntry): Job {
  const { kind, name, data, from, ts, n, bytes, attempts, notBefore } = entry;
  const stored = { ts, n, bytes };
  return {
    kind,
    name,
    data,
    from,
    id: `${ts}.${n}`,
    requestId: entry.requestId ?? '',
    stored,
    attempts,
    notBefore,
    begun: false,
  };
}

/** Another try would end as this one did: an unknown message, or (a second time) code that holds the thread. */
function isHopeless({ code }: GraphsteadError, attempts: number): boolean {
  return code === 'MESSAGE_UNKNOWN' || (code === 'AGENT_TIMEOUT' && attempts >= 2);
}

function residentBytes({ head }: Activation): number {
  return 4_096 * (1 + (head?.chunks ?? 0));
}

function suspension(): Job {
  return {
    kind: 'suspend',
    id: randomUUID(),
    name: 'onSuspend',
    from: '',
    requestId: '',
    attempts: 0,
    notBefore: 0,
    begun: true,
  };
}

function deadOps({ id, head }: Activation, job: Job, attempts: number, error: string): AgentOp[] {
  const { name, data, from, stored: consumed, alarm: fired } = job;
  const dead: AgentOp = { op: 'dead', id, name, data, from, attempts, error, consumed, fired };
  if (job.kind !== 'init') return [dead];
  // It never began: nothing can be sent to it any more.
  return [dead, { op: 'turn', id, expect: head?.turns ?? 0, terminate: true }];
}

function retryOps({ id }: Activation, job: Job, attempts: number, notBefore: number, error: string): AgentOp[] {
  const { stored: message, alarm } = job;
  if (message === undefined && alarm === undefined) return [];
  return [{ op: 'retry', id, message, alarm, attempts, notBefore, error }];
}

/** An agent is a caller of its own, whoever made it run. */
function callerOf({ from, caller = 'anyone' }: SendOptions): string {
  return from === undefined || from === '' ? caller : from;
}

function claimOf(scope: string, key: string | undefined, body: string): Job['claim'] {
  if (key === undefined) return undefined;
  return { scope, key, bodyHash: digest(body) };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function outOfTime(id: string, job: Job, timeoutMs: number): GraphsteadError {
  const what = `"${job.name}" of agent ${id}`;
  if (!job.begun) {
    return new GraphsteadError('AGENT_TIMEOUT', `${what} did not begin within ${timeoutMs} ms and was taken back`, {
      fix: 'the agent is busy: wait longer, or send it with sendMessageAsync',
    });
  }
  return new GraphsteadError(
    'OUTCOME_UNKNOWN',
    `${what} did not end within ${timeoutMs} ms; it may still take effect`,
    {
      fix: 'ask the agent before you send it again, or send it with an idempotencyKey',
    },
  );
}

function assertId(id: unknown): void {
  if (typeof id === 'string' && id !== '') return;
  throw new GraphsteadError('AGENT_ID_MISSING', 'an agent id is missing', {
    fix: 'give the id that starting the agent returned',
  });
}

/** The agents of one service; call `resume` once an app is loaded. */
export function createAgents(options: AgentsOptions): Agents {
  return new AgentRuntime(options);
}
