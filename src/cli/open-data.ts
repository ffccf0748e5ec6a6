import { resolve } from 'node:path';
import { agentsApplier } from '../agents/index.js';
import { type Api, createApi } from '../api/index.js';
import { defaultNames, dgraphNames, type Limits, makeLimits, type Names, systemClock } from '../base/index.js';
import { createCommitter, createFollower } from '../commit/index.js';
import { createGraph, type Graph, graphApplier, graphFollower, graphShared } from '../graph/index.js';
import { createHttpClient } from '../outbound/index.js';
import { openLmdbStore, openPostgresStore, type Store } from '../store/index.js';
import { assertStore } from './holds-store.js';
import { shownAddress } from './store-address.js';

/** A data directory, or a database, that this process holds, without a server. */
export interface OpenData {
  /** where it lies, as people are told */
  readonly place: string;
  /** for files beside the data */
  readonly directory: string;
  readonly store: Store;
  readonly graph: Graph;
  readonly api: Api;
  readonly names: Names;
  readonly limits: Limits;
  close(): Promise<void>;
}

interface OpenDataOptions {
  readonly compat?: 'dgraph';
  /** address of a database that holds the store in place of the directory */
  readonly store?: string;
  /** only reads, also while a service writes; the directory must hold a store */
  readonly readOnly?: boolean;
}

/** Throws STORE_LOCKED while another process holds the directory; with `readOnly` NOT_FOUND when there is none. */
export async function openData(data: string, options: OpenDataOptions): Promise<OpenData> {
  const { compat, store: address, readOnly = false } = options;
  const directory = resolve(data);
  const place = address === undefined ? directory : shownAddress(address);
  if (readOnly && address === undefined) assertStore(directory);
  const limits = makeLimits({}, process.env);
  const names = compat === 'dgraph' ? dgraphNames : defaultNames;
  const clock = systemClock;
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const one of opened.splice(0).reverse()) await one();
  };
  try {
    const opening =
      address === undefined
        ? openLmdbStore(directory, { limits, readOnly })
        : openPostgresStore(address, { limits, readOnly });
    const store = await opening;
    opened.push(() => store.close());
    const shared = graphShared(limits);
    const appliers = [graphApplier(shared), agentsApplier(limits)];
    const committer = await (readOnly
      ? createFollower({ store, followers: [graphFollower(shared)], limits, onlyAsked: true })
      : createCommitter({ store, appliers, clock, limits }));
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
    return { place, directory, store, graph, api, names, limits, close };
  } catch (error) {
    await close();
    throw error;
  }
}
