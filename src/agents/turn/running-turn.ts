import type { Committed, IdempotencyClaim } from '../../commit/index.js';
import { asError, type ErrorCode, type GraphsteadError, type MaybePromise } from '../../base/index.js';
import type { Activation } from '../activation.js';
import { becomesStored, isRefused, type Job } from '../job.js';
import type { Claim } from '../contended.js';
import { NO_EFFECTS, opsOf } from '../effects.js';
import { shardOf } from '../keys.js';
import type { AgentOp, PostOp } from '../part.js';
import type { HostProcess } from '../process/host-process.js';
import type { MadeCalls } from '../process/made-calls.js';
import type { HostTask, Turned } from '../process/task.js';
import type { Effects, EventEffect, Rpc, TurnTask } from '../protocol.js';
import { assertType, isWithoutClass } from '../refusal.js';
import { failureText, StateNotTaken } from '../wire-failure.js';
import { traceOf, tracedTask } from '../process/traced-task.js';
import { freshHead, type Head, headWith, pieces } from '../stored.js';
import { GraphHolder, isGraph } from './graph-holder.js';
import { checkpointClaim, decodeReply, encodeReply, landed } from './reply.js';
import type { RunnerOptions } from './options.js';

/** Reads the stored state of an agent. */
export type LoadState = (id: string, chunks: number) => Promise<string | undefined>;

/** A turn as a host process sees it: what it asks is answered here. */
export class TurnInHost implements HostTask {
  readonly timeoutCode: ErrorCode = 'AGENT_TIMEOUT';
  readonly failureCode: ErrorCode = 'AGENT_FAILED';

  constructor(
    readonly options: RunnerOptions,
    readonly activation: Activation,
    readonly job: Job,
    readonly calls: MadeCalls,
    readonly graph: GraphHolder,
    readonly signal?: HostTask['signal'],
  ) {}

  get label(): HostTask['label'] {
    return { agentId: this.activation.id, operation: this.job.name, requestId: this.job.requestId };
  }

  get wallMs(): number {
    return this.options.limits.turnWallMs;
  }

  rpc(rpc: Rpc): Promise<unknown> {
    if (isGraph(rpc)) return this.graph.answer(rpc);
    return this.options.rpc(this.activation, this.job, rpc);
  }

  live({ name, data }: EventEffect): void {
    this.options.hub.live(this.activation.id, name, data, this.options.clock.wall());
  }
}

/** One try of one job: in a host process, then as one commit. */
export class RunningTurn extends TurnInHost {
  #head: Head | undefined;
  /** where it ran last */
  #host: HostProcess | undefined;
  /** a checkpoint of it is on its way */
  #storing: Promise<void> | undefined;
  /** why a checkpoint of this run failed: what it was to store is not collected again */
  #lost: unknown;

  constructor(
    options: RunnerOptions,
    activation: Activation,
    job: Job,
    calls: MadeCalls,
    readonly claim: Claim,
  ) {
    super(
      options,
      activation,
      job,
      calls,
      new GraphHolder(options.graph, { caller: job.client, asking: activation.id }),
    );
    this.#head = activation.head;
  }

  /** Gives the reply once everything is durable. */
  async run(loadState: LoadState): Promise<string | undefined> {
    const { activation, job } = this;
    const { hosts, trace } = this.options;
    const task = tracedTask(trace, this);
    let turned: Turned;
    try {
      turned = await hosts.execute(shardOf(activation.id), task, (host) => this.#inHost(host, task, loadState));
      if (this.#storing !== undefined) await this.#stored();
      if (this.#lost !== undefined) throw this.#lost;
      this.graph.assertWhole();
    } catch (error) {
      if (this.#storing !== undefined) await this.#stored();
      turned = this.#stopAnyway(this.#lost ?? error);
    }
    activation.host = job.kind === 'suspend' || job.kind === 'stop' ? undefined : this.#host;
    const reply = job.create === undefined ? turned.reply : activation.id;
    const committed = await this.#commit(turned.effects, reply);
    if (activation.passing === 'resuming' && job.kind !== 'suspend') this.#status('running');
    if (committed?.replayed === undefined) return reply;
    this.abandon();
    return decodeReply(committed.replayed);
  }

  /** What onTerminate throws is told, and stops nobody from stopping the agent; nothing that it did lands. */
  #stopAnyway(thrown: unknown): Turned {
    const error = asError(thrown);
    if (this.job.kind !== 'stop' || this.#mayRunLater(error)) throw thrown;
    this.graph.abort();
    const { level, message } = this.#isWithoutClass(error)
      ? { level: 'info' as const, message: `stopped without onTerminate: ${error.message}` }
      : { level: 'error' as const, message: `onTerminate failed: ${failureText(error)}` };
    this.options.log({ level, message, agentId: this.activation.id, requestId: this.job.requestId });
    return { effects: NO_EFFECTS };
  }

  /** It was not the hook that failed: what it tidies up would stay for ever where the agent was stopped without it. */
  #mayRunLater(error: GraphsteadError): boolean {
    if (this.options.closing() || isRefused(error)) return true;
    // whoever asks for a stop now gets it
    if (this.job.stored === undefined) return false;
    return error instanceof StateNotTaken || this.#isWithoutClass(error);
  }

  #isWithoutClass(error: GraphsteadError): boolean {
    return isWithoutClass(this.options.hosts.manifest, this.#head?.type, error);
  }

  /** The instance may be half changed: the next turn loads what is committed. */
  abandon(): void {
    this.graph.abort();
    this.activation.host?.evict(this.activation.id);
    this.activation.host = undefined;
  }

  #inHost(host: HostProcess, task: HostTask, loadState: LoadState): Promise<Turned> {
    // What a run stored before its host died counts: the next one goes on behind it.
    if (this.#storing !== undefined) return this.#stored().then(() => this.#inHost(host, task, loadState));
    this.graph.abort(); // a run in a host that died is forgotten
    this.#lost = undefined;
    this.#host = host;
    if (this.activation.host === host) return host.turn(this.#asked(undefined), task);
    return this.#load(loadState).then((load) => host.turn(this.#asked(load), task));
  }

  #asked(load: TurnTask['load']): TurnTask {
    const { activation, job } = this;
    const { id, name, data, from, attempts, typed, client, requestId, calls } = job;
    return {
      kind: job.kind === 'stop' ? 'terminate' : job.kind,
      agentId: activation.id,
      type: this.#head?.type ?? job.create?.type ?? '',
      load,
      message: { id, name, data, from, attempt: Math.max(attempts + 1, calls === undefined ? 1 : 2), typed },
      requestId,
      calls,
      client,
      ...traceOf(this.options.trace),
    };
  }

  async #load(loadState: LoadState): Promise<NonNullable<TurnTask['load']>> {
    const { activation, job } = this;
    activation.host?.evict(activation.id);
    activation.host = undefined;
    const head = this.#head;
    assertType(this.options.hosts.manifest, (head ?? job.create)?.type ?? '');
    const key = (head ?? job.create)?.key;
    if (job.create !== undefined || head === undefined || head.status === 'starting') return { version: 1, key };
    // a run that follows another has been told of
    if (activation.passing === undefined) this.#status('resuming');
    activation.passing ??= 'resuming';
    return { state: await loadState(activation.id, head.chunks), version: head.version, key };
  }

  #status(status: string): void {
    this.live({ name: 'agentStatusUpdated', data: JSON.stringify({ status }) });
  }

  /** Steps of a handler may go on side by side: each checkpoint follows the one before, and what is asked of the graph behind it, too. */
  override rpc(rpc: Rpc): Promise<unknown> {
    const before = this.#storing;
    if (rpc.method !== 'checkpoint') {
      return before !== undefined && isGraph(rpc) ? before.then(() => super.rpc(rpc)) : super.rpc(rpc);
    }
    const storing = before === undefined ? this.#checkpoint(rpc) : before.then(() => this.#checkpoint(rpc));
    this.#storing = storing;
    return storing;
  }

  /** A checkpoint that is on its way has landed, or not. */
  async #stored(): Promise<void> {
    await this.#storing?.catch(() => undefined);
    this.#storing = undefined;
  }

