import { asError, GraphsteadError, type Limits } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import { apart, type Claim, type Contended } from './contended.js';
import type { GraphCalls, GraphTransaction } from './contract.js';
import { claimOf, type Job } from './job.js';
import { type Mail, Outbox } from './outbox.js';
import type { FunctionCall } from './process/contract.js';
import type { Begun } from './protocol.js';
import { assertOver } from './refusal.js';

/** One that has begun. */
interface Open {
  readonly transaction: GraphTransaction;
  readonly outbox: Outbox;
  /** of a request that may be repeated: where what it gives is kept */
  readonly kept: Job['claim'];
}

/** What one call of a function holds, in all its runs. */
interface Held {
  readonly claim: Claim;
  readonly open: Map<number, Open>;
  /** whom those that landed have stopped: a stop is a message, which its agent takes behind the commit */
  readonly stopped: Set<string>;
}

interface TransactionsOptions {
  readonly graph: Pick<GraphCalls, 'begin'>;
  readonly contended: Contended;
  readonly mail: Mail;
  readonly committer: Pick<Committer, 'idempotentReply'>;
  readonly limits: Pick<Limits, 'hostMessageBytes' | 'functionTransactions'>;
}

/** Transactions that functions have begun with graph.transaction. Nothing of them outlives the call. */
export class FunctionTransactions {
  readonly #held = new Map<FunctionCall, Held>();
  #open = 0;
  #next = 1;

  constructor(readonly options: TransactionsOptions) {}

  /**
   * Gives its number, or what it gave to an earlier request with the same Idempotency-Key, where it landed. Throws
   * TOO_MANY_TRANSACTIONS: those of others stay as they are.
   * @param place the same in each run of the function
   * @param lost its tries before this one, which lost to others
   */
  async begin(call: FunctionCall, place: string, lost = 0): Promise<Begun> {
    const { contended, mail, limits } = this.options;
    const held = this.#held.get(call) ?? { claim: contended.claim(), open: new Map(), stopped: new Set() };
    this.#held.set(call, held);
    if (lost > 0) await this.#again(call, held, lost);
    const kept = keptUnder(call, place);
    const gave = kept && (await this.#gave(kept));
    if (gave !== undefined) return { gave: toText(gave) };
    if (this.#open >= limits.functionTransactions) throw tooMany(limits.functionTransactions);
    const transaction = await this.#begin(call, held);
    transaction.holdReads();
    const id = this.#next++;
    held.open.set(id, { transaction, outbox: new Outbox(mail, limits, held.stopped), kept });
    return { id, keeps: kept !== undefined };
  }

  /** Waits where nothing of it is open. Who holds what it lost by meets nobody, and others wait for it. */
  async #again(call: FunctionCall, held: Held, lost: number): Promise<void> {
    if (!(await held.claim.again())) await apart(Math.min(250, 4 * 2 ** lost));
    if (this.#holds(call, held)) return;
    held.claim.letGo();
    throw finished();
  }

  /** Counted from here on: others may begin meanwhile. */
  async #begin(call: FunctionCall, held: Held): Promise<GraphTransaction> {
    this.#open++;
    try {
      const transaction = await this.options.graph.begin();
      if (this.#holds(call, held)) return transaction;
      transaction.abort();
      throw finished();
    } catch (error) {
      this.#open--;
      throw error;
    }
  }

  #gave({ scope, key, bodyHash }: NonNullable<Job['claim']>): Promise<Uint8Array | undefined> {
    return this.options.committer.idempotentReply(scope, key, bodyHash);
  }

  /** Throws TXN_FINISHED. */
  get(call: FunctionCall, id: number): Open {
    const open = this.#held.get(call)?.open.get(id);
    if (open === undefined) throw finished();
    return open;
  }

  /** Throws INVALID_REQUEST for one that a transaction of the call has stopped, and that still is there. */
  async assertStarts(call: FunctionCall, id: string): Promise<void> {
    if (this.#held.get(call)?.stopped.has(id) === true) assertOver(id, await this.options.mail.head(id));
  }

  /**
   * One that has lost to another commit goes behind those that have lost before. What it left for agents lands with it.
   * @param gives what a repeated request is to get, as `Begun` has it
   * @returns what an earlier request got, where that landed meanwhile: nothing of this one does
   */
  async commit(call: FunctionCall, id: number, gives = ''): Promise<string | undefined> {
    const { held, open } = this.#take(call, id);
    const { claim } = held;
    const { transaction, outbox, kept } = open;
    const { ops } = outbox;
    const parts = ops.length === 0 ? {} : { agents: { ops } };
    const idempotency = kept && { ...kept, reply: Buffer.from(gives, 'base64') };
    try {
      await claim.enter(async () => transaction.keys());
      const { replayed } = await transaction.commit({ parts, idempotency });
      claim.letGo();
      for (const op of ops) if (op.op === 'post' && op.kind === 'stop') held.stopped.add(op.to);
      return replayed && toText(replayed);
    } catch (error) {
      if (asError(error).code === 'TXN_ABORTED') claim.lose(transaction.keys());
      else claim.letGo();
      throw error;
    } finally {
      if (!this.#holds(call, held)) claim.letGo();
    }
  }

  abort(call: FunctionCall, id: number): void {
    const { held, open } = this.#take(call, id);
    open.transaction.abort();
    held.claim.letGo();
  }

  /** The call is over, however it ended: others do not wait for what it held. */
  ended(call: FunctionCall): void {
    const held = this.#held.get(call);
    if (held === undefined) return;
    this.#held.delete(call);
    this.#open -= held.open.size;
    for (const { transaction } of held.open.values()) transaction.abort();
    held.claim.letGo();
  }

  #holds(call: FunctionCall, held: Held): boolean {
    return this.#held.get(call) === held;
  }

  #take(call: FunctionCall, id: number): { readonly held: Held; readonly open: Open } {
    const open = this.get(call, id);
    const held = this.#held.get(call) as Held;
    held.open.delete(id);
    this.#open--;
    return { held, open };
  }
}

/** Under a request's Idempotency-Key each transaction lands once: they are told apart by the order in which they begin. */
function keptUnder(
  { idempotencyKey, name, args, caller = 'anyone', readOnly }: FunctionCall,
  place: string,
): Job['claim'] {
  if (idempotencyKey === undefined || readOnly === true) return undefined;
  const body = JSON.stringify(args, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
  return claimOf(`transaction ${caller}`, `${idempotencyKey}.${name}.${place}`, body);
}

function toText(gave: Uint8Array): string {
  return Buffer.from(gave).toString('base64');
}

function finished(): GraphsteadError {
  return new GraphsteadError('TXN_FINISHED', 'the transaction has ended', {
    fix: 'await every promise of its work before that returns',
  });
}

function tooMany(most: number): GraphsteadError {
  return new GraphsteadError(
    'TOO_MANY_TRANSACTIONS',
    `functions hold ${most} transactions open (limits.functionTransactions)`,
    { fix: 'Try again later; keep what takes long, such as calls of models, out of graph.transaction.' },
  );
}
