import { type Clock, GraphsteadError, type Limits, type Trace } from '../base/index.js';
import type { Committed, Committer, Snapshot } from '../commit/index.js';
import type { Activation, Job } from './activation.js';
import { terminated, unknownAgent } from './applier.js';
import type { GraphCalls, GraphTransaction, HostLog } from './contract.js';
import { NO_EFFECTS, opsOf } from './effects.js';
import type { EventHub } from './event-hub.js';
import type { HostPool } from './host-pool.js';
import type { HostProcess, Rpc, TaskOptions, Turned } from './host-process.js';
import { shardOf } from './keys.js';
import { isMutation } from './graph-calls.js';
import { answerGraph } from './graph-rpc.js';
import type { AgentOp } from './part.js';
import type { Effects, TurnKind } from './protocol.js';
import { readHead, readState } from './reader.js';
import { traceOf, tracedTask, turnStep } from './steps.js';
import { type Head, pieces } from './stored.js';

/** tries of a turn whose commit met another one, before TURN_CONFLICT */
const CONFLICT_TRIES = 3;

export interface RunnerOptions {
  readonly committer: Committer;
  readonly hosts: HostPool;
  readonly graph: GraphCalls | undefined;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly hub: EventHub;
  readonly trace: Trace;
  readonly log: (entry: HostLog) => void;
  /** what a turn asks of other agents */
  readonly rpc: (activation: Activation, job: Job, rpc: Rpc) => Promise<unknown>;
}

/** Calls that all runs of a turn share. */
type Calls = Pick<TaskOptions, 'journal' | 'asked'>;

/** What is told of a turn once it is durable. */
export interface Outcome {
  readonly reply: string | undefined;
}

/** Runs one job of an agent: in a host process, then as one commit. */
export class TurnRunner {
  constructor(readonly options: RunnerOptions) {}

  /** The newest head; kept by the activation, which is the only one to write it. */
  async head(activation: Activation): Promise<Head | undefined> {
    if (activation.head !== undefined) return activation.head;
    activation.head = await this.#read((snapshot) => readHead(snapshot, activation.id));
    return activation.head;
  }

  async #read<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const snapshot = this.options.committer.snapshot();
    try {
      return await read(snapshot);
    } finally {
      snapshot.release();
    }
  }

  /** Throws what the handler threw, or why its effects could not land; then nothing of it did. */
  async run(activation: Activation, job: Job): Promise<Outcome> {
    const head = await this.head(activation);
    if (head === undefined && job.create === undefined) throw unknownAgent(activation.id);
    if (head?.status === 'terminated') throw terminated(activation.id);
    const claimed = await this.#earlierReply(job);
    if (claimed !== undefined) return claimed;
    const calls: Calls = { journal: new Map(), asked: new Map() };
    return this.options.trace.step(`turn ${head?.type ?? job.create}`, turnStep(activation, job), () =>
      this.#tries(activation, job, calls),
    );
  }

  async #tries(activation: Activation, job: Job, calls: Calls): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      const turn = new RunningTurn(this.options, activation, job, calls);
      try {
        return await turn.run((id, chunks) => this.#read((snapshot) => readState(snapshot, id, chunks)));
      } catch (error) {
        turn.abandon();
        if (!(error instanceof GraphsteadError) || error.code !== 'TXN_ABORTED') throw error;
        // Another writer came first, or the head kept here was not the newest: read it anew.
        activation.head = job.create === undefined ? undefined : activation.head;
        await this.head(activation);
        if (tries >= CONFLICT_TRIES) throw turnConflict(activation.id, job, error);
      }
    }
  }

  /** Runs a read-only handler on the last committed state, beside whatever runs. */
  async readOnly(activation: Activation, job: Job): Promise<Outcome> {
    const head = await this.#read((snapshot) => readHead(snapshot, activation.id));
    if (head === undefined) throw unknownAgent(activation.id);
    if (head.status === 'terminated') throw terminated(activation.id);
    const state = await this.#read((snapshot) => readState(snapshot, activation.id, head.chunks));
    const { hosts } = this.options;
    const options = taskOptions(this.options, activation, job, { journal: new Map(), asked: new Map() });
    const graph = new GraphHolder(this.options.graph, true);
    const { id, name, data, from, typed } = job;
    const task = {
      kind: 'message',
      agentId: activation.id,
      type: head.type,
      load: { state, version: head.version },
      readOnly: true,
      message: { id, name, data, from, typed, attempt: 1 },
      requestId: job.requestId,
    } as const;
    const { trace } = this.options;
    const asked = { ...options, rpc: (rpc: Rpc) => (isGraph(rpc) ? graph.answer(rpc) : options.rpc(rpc)) };
    const turn = () => {
      const watched = tracedTask(trace, asked);
      const traced = { ...task, ...traceOf(trace) };
      return hosts.execute(shardOf(activation.id), watched, (host) => host.turn(traced, watched));
    };
    try {
      const { reply } = await trace.step(`turn ${head.type}`, turnStep(activation, job), turn);
      return { reply };
    } finally {
      graph.abort();
    }
  }

  async #earlierReply(job: Job): Promise<Outcome | undefined> {
    if (job.claim === undefined) return undefined;
    const { scope, key, bodyHash } = job.claim;
    const reply = await this.options.committer.idempotentReply(scope, key, bodyHash);
    return reply === undefined ? undefined : { reply: decodeReply(reply) };
  }
}

