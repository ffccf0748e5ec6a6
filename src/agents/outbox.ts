import { GraphsteadError, type Limits, type MaybePromise } from '../base/index.js';
import { freshAgentId, keyedAgentId } from './agent-id.js';
import type { AgentType } from './info.js';
import type { AgentOp, PostOp, SpawnOp } from './part.js';
import { assertId, assertOver, assertType, stoppedWithIt, terminated, unknownAgent } from './refusal.js';
import type { Head } from './stored.js';

/** What tells whether agents can be reached. */
export interface Mail {
  /** Throws NOT_READY, LIMIT_EXCEEDED. */
  assertTaken(message: string, data: string | undefined): void;
  head(id: string): MaybePromise<Head | undefined>;
  /** Takes away what a stopped agent left, where one is to begin anew. */
  clear(id: string): Promise<unknown>;
  readonly manifest: { readonly agentTypes: readonly AgentType[] } | undefined;
}

/** A message as a function leaves it. */
export type Letter = Pick<PostOp, 'to' | 'name' | 'data' | 'typed' | 'requestId'>;

/** what an op takes beside its texts */
const OP_BYTES = 64;

/** What a function says to agents inside one `graph.transaction`: it lands with what that writes, or nothing of it does. */
export class Outbox {
  readonly #ops: AgentOp[] = [];
  readonly #started = new Set<string>();
  #bytes = 0;

  constructor(
    readonly mail: Mail,
    readonly limits: Pick<Limits, 'hostMessageBytes'>,
    /** whom earlier transactions of the same function have stopped */
    readonly stopped: ReadonlySet<string>,
  ) {}

  /** In the order in which they were asked for, as they are now. */
  get ops(): readonly AgentOp[] {
    return [...this.#ops];
  }

  /** Throws AGENT_ID_MISSING, AGENT_UNKNOWN, AGENT_TERMINATED, NOT_READY, LIMIT_EXCEEDED: then the rest goes on without it. */
  async send(letter: Letter): Promise<void> {
    assertId(letter.to);
    this.mail.assertTaken(letter.name, letter.data);
    await this.#leave({ op: 'post', from: '', kind: 'message', ...letter });
  }

  async stop(to: string, requestId: string): Promise<void> {
    assertId(to);
    await this.#leave({ op: 'post', to, from: '', kind: 'stop', name: 'onTerminate', requestId });
  }

  /**
   * One that its key has started before stays as it is; where it was stopped it begins anew. Throws AGENT_TYPE_UNKNOWN, and
   * INVALID_REQUEST for one that is stopped here, or by an earlier one and still is there.
   */
  async start(name: string, key: string | undefined): Promise<{ readonly id: string; readonly name: string }> {
    assertType(this.mail.manifest, name);
    const id = key === undefined ? freshAgentId() : keyedAgentId(name, key);
    if (this.#ops.some((op) => op.op === 'post' && op.kind === 'stop' && op.to === id)) throw stoppedWithIt(id);
    await this.#leave({ op: 'spawn', id, type: name, ...(key === undefined ? {} : { key }), from: '' });
    return { id, name };
  }

  async #leave(op: PostOp | SpawnOp): Promise<void> {
    this.#assertRoom(op);
    // before it is known whether it can: what is left without waiting keeps its order
    this.#ops.push(op);
    if (op.op === 'spawn') this.#started.add(op.id);
    try {
      await this.#assertReached(op);
    } catch (error) {
      this.#ops.splice(this.#ops.indexOf(op), 1);
      throw error;
    }
  }

  /** Throws AGENT_UNKNOWN, AGENT_TERMINATED, INVALID_REQUEST. */
  async #assertReached(op: PostOp | SpawnOp): Promise<void> {
    const id = op.op === 'spawn' ? op.id : op.to;
    const head = await this.mail.head(id);
    if (op.op === 'spawn' && this.stopped.has(id)) assertOver(id, head);
    if (op.op === 'spawn' && head?.status === 'terminated') await this.mail.clear(id);
    if (this.#started.has(id)) return;
    if (head === undefined) throw unknownAgent(id);
    if (head.status === 'terminated') throw terminated(id);
  }

  #assertRoom(op: PostOp | SpawnOp): void {
    const text = op.op === 'spawn' ? (op.key ?? '') : op.name + (op.data ?? '');
    this.#bytes += text.length + OP_BYTES;
    const most = this.limits.hostMessageBytes;
    if (this.#bytes <= most) return;
    throw new GraphsteadError('LIMIT_EXCEEDED', `what a transaction leaves for agents holds more than ${most} bytes`, {
      fix: `limits.hostMessageBytes is ${most}: leave less in one, or store it in the graph and send its uid`,
    });
  }
}
