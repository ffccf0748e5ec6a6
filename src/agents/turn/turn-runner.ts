import { GraphsteadError } from '../../base/index.js';
import { aborted, type Snapshot } from '../../commit/index.js';
import { Activation } from '../activation.js';
import { apart } from '../contended.js';
import type { Job } from '../job.js';
import { shardOf } from '../keys.js';
import { MadeCalls } from '../process/made-calls.js';
import { readHead, readKnownHead, readNow, readState } from '../reader.js';
import { terminated, unknownAgent } from '../refusal.js';
import type { HostTask } from '../process/task.js';
import { traceOf, tracedTask } from '../process/traced-task.js';
import type { Head } from '../stored.js';
import { GraphHolder } from './graph-holder.js';
import { checkpointsOf, decodeReply } from './reply.js';
import type { RunnerOptions } from './options.js';
import { type LoadState, RunningTurn, TurnInHost } from './running-turn.js';
import { turnStep } from './step.js';

/** runs of a turn whose commit met another one, before TURN_CONFLICT */
const CONFLICT_TRIES = 4;

/** Runs jobs of agents. */
export class TurnRunner {
  readonly #loadState: LoadState = (id, chunks) => this.#read((snapshot) => readState(snapshot, id, chunks));

  constructor(readonly options: RunnerOptions) {}

  /** The newest head; kept by the activation, which is the only one to write it. */
  async head(activation: Activation): Promise<Head | undefined> {
    activation.head ??= await this.#read((snapshot) => readHead(snapshot, activation.id));
    return activation.head;
  }

  #read<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return readNow(this.options.committer, read);
  }

  /** Both of one moment: a turn of the agent may commit meanwhile. Throws AGENT_UNKNOWN, AGENT_TERMINATED. */
  #committed(id: string): Promise<{ readonly head: Head; readonly state: string | undefined }> {
    return this.#read(async (snapshot) => {
      const head = await readKnownHead(snapshot, id);
      if (head.status === 'terminated') throw terminated(id);
      return { head, state: await readState(snapshot, id, head.chunks) };
    });
  }

  /**
   * Gives the reply once it is durable. Rejects with what the handler threw, or why its effects could not land; then nothing of
   * it did. Most jobs have nothing to wait for before their turn.
   */
  run(activation: Activation, job: Job): Promise<string | undefined> {
    const isPlain = job.create === undefined && job.reads !== true && job.claim === undefined;
    if (isPlain && isLiving(activation.head)) return this.#turn(activation, job, activation.head?.type);
    return this.#run(activation, job);
  }

  async #run(activation: Activation, job: Job): Promise<string | undefined> {
    const head = activation.head ?? (activation.isNew ? undefined : await this.head(activation));
    if (head === undefined && job.create === undefined) throw unknownAgent(activation.id);
    if (head?.status === 'terminated' && job.create?.key === undefined) throw terminated(activation.id);
    if (job.create !== undefined && isLiving(head)) return activation.id;
    if (job.create !== undefined) activation.head = undefined;
    if (job.reads) return this.readOnly(new Activation(activation.id), job);
    if (job.claim !== undefined) {
      const reply = await this.#replyOf(job.claim);
      if (reply !== undefined) return decodeReply(reply);
      await checkpointsOf(job, (claim) => this.#replyOf(claim));
    }
    return this.#turn(activation, job, head?.type ?? job.create?.type);
  }

  #turn(activation: Activation, job: Job, type: string | undefined): Promise<string | undefined> {
    const { trace } = this.options;
    if (!trace.on) return this.#tries(activation, job);
    return trace.step(`turn ${type}`, turnStep(activation, job), () => this.#tries(activation, job));
  }

  #replyOf({ scope, key, bodyHash }: NonNullable<Job['claim']>): Promise<Uint8Array | undefined> {
    return this.options.committer.idempotentReply(scope, key, bodyHash);
  }

  /** Not async: most turns meet nobody, and each promise more is felt in what a message costs. */
  #tries(activation: Activation, job: Job): Promise<string | undefined> {
    const claim = this.options.contended.claim();
    const turn = new RunningTurn(this.options, activation, job, new MadeCalls(), claim);
    return turn.run(this.#loadState).then(
      (reply) => {
        claim.letGo();
        return reply;
      },
      (error) => this.#triesAgain(turn, error),
    );
  }

  async #triesAgain(first: RunningTurn, failure: unknown): Promise<string | undefined> {
    const { activation, job, calls, claim } = first;
    let turn = first;
    let error = failure;
    try {
      for (let tries = 1; ; tries++) {
        turn.abandon();
        if (!(error instanceof GraphsteadError) || error.code !== 'TXN_ABORTED') throw error;
        if (await this.#isStartedByNow(activation, job)) return activation.id;
        if (tries >= CONFLICT_TRIES) throw turnConflict(activation.id, job, error);
        claim.lost = true;
        if (!claim.holding) await apart(10 * 3 ** tries);
        turn = new RunningTurn(this.options, activation, job, calls, claim);
        try {
          return await turn.run(this.#loadState);
        } catch (thrown) {
          error = thrown;
        }
      }
    } finally {
      claim.letGo();
    }
  }

  /**
   * Another writer came first, or the head kept here was not the newest: reads it anew. True for one that was to be started
   * where a turn of another agent has started it by its key.
   */
  async #isStartedByNow(activation: Activation, job: Job): Promise<boolean> {
    if (job.create === undefined) activation.head = undefined;
    const starts = job.create !== undefined && activation.head === undefined;
    const head = await this.head(activation);
    if (!starts) return false;
    if (!isLiving(head)) activation.head = undefined;
    return isLiving(head);
  }

  /** Runs a read-only handler on the last committed state, beside whatever runs, as long as its sender waits. */
  async readOnly(activation: Activation, job: Job, sender?: HostTask['signal']): Promise<string | undefined> {
    const { head, state } = await this.#committed(activation.id);
    const graph = new GraphHolder(this.options.graph, { caller: job.client, readOnly: true, asking: activation.id });
    const inHost = new TurnInHost(this.options, activation, job, new MadeCalls(), graph, sender);
    const { id, name, data, from, typed, client } = job;
    const task = {
      kind: 'message',
      agentId: activation.id,
      type: head.type,
      load: { state, version: head.version, key: head.key },
      readOnly: true,
      message: { id, name, data, from, typed, attempt: 1 },
      client,
      requestId: job.requestId,
    } as const;
    const { hosts, trace } = this.options;
    const turn = () => {
      const traced = tracedTask(trace, inHost);
      return hosts.execute(shardOf(activation.id), traced, (host) => host.turn({ ...task, ...traceOf(trace) }, traced));
    };
    try {
      return (await trace.step(`turn ${head.type}`, turnStep(activation, job), turn)).reply;
    } finally {
      graph.abort();
    }
  }
}

/** Not where one by the same key was stopped. */
function isLiving(head: Head | undefined): boolean {
  return head !== undefined && head.status !== 'terminated';
}

function turnConflict(id: string, job: Job, cause: GraphsteadError): GraphsteadError {
  return new GraphsteadError(
    'TURN_CONFLICT',
    `"${job.name}" of agent ${id} met other commits ${CONFLICT_TRIES} times`,
    {
      fix: fixOfConflict(cause),
      cause,
    },
  );
}

/** Whoever refused the last commit may know more of it than that another one came first. */
function fixOfConflict({ fix }: GraphsteadError): string {
  if (fix !== aborted().fix) return fix;
  return 'send it again; what many write at the same time is best left to one agent, which they send messages';
}
