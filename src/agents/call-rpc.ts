import { GraphsteadError } from '../base/index.js';
import type {
  AgentFilter,
  Agents,
  GraphCalls,
  DeadLetterPage,
  HistoryPage,
  SendOptions,
  StartOptions,
} from './contract.js';
import { keyedAgentId } from './agent-id.js';
import type { FunctionTransactions } from './function-transactions.js';
import { isMutation } from './graph-calls.js';
import { answerGraph, OUTSIDE } from './graph-rpc.js';
import type { Outbox } from './outbox.js';
import type { FunctionCall } from './process/contract.js';
import type { CallRpc } from './process/host-pool.js';
import type { Rpc } from './protocol.js';
import { mayOnlyRead, noGraph } from './refusal.js';

/** What a send gives; see host/agents.ts. */
export type SendArgs = [id: string, name: string, options: SendOptions & SaidIn & { timeout?: number }, data?: string];

/** Where a function says it. */
interface SaidIn {
  /** the number of its open `graph.transaction`; absent outside */
  readonly transaction?: number;
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

/** How calls of functions reach the service. */
interface FunctionCalls {
  readonly answer: CallRpc;
  /** a call is over: nothing of what it held in the graph stays */
  ended(call: FunctionCall): void;
}

/** Answers what functions ask of the service: outside their transactions, each of their sends, starts and graph writes is a commit of its own. */
export function functionCalls(agents: Agents, graph?: GraphCalls, transactions?: FunctionTransactions): FunctionCalls {
  /** sends and starts of calls that have a key, each a commit of its own */
  const said = new WeakMap<FunctionCall, number>();

  /** A repeated request finds each by its order among them: how often it read or tried a transaction differs. */
  function keyOf(call: FunctionCall): string | undefined {
    if (call.idempotencyKey === undefined) return undefined;
    const n = said.get(call) ?? 0;
    said.set(call, n + 1);
    return `${call.idempotencyKey}.${call.name}.${n}`;
  }

  /** What lands with an open transaction of the call. Throws TXN_FINISHED. */
  function outbox(call: FunctionCall, id: number): Outbox {
    if (transactions === undefined) throw noGraph();
    return transactions.get(call, id).outbox;
  }

  async function graphRpc(call: FunctionCall, rpc: Rpc): Promise<unknown> {
    if (graph === undefined || transactions === undefined) throw noGraph();
    const [id = OUTSIDE] = rpc.args as [number?];
    switch (rpc.method) {
      case 'graph.begin':
        return transactions.begin(call, String(rpc.args[0]), rpc.args[1] as number | undefined);
      case 'graph.commit':
        return transactions.commit(call, id, rpc.args[1] as string | undefined);
      case 'graph.abort':
        return transactions.abort(call, id);
      default: {
        const surface = id === OUTSIDE ? graph : transactions.get(call, id).transaction;
        return answerGraph(surface, rpc, {
          caller: { claims: call.claims },
          readOnly: call.readOnly,
          asking: call.asking,
          inTransaction: id !== OUTSIDE,
        });
      }
    }
  }

  // Not async: a promise within a promise takes three turns of the microtask queue more.
  const answer: CallRpc = (call, rpc) => {
    const { requestId, caller, readOnly, asking: from } = call;
    if (readOnly === true) assertReads(rpc);
    switch (rpc.method) {
      case 'start': {
        const [name, { key, transaction, idempotencyKey }] = rpc.args as [string, StartOptions & SaidIn];
        if (transaction !== undefined) return outbox(call, transaction).start(name, key);
        const options = { key, idempotencyKey: idempotencyKey ?? keyOf(call), caller, requestId };
        if (key === undefined || transactions === undefined) return agents.start(name, options);
        return transactions.assertStarts(call, keyedAgentId(name, key)).then(() => agents.start(name, options));
      }
      case 'stop': {
        const [id, { transaction }] = rpc.args as [string, SaidIn];
        if (transaction !== undefined) return outbox(call, transaction).stop(id, requestId);
        return agents.stop(id, { requestId });
      }
      case 'info':
        return agents.info(rpc.args[0] as string);
      case 'list':
        return agents.list((rpc.args[0] ?? {}) as AgentFilter);
      case 'history':
        return agents.history(rpc.args[0] as string, (rpc.args[1] ?? {}) as HistoryPage);
      case 'alarms':
        return agents.alarms(rpc.args[0] as string);
      case 'send': {
        const [id, name, { timeout: timeoutMs, typed, transaction, idempotencyKey: given }, data] =
          rpc.args as SendArgs;
        const inTransaction = transaction !== undefined;
        const idempotencyKey = given ?? (inTransaction ? undefined : keyOf(call));
        const options = { timeoutMs, typed, idempotencyKey, caller, from, requestId, readOnly, inTransaction };
        return agents.send(id, name, data, options);
      }
      case 'sendAsync': {
        const [to, name, { typed, transaction, idempotencyKey }, data] = rpc.args as SendArgs;
        if (transaction !== undefined) return outbox(call, transaction).send({ to, name, data, typed, requestId });
        const options = { typed, idempotencyKey: idempotencyKey ?? keyOf(call), caller, requestId };
        return agents.sendAsync(to, name, data, options);
      }
      case 'deadLetters':
        return agents.deadLetters(rpc.args[0] as string, (rpc.args[1] ?? {}) as DeadLetterPage);
      case 'replay':
        return agents.replay(rpc.args[0] as string, rpc.args[1] as string);
      case 'checkpoint':
        throw new GraphsteadError('INVALID_REQUEST', 'checkpoint belongs to a turn of an agent', {
          fix: 'call this.checkpoint() in what an agent does with a message; what a function writes stands by itself',
        });
      default:
        return graphRpc(call, rpc);
    }
  };
  return { answer, ended: (call) => transactions?.ended(call) };
}