/** One try of one job. */
class RunningTurn {
  readonly #graph: GraphHolder;
  #head: Head | undefined;

  constructor(
    readonly options: RunnerOptions,
    readonly activation: Activation,
    readonly job: Job,
    readonly calls: Calls,
  ) {
    this.#graph = new GraphHolder(options.graph);
    this.#head = activation.head;
  }

  async run(loadState: (id: string, chunks: number) => Promise<string | undefined>): Promise<Outcome> {
    const { activation, job } = this;
    const turned = await this.#inHost(loadState).catch((error: unknown) => this.#stopAnyway(error));
    const reply = job.create === undefined ? turned.reply : activation.id;
    const committed = await this.#commit(turned.effects, reply, true);
    if (activation.passing === 'resuming' && job.kind !== 'suspend') this.#status('running');
    if (committed?.replayed !== undefined) {
      this.abandon();
      return { reply: decodeReply(committed.replayed) };
    }
    return { reply };
  }

  /** What onTerminate throws is told, and stops nobody from stopping the agent. */
  #stopAnyway(error: unknown): Turned {
    if (this.job.kind !== 'stop') throw error;
    const agentId = this.activation.id;
    const message = `onTerminate failed: ${error instanceof Error ? error.message : String(error)}`;
    this.options.log({ level: 'error', message, agentId, requestId: this.job.requestId });
    return { effects: NO_EFFECTS };
  }

  /** The instance may be half changed: the next turn loads what is committed. */
  abandon(): void {
    this.#graph.abort();
    this.activation.host?.evict(this.activation.id);
    this.activation.host = undefined;
  }

  async #inHost(loadState: (id: string, chunks: number) => Promise<string | undefined>): Promise<Turned> {
    const { activation, job, options } = this;
    const task = taskOptions(options, activation, job, this.calls);
    const watched = tracedTask(options.trace, { ...task, rpc: (rpc) => this.#answer(rpc) });
    return options.hosts.execute(shardOf(activation.id), watched, async (host) => {
      this.#graph.abort(); // a run in a host that died is forgotten
      const load = await this.#load(host, loadState);
      const turned = await host.turn(
        {
          kind: turnKind(job),
          agentId: activation.id,
          type: this.#head?.type ?? job.create ?? '',
          ...(load === undefined ? {} : { load }),
          message: {
            id: job.id,
            name: job.name,
            data: job.data,
            from: job.from,
            attempt: job.attempts + 1,
            typed: job.typed,
          },
          requestId: job.requestId,
          ...traceOf(options.trace),
        },
        watched,
      );
      activation.host = job.kind === 'suspend' || job.kind === 'stop' ? undefined : host;
      return turned;
    });
  }

  async #load(
    host: HostProcess,
    loadState: (id: string, chunks: number) => Promise<string | undefined>,
  ): Promise<{ state?: string; version: number } | undefined> {
    const { activation, job } = this;
    if (activation.host === host) return undefined;
    activation.host?.evict(activation.id);
    activation.host = undefined;
    const head = this.#head;
    if (job.create !== undefined || head === undefined || head.status === 'starting') return { version: 1 };
    activation.passing ??= 'resuming';
    if (job.kind === 'message' || job.kind === 'alarm') this.#status('resuming');
    return { state: await loadState(activation.id, head.chunks), version: head.version };
  }

  #status(status: string): void {
    const { hub, clock } = this.options;
    hub.live(this.activation.id, 'agentStatusUpdated', JSON.stringify({ status }), clock.wall());
  }

  async #answer(rpc: Rpc): Promise<unknown> {
    if (isGraph(rpc)) return this.#graph.answer(rpc);
    if (rpc.method !== 'checkpoint') return this.options.rpc(this.activation, this.job, rpc);
    await this.#commit(rpc.args[0] as Effects, undefined, false);
    return undefined;
  }

  /** Makes effects durable; a job that changed nothing needs no commit. */
  async #commit(effects: Effects, reply: string | undefined, final: boolean): Promise<Committed | undefined> {
    const { activation, job } = this;
    const expect = this.#head?.turns ?? 0;
    const ops = opsOf({ id: activation.id, expect, job, final, begun: this.#head !== undefined }, effects);
    const claim = final && job.claim !== undefined ? { ...job.claim, reply: encodeReply(reply) } : undefined;
    if (ops.length === 0 && claim === undefined && !this.#graph.wrote) {
      this.#graph.abort();
      return undefined;
    }
    const committed = await this.#graph.commit(this.options.committer, ops, claim);
    if (committed.replayed === undefined && ops.length > 0) this.#advance(effects, ops);
    return committed;
  }

  /** What the applier did to the head, as far as it is needed here. */
  #advance(effects: Effects, ops: readonly AgentOp[]): void {
    if (ops[0]?.op !== 'turn') return;
    const before = this.#head ?? fresh(this.job.create ?? '', this.options.clock.wall());
    const bytes = effects.state === undefined ? undefined : Buffer.byteLength(effects.state);
    const chunks = bytes === undefined ? before.chunks : bytes === 0 ? 0 : pieces(bytes);
    const status = this.job.kind === 'stop' ? 'terminated' : 'active';
    const version = effects.version ?? before.version;
    this.#head = { ...before, status, turns: before.turns + 1, chunks, version };
    this.activation.head = this.#head;
  }
}

