import {
  agentsApplier,
  createAgents,
  createHosts,
  graphCalls,
  type Agents,
  type AgentsOptions,
  type HostLog,
  type HostPool,
} from '../src/agents/index.js';
import { type Clock, defaultNames, type Limits, makeLimits } from '../src/base/index.js';
import { type Committer, createCommitter } from '../src/commit/index.js';
import { createDqlEngine } from '../src/dql/index.js';
import { createGraph, graphApplier, graphShared } from '../src/graph/index.js';
import { createMemoryStore, type Store } from '../src/store/index.js';
import { type AppBundle, appBundle } from './app-bundle.js';

/** Store, committer, hosts and agents with one app, for tests of the agents room. */
export interface AgentService {
  readonly app: AppBundle;
  readonly store: Store;
  readonly committer: Committer;
  readonly hosts: HostPool;
  readonly agents: Agents;
  readonly logs: HostLog[];
  call(name: string, ...args: unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly limits?: Partial<Record<keyof Limits, number>>;
  readonly count?: number;
  readonly store?: Store;
  readonly clock?: Clock;
  readonly graph?: AgentsOptions['graph'];
  /** a graph of these predicates, on the same committer */
  readonly schema?: string;
  /** what waits in the store is left to the test to resume */
  readonly resting?: boolean;
  /** nothing is loaded into the hosts */
  readonly withoutApp?: boolean;
}

export async function agentService(
  code: string,
  exports: readonly string[] = [],
  options: ServiceOptions = {},
): Promise<AgentService> {
  const app = appBundle(code, exports);
  const limits = makeLimits(options.limits);
  const store = options.store ?? createMemoryStore();
  const { clock, schema } = options;
  const shared = graphShared(limits);
  const appliers = [...(schema === undefined ? [] : [graphApplier(shared)]), agentsApplier(limits)];
  const committer = await createCommitter({ store, appliers, limits, clock });
  const graph = schema === undefined ? undefined : await createGraph({ committer, shared });
  await graph?.alter({ kind: 'schema', text: schema ?? '' });
  const dql = graph && createDqlEngine({ graph, names: defaultNames, limits });
  const logs: HostLog[] = [];
  const log = (entry: HostLog) => void logs.push(entry);
  const hosts = createHosts({ limits, count: options.count ?? 1, log });
  const calls = graph && dql ? graphCalls({ graph, dql }) : options.graph;
  const agents = createAgents({ committer, incarnation: store.incarnation, hosts, limits, log, clock, graph: calls });
  if (options.withoutApp !== true) await hosts.load(app);
  if (options.resting !== true) await agents.resume();
  return {
    app,
    store,
    committer,
    hosts,
    agents,
    logs,
    call: (name, ...args) => hosts.call({ name, args, requestId: `call-${name}` }),
    async close() {
      await agents.close();
      await hosts.close();
      await graph?.close();
      await committer.close();
      app.remove();
    },
  };
}

/** Asks again and again until it holds. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((again) => setTimeout(again, 5));
}
