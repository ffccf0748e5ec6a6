import { codeOf, GraphsteadError } from '../../base/index.js';
import type { Committed, Committer, IdempotencyClaim } from '../../commit/index.js';
import type { GraphCalls, GraphqlTerms, GraphTransaction, TransactionKeys } from '../contract.js';
import { isMutation } from '../graph-calls.js';
import { answerGraph, OUTSIDE } from '../graph-rpc.js';
import type { AgentOp } from '../part.js';
import type { Rpc } from '../protocol.js';
import { noGraph } from '../refusal.js';
import { Marks } from './marks.js';

export function isGraph({ method }: Rpc): boolean {
  return method.startsWith('graph.');
}

const NO_KEYS: TransactionKeys = { own: [], touches: [] };

/** A task's one graph transaction, begun by its first use of the graph. */
export class GraphHolder {
  #transaction: Promise<GraphTransaction> | undefined;
  #wrote = false;
  /** what it reads must still be so when it commits */
  #holds = false;
  /** counts those that were given up */
  #run = 0;
  /** made by its first use of the graph: most tasks have none */
  #marks: Marks | undefined;
  /** what was asked and is not answered yet */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(
    readonly graph: GraphCalls | undefined,
    readonly terms: GraphqlTerms = {},
  ) {}

  get wrote(): boolean {
    return this.#wrote;
  }

  answer(rpc: Rpc): Promise<unknown> {
    const answered = this.#answer(rpc);
    const ended = () => this.#underWay.delete(answered);
    this.#underWay.add(answered);
    answered.then(ended, ended);
    return answered;
  }

  /** Resolves once what was asked by now has its answer: a commit would cut it off. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #answer(rpc: Rpc): Promise<unknown> {
    const marks = (this.#marks ??= new Marks());
    if (rpc.method === 'graph.begin') return marks.nest(Number(rpc.args[0]), Number(rpc.args[1]));
    if (rpc.method === 'graph.abort') return marks.undo(Number(rpc.args[0]));
    if (this.graph === undefined) throw noGraph();
    this.#transaction ??= this.graph.begin();
    const run = this.#run;
    const writes = rpc.method === 'graph.mutate' || (rpc.method === 'graph.graphql' && isMutation(String(rpc.args[1])));
    if (writes && this.terms.readOnly === true) {
      throw new GraphsteadError('INVALID_REQUEST', `a change with ${rpc.method} in a read-only handler`, {
        fix: 'take the message out of `static readOnly`, or move the change to another message',
      });
    }
    if (writes) this.#wrote = true;
    const transaction = await this.#transaction;
    // its process died meanwhile: what the next run reads and writes is its own
    if (this.#run !== run) throw notAwaited(rpc);
    if (rpc.args[0] !== OUTSIDE && !this.#holds) {
      this.#holds = true;
      transaction.holdReads();
    }
    const answer = () => answerGraph(transaction, rpc, this.terms);
    const answered = writes ? marks.write(Number(rpc.args[0]), transaction, answer) : answer();
    return answered.catch((error: unknown) => {
      throw codeOf(error) === 'TXN_FINISHED' ? notAwaited(rpc) : error;
    });
  }

  /** Whether a commit of the task commits it too. */
  get lands(): boolean {
    return this.#wrote || this.#holds;
  }

  async keys(): Promise<TransactionKeys> {
    return this.#transaction === undefined ? NO_KEYS : (await this.#transaction).keys();
  }

  abort(): void {
    const transaction = this.#transaction;
    this.#run++;
    this.#forget();
    this.#marks = undefined;
    transaction?.then(
      (open) => open.abort(),
      () => undefined,
    );
  }

  #forget(): void {
    this.#transaction = undefined;
    this.#wrote = false;
    this.#holds = false;
  }

  /** Throws INVALID_REQUEST where a part of the task failed that could not be taken back. */
  assertWhole(): void {
    this.#marks?.assertWhole();
  }

  /** The ops, with what was written to the graph, as one commit. */
  commit(committer: Committer, ops: readonly AgentOp[], idempotency: IdempotencyClaim | undefined): Promise<Committed> {
    const parts = ops.length === 0 ? {} : { agents: { ops } };
    const transaction = this.#transaction;
    if (transaction === undefined || !this.lands) {
      this.abort();
      return committer.commit({ startTs: 0, parts, conflicts: [], idempotency });
    }
    this.#forget();
    this.#marks?.land();
    return transaction.then((begun) => begun.commit({ parts, idempotency }));
  }
}

/** The turn is over, and its transaction with it. */
function notAwaited({ method }: Rpc): GraphsteadError {
  return new GraphsteadError(
    'INVALID_REQUEST',
    `${method} was still under way when its turn ended: nothing of it landed`,
    {
      fix: 'await every promise before the handler returns',
    },
  );
}
