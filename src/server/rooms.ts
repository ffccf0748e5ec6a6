import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { agentsApplier } from '../agents/index.js';
import { type Api, type ApiOptions, createApi } from '../api/index.js';
import {
  type Clock,
  ClockSteps,
  type GraphsteadError,
  inOneLine,
  type Limits,
  type Names,
  type Trace,
} from '../base/index.js';
import { type CommitRecord, type Committer, createCommitter, createFollower } from '../commit/index.js';
import { createDqlEngine, type DqlEngine } from '../dql/index.js';
import {
  createGraph,
  type Graph,
  graphApplier,
  graphFollower,
  graphPart,
  type GraphShared,
  graphShared,
} from '../graph/index.js';
import { createHttpClient } from '../outbound/index.js';
import { createMemoryStore, openLmdbStore, openPostgresStore, type Store } from '../store/index.js';
import { writeParts } from './export/file.js';
import { exportParts } from './export/part.js';
import { ExportTasks } from './export/task.js';
import type { ApiKeys } from './keys.js';
import { tracedApi, tracedClient, tracedCommitter, tracedDql } from './trace/index.js';

/** What was opened, to be closed in reverse order. */
export type Closers = (() => Promise<unknown> | unknown)[];

export interface RoomOptions {
  /** data directory; undefined keeps everything in memory, unless there is a `store` */
  readonly data: string | undefined;
  /** address of a database that holds the store in place of the data directory */
  readonly store: string | undefined;
  /** another process writes it */
  readonly readOnly: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** what placeholders of secrets name; see ApiOptions */
  readonly variables: NonNullable<ApiOptions['variables']>;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly names: Names;
  readonly keys: ApiKeys;
  readonly log: FastifyBaseLogger;
  readonly trace: Trace;
  readonly health: NonNullable<ApiOptions['health']>;
  readonly operator: NonNullable<ApiOptions['operator']>;
  /** told once, when another process has taken over the database, or commits of the one that writes were missed */
  readonly fenced?: (error: GraphsteadError) => void;
  /** see HttpClientOptions */
  readonly outgoing?: (url: string) => string;
}

/** The rooms below the routes, of one data directory. */
export interface Rooms {
  readonly store: Store;
  readonly steps: ClockSteps;
  readonly committer: Committer;
  readonly graph: Graph;
  readonly dql: DqlEngine;
  readonly api: Api;
  /** see Core */
  readonly caughtUp?: () => Promise<void>;
}

async function openStore(options: RoomOptions): Promise<Store> {
  const { data, store, readOnly, limits, log } = options;
  if (store === undefined) return data ? openLmdbStore(data, { limits, readOnly }) : createMemoryStore();
  const waits = (holder: string) =>
    log.warn(`the database is held by ${holder}: waiting until it lets go, or has been silent for long enough`);
  const keepsVersions = (reason: GraphsteadError | undefined) => {
    if (reason === undefined) log.info('old versions in the database are taken away again');
    else log.error({ code: reason.code }, `${reason.message}; until they can be, the database grows with each write`);
  };
  return openPostgresStore(store, { limits, readOnly, waits, keepsVersions, fenced: endsBy(options) });
}

/** What it does once it cannot go on. */
function endsBy({ log, fenced }: RoomOptions): (error: GraphsteadError) => void {
  return (error) => {
    log.fatal({ code: error.code }, `${error.message}: this service ends`);
    fenced?.(error);
  };
}

/** Follows the process that writes the store. */
function openFollower(store: Store, shared: GraphShared, options: RoomOptions): Promise<Committer> {
  const { limits, log } = options;
  const failing = (failure: unknown) => {
    if (failure === undefined) log.info('what the service that writes commits is seen again');
    else log.error({ err: failure }, 'what the service that writes commits is not seen: answers grow old');
  };
  return createFollower({ store, followers: [graphFollower(shared)], limits, failing, lost: endsBy(options) });
}

/** what mistakes in them are said to stand in */
export const STORED_TYPES = 'the stored type definitions';

const FOLLOW_AGAIN_MS = 1_000;

