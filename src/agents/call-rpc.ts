import { GraphsteadError } from '../base/index.js';
import type { Contended } from './contended.js';
import type { AgentFilter, Agents, GraphCalls, HistoryPage, SendOptions, StartOptions } from './contract.js';
import { FunctionTransactions } from './function-transactions.js';
import { isMutation } from './graph-calls.js';
import { answerGraph, OUTSIDE } from './graph-rpc.js';
import type { FunctionCall } from './process/contract.js';
import type { CallRpc } from './process/host-pool.js';
import type { Rpc } from './protocol.js';
import { mayOnlyRead } from './refusal.js';

/** What a send gives; see host/agents.ts. */
export type SendArgs = [id: string, name: string, options: SendOptions & { timeout?: number }, data?: string];

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

/** How calls of functions reach the service. */
interface FunctionCalls {
  readonly answer: CallRpc;
  /** a call is over: nothing of what it held in the graph stays */
  ended(call: FunctionCall): void;
}

/** Answers what functions ask of the service: each of their sends, starts and graph writes is a commit of its own. */
export function functionCalls(agents: Agents, graph: GraphCalls | undefined, contended: Contended): FunctionCalls {
  const transactions = graph && new FunctionTransactions(graph, contended);

  async function graphRpc(call: FunctionCall, rpc: Rpc): Promise<unknown> {
    if (graph === undefined || transactions === undefined) {
      throw new GraphsteadError('NOT_READY', 'this service has no graph');
    }
    const [id = OUTSIDE] = rpc.args as [number?];
    switch (rpc.method) {
      case 'graph.begin':
        return transactions.begin(call);
      case 'graph.commit':
        return transactions.commit(call, id);
      case 'graph.abort':
        return transactions.abort(call, id);
      default: {
        const surface = id === OUTSIDE ? graph : transactions.get(call, id);
        return answerGraph(surface, rpc, { caller: { claims: call.claims }, readOnly: call.readOnly });
      }
    }
  }

  // Not async: a promise within a promise takes three turns of the microtask queue more.
  const answer: CallRpc = (call, rpc) => {
    const { requestId, caller, readOnly } = call;
    if (readOnly === true) assertReads(rpc);
    const key = call.idempotencyKey === undefined ? undefined : `${call.idempotencyKey}.${call.name}.${rpc.n}`;
    switch (rpc.method) {
      case 'start': {
        const [name, options] = rpc.args as [string, Pick<StartOptions, 'key' | 'idempotencyKey'>];
        const given = { key: options.key, idempotencyKey: options.idempotencyKey ?? key };
        return agents.start(name, { ...given, caller, requestId });
      }
      case 'stop':
        return agents.stop(rpc.args[0] as string, { requestId });
      case 'info':
        return agents.info(rpc.args[0] as string);
      case 'list':
        return agents.list(rpc.args[0] as AgentFilter);
      case 'history':
        return agents.history(rpc.args[0] as string, rpc.args[1] as HistoryPage);
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
  return { answer, ended: (call) => transactions?.ended(call) };
}
