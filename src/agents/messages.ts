import { GraphsteadError, type Limits, type MaybePromise } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import { Activation } from './activation.js';
import type { SendArgs } from './call-rpc.js';
import type { DeadLetter, DeadLetterPage, SendOptions } from './contract.js';
import { callerOf, claimOf, digest, freshJobId, lastingId, type Job, outOfTime } from './job.js';
import type { AgentOp } from './part.js';
import type { Mail } from './outbox.js';
import type { HostPool } from './process/host-pool.js';
import type { Rpc } from './protocol.js';
import type { AgentLog, Ordered, Queues } from './queues.js';
import { readHead, readKnownHead, readLetter, readLetters, readNow, toDeadLetter } from './reader.js';
import {
  assertId,
  closing,
  LETTER_ID,
  mayOnlyRead,
  noLetter,
  notInTransaction,
  ofOtherType,
  terminated,
  unknownAgent,
} from './refusal.js';
import type { Head } from './stored.js';
import type { Sweeper } from './sweeper.js';
import type { TurnRunner } from './turn/turn-runner.js';
import { WaitGraph } from './wait-graph.js';

/** dead letters of a page that does not say how many */
const LETTERS_TOLD = 100;

interface MessagesOptions {
  readonly committer: Committer;
  readonly limits: Limits;
  readonly hosts: Pick<HostPool, 'manifest'>;
  readonly queues: Queues;
  readonly runner: TurnRunner;
  readonly sweeper: Sweeper;
  readonly log: AgentLog;
}

/** A message whose sender waits for its reply. */
interface Sent {
  readonly message: string;
  readonly data: string | undefined;
  readonly options: SendOptions;
  readonly claim?: Job['claim'];
}

/** What is said to agents: from outside, from functions and from turns. */
export class Messages implements Mail {
  readonly #waits = new WaitGraph();

  constructor(readonly options: MessagesOptions) {}

  /** See Agents. */
  send(id: string, message: string, data: string | undefined, options: SendOptions): Promise<string | undefined> {
    const { idempotencyKey } = options;
    if (idempotencyKey === undefined) return this.#send(id, { message, data, options });
    const claim = claimOf(`agent ${id} ${callerOf(options)}`, idempotencyKey, `${message}\n${data ?? ''}`);
    return this.#send(id, { message, data, options, claim });
  }

  /** Not async: most heads are known, and each promise more is felt in what a message costs. */
  #send(id: string, sent: Sent): Promise<string | undefined> {
    try {
      assertId(id);
      this.assertTaken(sent.message, sent.data);
      const head = this.head(id);
      return head instanceof Promise ? head.then((read) => this.#sendTo(id, read, sent)) : this.#sendTo(id, head, sent);
    } catch (refusal) {
      return Promise.reject(refusal);
    }
  }