/** A task's one graph transaction, begun by its first use of the graph. */
export class GraphHolder {
  #transaction: Promise<GraphTransaction> | undefined;
  wrote = false;

  constructor(
    readonly graph: GraphCalls | undefined,
    readonly readOnly = false,
  ) {}

  async answer(rpc: Rpc): Promise<unknown> {
    if (this.graph === undefined) throw new GraphsteadError('NOT_READY', 'this service has no graph');
    this.#transaction ??= this.graph.begin();
    const writes = rpc.method === 'graph.mutate' || (rpc.method === 'graph.graphql' && isMutation(String(rpc.args[1])));
    if (writes && this.readOnly) {
      throw new GraphsteadError('INVALID_REQUEST', `a change with ${rpc.method} in a read-only handler`, {
        fix: 'take the message out of `static readOnly`, or move the change to another message',
      });
    }
    if (writes) this.wrote = true;
    return answerGraph(await this.#transaction, rpc);
  }

  abort(): void {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    this.wrote = false;
    transaction?.then(
      (open) => open.abort(),
      () => undefined,
    );
  }

  async commit(committer: Committer, ops: readonly AgentOp[], claim: Claim | undefined): Promise<Committed> {
    const parts = ops.length === 0 ? {} : { agents: { ops } };
    if (this.#transaction === undefined || !this.wrote) {
      this.abort();
      return committer.commit({
        startTs: 0,
        parts,
        conflicts: [],
        ...(claim === undefined ? {} : { idempotency: claim }),
      });
    }
    const transaction = await this.#transaction;
    this.#transaction = undefined;
    this.wrote = false;
    return transaction.commit({ parts, ...(claim === undefined ? {} : { idempotency: claim }) });
  }
}

type Claim = NonNullable<Parameters<Committer['commit']>[0]['idempotency']>;

function taskOptions(options: RunnerOptions, activation: Activation, job: Job, { journal, asked }: Calls): TaskOptions {
  return {
    label: { agentId: activation.id, operation: job.name, requestId: job.requestId },
    wallMs: options.limits.turnWallMs,
    timeoutCode: 'AGENT_TIMEOUT',
    failureCode: 'AGENT_FAILED',
    journal,
    asked,
    rpc: (rpc) => options.rpc(activation, job, rpc),
    live: (event) => options.hub.live(activation.id, event.name, event.data, options.clock.wall()),
  };
}

function turnKind(job: Job): TurnKind {
  return job.kind === 'stop' ? 'terminate' : job.kind;
}

function isGraph(rpc: Rpc): boolean {
  return rpc.method.startsWith('graph.');
}

function fresh(type: string, wall: number): Head {
  return {
    type,
    status: 'active',
    startedAt: wall,
    turns: 0,
    version: 1,
    chunks: 0,
    events: [1, 1],
    letters: [1, 1],
    dead: 0,
    waiting: 0,
    alarms: 0,
  };
}

export function encodeReply(reply: string | undefined): Uint8Array {
  return Buffer.from(JSON.stringify({ reply }), 'utf8');
}

function decodeReply(bytes: Uint8Array): string | undefined {
  return (JSON.parse(Buffer.from(bytes).toString('utf8')) as { reply?: string }).reply;
}

function turnConflict(id: string, job: Job, cause: GraphsteadError): GraphsteadError {
  return new GraphsteadError(
    'TURN_CONFLICT',
    `"${job.name}" of agent ${id} met other commits ${CONFLICT_TRIES} times`,
    {
      fix: 'send it again; touch fewer nodes that others write at the same time',
      cause,
    },
  );
}