  async #checkpoint(rpc: Rpc): Promise<void> {
    try {
      // what other steps of the handler write lands with it
      await this.graph.settled();
      this.graph.assertWhole();
      const calls = rpc.n + 1;
      const committed = await this.#commit(rpc.args[0] as Effects, undefined, calls);
      // Where nothing landed, nothing tells the next run that it need not make them.
      if (committed !== undefined) landed(this.job, calls);
    } catch (thrown) {
      // A handler may catch it: what it does then must not land without what came before.
      this.#lost = thrown;
      throw thrown;
    }
  }

  /** Makes effects durable; a job that changed nothing needs no commit. */
  #commit(effects: Effects, reply: string | undefined, upTo?: number): MaybePromise<Committed | undefined> {
    const { activation, job, graph } = this;
    const expect = this.#head?.turns ?? job.create?.turns ?? 0;
    const history = effects.state === undefined ? 0 : this.#kept();
    const begun = this.#head !== undefined;
    const wall = this.options.clock.wall();
    const ops = opsOf({ id: activation.id, expect, job, upTo, begun, history, wrote: graph.wrote, wall }, effects);
    const final = upTo === undefined;
    if (ops.length === 0 && !graph.wrote && !(final && job.claim !== undefined)) {
      graph.abort();
      return undefined;
    }
    const claim = final ? job.claim && { ...job.claim, reply: encodeReply(reply) } : checkpointClaim(job, upTo);
    if (!graph.lands) return this.#land(effects, ops, claim);
    return this.claim.enter(() => graph.keys()).then(() => this.#land(effects, ops, claim));
  }

  #land(effects: Effects, ops: readonly AgentOp[], claim: IdempotencyClaim | undefined): Promise<Committed> {
    return this.graph.commit(this.options.committer, ops, claim).then((committed) => {
      this.claim.letGo();
      if (committed.replayed === undefined && ops.length > 0) this.#advance(effects, ops, committed.wall);
      const round = this.job.alarm && ops.find((op): op is PostOp => op.op === 'post' && op.begun !== undefined);
      if (round !== undefined) becomesStored(this.job, round, committed.commitTs);
      return committed;
    });
  }

  /** States that the agent's class keeps. */
  #kept(): number {
    const type = (this.#head ?? this.job.create)?.type;
    return this.options.hosts.manifest?.agentTypes.find(({ name }) => name === type)?.history ?? 0;
  }

  /** What the applier did to the head, as far as it is needed here. */
  #advance(effects: Effects, ops: readonly AgentOp[], wall: number): void {
    if (ops[0]?.op !== 'turn') return;
    const before = this.#head ?? freshHead(this.job.create ?? { type: '' }, wall, 'active');
    const bytes = effects.state === undefined ? undefined : Buffer.byteLength(effects.state);
    const chunks = bytes === undefined ? before.chunks : bytes === 0 ? 0 : pieces(bytes);
    const status = this.job.kind === 'stop' ? 'terminated' : 'active';
    const version = effects.version ?? before.version;
    const own = ops.length === 1 ? 0 : ops.filter((op) => op.op === 'post' && op.to === this.activation.id).length;
    const waiting = before.waiting + own;
    this.#head = headWith(before, { status, turns: before.turns + 1, chunks, version, waiting });
    this.activation.head = this.#head;
  }
}