  #sendTo(id: string, head: Head | undefined, { message, data, options, claim }: Sent): Promise<string | undefined> {
    const { queues } = this.options;
    const { typed, client, from = '' } = options;
    if (head === undefined) throw unknownAgent(id);
    if (options.type !== undefined && head.type !== options.type) throw ofOtherType(id, options.type);
    if (head.status === 'terminated') throw terminated(id);
    const order: Ordered = { kind: 'message', name: message, data, typed, client, claim, from };
    if (this.#isReadOnly(head.type, message)) {
      // before its first commit there is nothing to read
      if (head.status === 'starting') return queues.submit(id, { ...order, reads: true }, options);
      return this.#sendReadOnly(id, order, options);
    }
    if (options.readOnly === true) {
      throw mayOnlyRead(
        `message "${message}" to ${head.type}`,
        '; list a message that changes nothing in `static readOnly`',
      );
    }
    if (options.inTransaction === true) throw notInTransaction(`message "${message}" to ${head.type}, with its reply,`);
    if (from === '') return queues.submit(id, order, options);
    const leave = this.#waits.wait(from, id, (one) => this.#describe(one));
    return queues.submit(id, order, options).finally(leave);
  }

  /** See Agents. */
  async sendAsync(id: string, message: string, data: string | undefined, options: SendOptions): Promise<string> {
    assertId(id);
    this.assertTaken(message, data);
    const { from = '', typed, requestId } = options;
    const claim = claimOf(`mail ${id} ${callerOf(options)}`, options.idempotencyKey, `${message}\n${data ?? ''}`);
    const post: AgentOp = { op: 'post', to: id, from, kind: 'message', name: message, data, typed, requestId };
    const head = await this.head(id);
    if (head?.status === 'terminated') throw terminated(id);
    const committed = await this.options.committer.commit({
      startTs: 0,
      parts: { agents: { ops: [post] } },
      conflicts: [],
      ...(claim === undefined ? {} : { idempotency: { ...claim, reply: new Uint8Array(0) } }),
    });
    return `${committed.commitTs}.0`;
  }

  /** A synchronous message of a turn: the agent waits for the other's reply. */
  async sendInTurn({ id: from }: Activation, job: Job, { args, n }: Rpc): Promise<string | undefined> {
    const [to, name, { timeout: timeoutMs, typed, idempotencyKey }, data] = args as SendArgs;
    const given = { timeoutMs, typed, idempotencyKey, from, requestId: job.requestId };
    const lasting = lastingId(from, job);
    if (idempotencyKey !== undefined || lasting === undefined) return this.send(to, name, data, given);
    // A job that is tried again, by this process or the next, gets the replies of what it sent before.
    const body = `${to}\n${name}\n${data ?? ''}`;
    const repeated = claimOf('turn', `${lasting}.${n}`, body);
    const sent = { message: name, data, options: given };
    return this.#send(to, { ...sent, claim: repeated }).catch((error: unknown) => {
      if (!(error instanceof GraphsteadError) || error.code !== 'IDEMPOTENCY_MISMATCH') throw error;
      const what = `"${name}" to ${to} is not what an earlier try of "${job.name}" sent at this place: it is sent anew`;
      this.options.log('warn', what, from, job.requestId);
      return this.#send(to, { ...sent, claim: claimOf('turn', `${lasting}.${n}.${digest(body)}`, body) });
    });
  }

  #sendReadOnly(id: string, order: Ordered, options: SendOptions): Promise<string | undefined> {
    const { limits, runner } = this.options;
    const { requestId = '', timeoutMs = limits.messageMs } = options;
    const { kind, name, data, typed, client } = order;
    const begun = { from: '', id: freshJobId(), attempts: 0, notBefore: 0, begun: true };
    const job: Job = { kind, name, data, typed, client, requestId, reads: true, ...begun };
    const sender = { aborted: false };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        sender.aborted = true;
        reject(outOfTime(id, job, timeoutMs));
      }, timeoutMs);
      const asked = runner.readOnly(new Activation(id), job, sender).finally(() => clearTimeout(timer));
      asked.then(resolve, reject);
    });
  }

  #isReadOnly(type: string, message: string): boolean {
    const types = this.options.hosts.manifest?.agentTypes;
    return types?.find((one) => one.name === type)?.readOnly.includes(message) ?? false;
  }

  async deadLetters(agentId: string, { first = LETTERS_TOLD, after }: DeadLetterPage): Promise<readonly DeadLetter[]> {
    assertId(agentId);
    return readNow(this.options.committer, async (snapshot) => {
      await readKnownHead(snapshot, agentId);
      const letters = await readLetters(snapshot, agentId, first, after === undefined ? undefined : Number(after));
      return letters.map((letter) => toDeadLetter(agentId, letter));
    });
  }

  /** Delivers a dead letter anew. */
  async replay(agentId: string, deadLetterId: string): Promise<void> {
    assertId(agentId);
    if (this.options.queues.closing) throw closing();
    const head = await readNow(this.options.committer, (snapshot) => readKnownHead(snapshot, agentId));
    if (head.status === 'terminated') throw terminated(agentId);
    const letter = LETTER_ID.test(deadLetterId)
      ? await readNow(this.options.committer, (snapshot) => readLetter(snapshot, agentId, Number(deadLetterId)))
      : undefined;
    if (letter === undefined) throw noLetter(agentId, deadLetterId);
    const { kind = 'message', name, data, typed, from, seq, bytes } = letter;
    const ops: AgentOp[] = [
      { op: 'replay', id: agentId, seq, bytes },
      { op: 'post', to: agentId, from, kind, name, data, typed },
    ];
    await this.options.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
  }

  /** The newest that is known of an agent. */
  head(id: string): MaybePromise<Head | undefined> {
    return this.options.queues.activations.get(id)?.head ?? this.#stored(id);
  }

  clear(id: string): Promise<unknown> {
    return this.options.sweeper.clear(id);
  }

  get manifest(): HostPool['manifest'] {
    return this.options.hosts.manifest;
  }

  #stored(id: string): Promise<Head | undefined> {
    return readNow(this.options.committer, (snapshot) => readHead(snapshot, id));
  }

  #describe(id: string): string {
    const type = this.options.queues.activations.get(id)?.head?.type;
    return type === undefined ? id : `${type} ${id}`;
  }

  /** Throws NOT_READY, LIMIT_EXCEEDED. */
  assertTaken(message: string, data: string | undefined): void {
    if (this.options.queues.closing) throw closing();
    const most = this.options.limits.messageBytes;
    const bytes = Buffer.byteLength(message) + (data === undefined ? 0 : Buffer.byteLength(data));
    if (bytes <= most) return;
    throw new GraphsteadError('LIMIT_EXCEEDED', `message "${message.slice(0, 100)}" holds ${bytes} bytes`, {
      fix: `limits.messageBytes is ${most}: store it in the graph and send its uid`,
    });
  }
}