/** The types that are served, of a service that only reads. */
interface FollowedTypes {
  /** once those are served that were stored in what is shown */
  served(): Promise<void>;
  stop(): void;
}

/** Serves the type definitions that the process that writes has stored last. */
function followTypes(committer: Committer, api: Api, log: FastifyBaseLogger): FollowedTypes {
  let following = Promise.resolve();
  let again: NodeJS.Timeout | undefined;
  const follow = async () => {
    clearTimeout(again);
    try {
      for (const one of await api.follow()) log.error(`no stored type is served: ${inOneLine(one, STORED_TYPES)}`);
    } catch (error) {
      log.error({ err: error }, 'the stored type definitions could not be read, and are asked for again');
      again = setTimeout(soon, FOLLOW_AGAIN_MS).unref();
    }
  };
  const soon = () => {
    following = following.then(follow);
  };
  const unlisten = committer.onCommit((records) => {
    if (records.some(mayDefineTypes)) soon();
  });
  return {
    served: () => following,
    stop() {
      unlisten();
      clearTimeout(again);
    },
  };
}

function mayDefineTypes(record: CommitRecord): boolean {
  const kind = graphPart(record)?.kind;
  return kind === 'document' || kind === 'alter';
}

/** Exports for the admin API, below the data directory. */
function exportTasks(
  data: string,
  { graph, stored }: { readonly graph: Graph; readonly stored: Api['stored'] },
  { names, clock, limits, log }: RoomOptions,
): ExportTasks {
  return new ExportTasks({
    root: join(data, 'export'),
    write: async (format, folder, signal) => {
      const parts = exportParts({ graph, names, limits, format, graphql: stored()?.text, signal });
      return (await writeParts(parts, folder)).files;
    },
    clock,
    limits,
    failed: (id, error) => log.error({ err: error, task: id }, 'an export failed'),
  });
}

/** Opens store, commit, graph, graph language and GraphQL, from the bottom up; what is open stands in `opened`. */
export async function openRooms(options: RoomOptions, opened: Closers): Promise<Rooms> {
  const { data, environment, variables, clock, limits, names, keys, log, trace, health, operator } = options;
  const store = await openStore(options);
  opened.push(() => store.close());
  const shared = graphShared(limits);
  const appliers = [graphApplier(shared), agentsApplier(limits)];
  const steps = new ClockSteps(clock, (ms) =>
    log.warn({ ms }, `the clock was set ${ms > 0 ? 'ahead' : 'back'}, or the machine slept`),
  );
  const opening = options.readOnly
    ? openFollower(store, shared, options)
    : createCommitter({ store, appliers, clock, steps, limits });
  const committer = tracedCommitter(await opening, trace);
  opened.push(() => committer.close());
  const graph = await createGraph({ committer, shared, clock, names });
  opened.push(() => graph.close());
  // who only reads keeps no transactions, and the HTTP client of the peer sends none
  const needsHash = keys.openTransactions && !committer.readOnly && !names.dgraph;
  const dql = tracedDql(createDqlEngine({ graph, clock, limits, names, needsHash }), trace);
  const allowedHosts = environment['GRAPHSTEAD_ALLOWED_HOSTS']?.split(/[\s,]+/).filter(Boolean);
  const ways = {
    ...(allowedHosts ? { allowedHosts } : {}),
    ...(options.outgoing ? { outgoing: options.outgoing } : {}),
  };
  const client = tracedClient(createHttpClient({ limits, clock, ...ways }), trace);
  opened.push(() => client.close());
  const exports = data === undefined ? undefined : exportTasks(data, { graph, stored: () => api.stored() }, options);
  const api: Api = tracedApi(
    createApi({
      ...{ graph, committer, names, clock, limits, client, health, operator, variables, trace },
      ...(exports ? { exports } : {}),
    }),
    trace,
  );
  opened.push(() => exports?.close());
  opened.push(() => api.close());
  const rooms = { store, steps, committer, graph, dql, api };
  if (!committer.readOnly) return rooms;
  const types = followTypes(committer, api, log);
  opened.push(() => types.stop());
  const caughtUp = async () => {
    await committer.caughtUp();
    await types.served();
  };
  return { ...rooms, caughtUp };
}
