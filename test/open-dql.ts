import { dgraphNames, type Limits, makeLimits, type Names } from '../src/base/index.js';
import { type Committer, createCommitter } from '../src/commit/index.js';
import {
  createDqlEngine,
  type DqlEngine,
  type MutateAnswer,
  type MutateSettings,
  type QueryRequest,
} from '../src/dql/index.js';
import { createGraph, type Graph, graphApplier, graphShared } from '../src/graph/index.js';
import { createMemoryStore, type Store } from '../src/store/index.js';

/** A graph in memory and the graph language over it, for tests. */
export interface OpenDql {
  readonly committer: Committer;
  readonly graph: Graph;
  readonly engine: DqlEngine;
  /** the `data` of a query */
  query(text: string, more?: Partial<QueryRequest>): Promise<Record<string, unknown>>;
  /** a committed RDF mutation or upsert */
  mutate(body: string, more?: Partial<MutateSettings>): Promise<MutateAnswer>;
  mutateJson(body: unknown, more?: Partial<MutateSettings>): Promise<MutateAnswer>;
  close(): Promise<void>;
}

export async function openDql(
  options: {
    readonly schema?: string;
    readonly names?: Names;
    readonly limits?: Partial<Limits>;
    readonly store?: Store;
  } = {},
): Promise<OpenDql> {
  const limits = makeLimits(options.limits);
  const names = options.names ?? dgraphNames;
  const shared = graphShared(limits);
  const store = options.store ?? createMemoryStore();
  const committer = await createCommitter({ store, appliers: [graphApplier(shared)], limits });
  const graph = await createGraph({ committer, shared, names });
  const engine = createDqlEngine({ graph, names, limits });
  if (options.schema) await graph.alter({ kind: 'schema', text: options.schema });
  return {
    committer,
    graph,
    engine,
    query: async (text, more) => {
      const { data } = await engine.query({ text, ...more });
      return JSON.parse(data.toString('utf8')) as Record<string, unknown>;
    },
    mutate: (body, more) => engine.mutate({ body, contentType: 'rdf', commitNow: true, ...more }),
    mutateJson: (body, more) =>
      engine.mutate({ body: JSON.stringify(body), contentType: 'json', commitNow: true, ...more }),
    close: async () => {
      await graph.close();
      await committer.close();
      await store.close();
    },
  };
}
