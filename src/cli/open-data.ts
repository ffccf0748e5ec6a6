import { resolve } from 'node:path';
import { agentsApplier } from '../agents/index.js';
import { type Api, createApi } from '../api/index.js';
import { defaultNames, dgraphNames, type Limits, makeLimits, type Names, systemClock } from '../base/index.js';
import { type Committer, createCommitter } from '../commit/index.js';
import { createGraph, type Graph, graphApplier, graphShared } from '../graph/index.js';
import { createHttpClient } from '../outbound/index.js';
import { openLmdbStore, type Store } from '../store/index.js';
import { assertStore } from './holds-store.js';
import { readCommitter } from './read-committer.js';

/** A data directory that this process holds, without a server. */
export interface OpenData {
  readonly directory: string;
  readonly store: Store;
  readonly committer: Committer;
  readonly graph: Graph;
  readonly api: Api;
  readonly names: Names;
  readonly limits: Limits;
  close(): Promise<void>;
}

interface OpenDataOptions {
  readonly compat?: 'dgraph';
  /** only reads, also while a service writes; the directory must hold a store */
  readonly readOnly?: boolean;
}

/** Throws STORE_LOCKED while another process holds the directory; with `readOnly` NOT_FOUND when there is none. */
export async function openData(data: string, { compat, readOnly = false }: OpenDataOptions = {}): Promise<OpenData> {
  const directory = resolve(data);
  if (readOnly) assertStore(directory);
  const limits = makeLimits({}, process.env);
  const names = compat === 'dgraph' ? dgraphNames : defaultNames;
  const clock = systemClock;
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const one of opened.splice(0).reverse()) await one();
  };
  try {
    const store = await openLmdbStore(directory, { limits, readOnly });
    opened.push(() => store.close());
    const shared = graphShared(limits);
    const appliers = [graphApplier(shared), agentsApplier(limits)];
    const committer = readOnly ? readCommitter(store) : await createCommitter({ store, appliers, clock, limits });
    opened.push(() => committer.close());
    const graph = await createGraph({ committer, shared, clock, names });
    opened.push(() => graph.close());
    const client = createHttpClient({ limits, clock });
    opened.push(() => client.close());
    // what only reads calls no remote, and is not held up by a variable that is missing
    const environment = readOnly ? {} : { variables: () => ({ environment: process.env }) };
    const api = createApi({ graph, committer, names, clock, limits, client, ...environment });
    opened.push(() => api.close());
    await api.load();
    return { directory, store, committer, graph, api, names, limits, close };
  } catch (error) {
    await close();
    throw error;
  }
}
