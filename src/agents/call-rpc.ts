import { asError, GraphsteadError } from '../base/index.js';
import type { Claim, Contended } from './contended.js';
import type { AgentFilter, Agents, GraphCalls, GraphTransaction, SendOptions } from './contract.js';
import { isMutation } from './graph-calls.js';
import { answerGraph, OUTSIDE } from './graph-rpc.js';
import type { FunctionCall } from './process/contract.js';
import type { CallRpc } from './process/host-pool.js';
import type { Rpc } from './protocol.js';
import { mayOnlyRead } from './refusal.js';

/** What a send gives; see host/agents.ts. */
export type SendArgs = [id: string, name: string, options: SendOptions & { timeout?: number }, data?: string];

/** open transactions of functions; what lies behind was left by calls that did not end */
const OPEN = 512;

function forgetOldest(transactions: Map<number, GraphTransaction>): void {
  for (const [id, transaction] of transactions) {
    transactions.delete(id);
    transaction.abort();
    return;
  }
}

/** What changes something, as app code calls it. */
const CHANGES: Readonly<Partial<Record<Rpc['method'], string>>> = {
  start: 'agents.start',
  stop: 'agents.stop',
  sendAsync: 'agents.sendMessageAsync',
  replay: 'agents.replay',
  'graph.mutate': 'graph.mutate',
};

/** Throws METHOD_NOT_ALLOWED. Whether a message only reads is known once its agent is. */
function assertReads({ method, args }: Rpc): void {
  const change = CHANGES[method];
  if (change !== undefined) throw mayOnlyRead(change);
  if (method === 'graph.graphql' && isMutation(String(args[1]))) throw mayOnlyRead('a mutation by graph.graphql');
}

/** Answers what a function asks of the service: each of its sends, starts and graph writes is a commit of its own. */
export function callRpc(agents: Agents, graph: GraphCalls | undefined, contended: Contended): CallRpc {
  const claims = new WeakMap<FunctionCall, Claim>();
  const transactions = new Map<number, GraphTransaction>();
  let next = 1;

  /** One that has lost to another commit goes behind those that have lost before. */
  async function commit(call: FunctionCall, transaction: GraphTransaction): Promise<void> {
    const claim = claims.get(call) ?? contended.claim();
    try {
      await claim.enter(async () => transaction.keys());
      await transaction.commit();
      claim.letGo();
    } catch (error) {
      if (asError(error).code !== 'TXN_ABORTED') claim.letGo();
      else {
        claim.lost = true;
        claims.set(call, claim);
      }
      throw error;
    }
  }

  async function graphRpc(call: FunctionCall, rpc: Rpc): Promise<unknown> {
    if (graph === undefined) throw new GraphsteadError('NOT_READY', 'this service has no graph');
    const [id] = rpc.args as [number?];
    if (rpc.method === 'graph.begin') {
      const transaction = await graph.begin();
      transaction.holdReads();
      transactions.set(next, transaction);
      if (transactions.size > OPEN) forgetOldest(transactions);
      return next++;
    }
    const transaction = transactions.get(id ?? OUTSIDE);
    if (id !== OUTSIDE && transaction === undefined) {
      throw new GraphsteadError('TXN_FINISHED', 'the transaction has ended');
    }
    if (rpc.method === 'graph.commit' || rpc.method === 'graph.abort') {
      transactions.delete(id ?? OUTSIDE);
      if (rpc.method === 'graph.abort') transaction?.abort();
      else if (transaction !== undefined) await commit(call, transaction);
      return undefined;
    }
    return answerGraph(transaction ?? graph, rpc, { caller: { claims: call.claims }, readOnly: call.readOnly });
  }

  // Not async: a promise within a promise takes three turns of the microtask queue more.
  return (call, rpc) => {
    const { requestId, caller, readOnly } = call;
    if (readOnly === true) assertReads(rpc);
    const key = call.idempotencyKey === undefined ? undefined : `${call.idempotencyKey}.${call.name}.${rpc.n}`;
    switch (rpc.method) {
      case 'start': {
        const [name, options] = rpc.args as [string, { idempotencyKey?: string }];
        return agents.start(name, { idempotencyKey: options.idempotencyKey ?? key, caller, requestId });
      }
      case 'stop':
        return agents.stop(rpc.args[0] as string, { requestId });
      case 'info':
        return agents.info(rpc.args[0] as string);
      case 'list':
        return agents.list(rpc.args[0] as AgentFilter);
      case 'send':
      case 'sendAsync': {
        const [id, name, { timeout: timeoutMs, typed, idempotencyKey = key }, data] = rpc.args as SendArgs;
        const options = { timeoutMs, typed, idempotencyKey, caller, requestId, readOnly };
        return rpc.method === 'send' ? agents.send(id, name, data, options) : agents.sendAsync(id, name, data, options);
      }
      case 'deadLetters':
        return agents.deadLetters(rpc.args[0] as string);
      case 'replay':
        return agents.replay(rpc.args[0] as string, rpc.args[1] as string);
      case 'checkpoint':
        throw new GraphsteadError('INVALID_REQUEST', 'checkpoint belongs to a turn of an agent');
      default:
        return graphRpc(call, rpc);
    }
  };
}
