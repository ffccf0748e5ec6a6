import { asError, GraphsteadError } from '../base/index.js';
import type { Claim, Contended } from './contended.js';
import type { GraphCalls, GraphTransaction } from './contract.js';
import type { FunctionCall } from './process/contract.js';

/** open transactions of all functions */
const MOST_OPEN = 512;

/** What one call of a function holds, in all its runs. */
interface Held {
  readonly claim: Claim;
  readonly open: Map<number, GraphTransaction>;
}

/** Transactions that functions have begun with graph.transaction. Nothing of them outlives the call. */
export class FunctionTransactions {
  readonly #held = new Map<FunctionCall, Held>();
  #open = 0;
  #next = 1;

  constructor(
    readonly graph: Pick<GraphCalls, 'begin'>,
    readonly contended: Contended,
  ) {}

  /** Gives its number. */
  async begin(call: FunctionCall): Promise<number> {
    const held = this.#held.get(call) ?? { claim: this.contended.claim(), open: new Map() };
    this.#held.set(call, held);
    const transaction = await this.graph.begin();
    if (!this.#holds(call, held)) {
      transaction.abort();
      throw finished();
    }
    transaction.holdReads();
    const id = this.#next++;
    held.open.set(id, transaction);
    if (++this.#open > MOST_OPEN) this.#forgetOldest();
    return id;
  }

  /** Throws TXN_FINISHED. */
  get(call: FunctionCall, id: number): GraphTransaction {
    const transaction = this.#held.get(call)?.open.get(id);
    if (transaction === undefined) throw finished();
    return transaction;
  }

  /** One that has lost to another commit goes behind those that have lost before. */
  async commit(call: FunctionCall, id: number): Promise<void> {
    const { held, transaction } = this.#take(call, id);
    const { claim } = held;
    try {
      await claim.enter(async () => transaction.keys());
      await transaction.commit();
      claim.letGo();
    } catch (error) {
      if (asError(error).code === 'TXN_ABORTED') claim.lost = true;
      else claim.letGo();
      throw error;
    } finally {
      if (!this.#holds(call, held)) claim.letGo();
    }
  }

  abort(call: FunctionCall, id: number): void {
    const { held, transaction } = this.#take(call, id);
    transaction.abort();
    held.claim.letGo();
  }

  /** The call is over, however it ended: others do not wait for what it held. */
  ended(call: FunctionCall): void {
    const held = this.#held.get(call);
    if (held === undefined) return;
    this.#held.delete(call);
    this.#open -= held.open.size;
    for (const transaction of held.open.values()) transaction.abort();
    held.claim.letGo();
  }

  #holds(call: FunctionCall, held: Held): boolean {
    return this.#held.get(call) === held;
  }

  #take(call: FunctionCall, id: number): { readonly held: Held; readonly transaction: GraphTransaction } {
    const transaction = this.get(call, id);
    const held = this.#held.get(call) as Held;
    held.open.delete(id);
    this.#open--;
    return { held, transaction };
  }

  #forgetOldest(): void {
    for (const { open } of this.#held.values()) {
      for (const [id, transaction] of open) {
        open.delete(id);
        this.#open--;
        transaction.abort();
        return;
      }
    }
  }
}

function finished(): GraphsteadError {
  return new GraphsteadError('TXN_FINISHED', 'the transaction has ended');
}
