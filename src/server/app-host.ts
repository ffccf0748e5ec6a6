import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import {
  type Agents,
  createAgents,
  createHosts,
  eventOperation,
  graphCalls,
  type GraphqlCall,
  type HostLog,
  type HostsOptions,
} from '../agents/index.js';
import type { Api, Operation, RequestContext } from '../api/index.js';
import {
  asError,
  type Clock,
  type ClockSteps,
  type Environment,
  type GraphsteadError,
  GraphsteadErrors,
  type Histogram,
  type Limits,
  type Trace,
  inOneLine,
  withSource,
} from '../base/index.js';
import type { Committer } from '../commit/index.js';
import {
  type AppConfig,
  EMPTY_CONFIG,
  misnamedVariables,
  notSet,
  type ResolvedConnections,
  readConfig,
  readEnvironment,
  resolveConnections,
} from '../connections/index.js';
import type { DqlEngine } from '../dql/index.js';
import { type App, jsonScalar, type LoadAppOptions, loadApp, namesIn } from '../functions/index.js';
import type { Graph } from '../graph/index.js';
import type { Store } from '../store/index.js';
import { schemaChanges } from './schema-change.js';

export interface AppHostOptions {
  readonly appDir: string;
  readonly dev: boolean;
  readonly stacks?: boolean;
  /** the data directory, where there is one */
  readonly data?: string;
  readonly environment: Environment;
  /** connections that lack variables are left out, as optional ones are */
  readonly allowUnset: boolean;
  /** variables that the stored type definitions lack, where those are served */
  readonly lacking: readonly GraphsteadError[];
  readonly store: Store;
  readonly committer: Committer;
  readonly graph: Graph;
  readonly dql: DqlEngine;
  readonly api: Api;
  readonly clock: Clock;
  readonly steps: ClockSteps;
  readonly limits: Limits;
  readonly log: FastifyBaseLogger;
  readonly trace: Trace;
  /** each finished call of a connection or a model */
  readonly onCall?: HostsOptions['onCall'];
  /** changes the resolved connections before hosts get them: tests put scripted models in */
  readonly connections?: (resolved: ResolvedConnections) => ResolvedConnections;
}

/** One process a core would serve nobody there, and each is started anew with every save. */
const DEV_HOSTS = 2;

/** A reload that took effect. */
export interface Reloaded {
  /** from the first change that was noticed to the schema that is served now */
  readonly ms: number;
  /** see schemaChanges; empty when a client sees no difference */
  readonly changes: readonly string[];
}

/** A loaded app: its functions and agents stand in the GraphQL schema until it is closed. */
export interface AppHost {
  readonly app: App;
  readonly agents: Agents;
  /** app.json as it is now */
  config(): AppConfig;
  environment(): Environment;
  /** optional connections that were left out, and why; variables that are most likely misspelt */
  readonly warnings: readonly string[];
  stats(): Readonly<Record<string, number | Histogram>>;
  /** Called after each reload that `dev` made. Returns the way to stop. */
  onReloaded(listener: (reloaded: Reloaded) => void): () => void;
  close(): Promise<void>;
}

/** Reads app.json and schema.graphql, starts the host processes and composes the schema. Throws GraphsteadErrors. */
export async function openApp(options: AppHostOptions): Promise<AppHost> {
  const { appDir, dev, allowUnset, store, committer, graph, dql, api, clock, steps, limits, log, trace } = options;
  const config = () => readAppConfig(appDir);
  const environment = () => readEnvironment(appDir, dev, options.environment);
  const resolve = () => {
    const read = config();
    const resolved = resolveConnections(allowUnset ? withOptional(read) : read, environment());
    return options.connections ? options.connections(resolved) : resolved;
  };
  const { missing } = await withTypes(resolve, options);
  await uploadTypes(api, appDir, log);

  const write = ({ level, message, ...where }: HostLog) => log[level](where, message);
  const processes = dev ? { prefork: true, count: Math.min(DEV_HOSTS, availableParallelism()) } : {};
  const { onCall } = options;
  const hosts = createHosts({
    limits,
    clock,
    data: options.data,
    log: write,
    environment,
    onCall,
    trace,
    ...processes,
  });
  const agents = createAgents({
    committer,
    incarnation: store.incarnation,
    hosts,
    graph: graphCalls({ graph, dql, graphql: graphqlCall(api) }),
    clock,
    steps,
    limits,
    log: write,
    trace,
  });
  const closeAll = async () => {
    await agents.close();
    await hosts.close();
  };
  try {
    const app = await loadApp({
      appDir,
      dev,
      stacks: options.stacks,
      hosts,
      agents,
      limits,
      scalars: { JSON: jsonScalar },
      taken: takenBy(api, appDir),
      connections: resolve,
      log: write,
    });
    let last: readonly Operation[] = [];
    const compose = () => {
      const events = app.agentTypes.length > 0 ? [eventOperation(agents, jsonScalar)] : [];
      const operations = [...app.operations, ...events];
      api.setOperations(operations);
      last = operations;
    };
    const restore = () => api.setOperations(last);
    compose();
    app.onReload(tellsLimits(config, log));
    const onReloaded = serveReloads(app, { compose, restore }, api, appDir, log);
    await agents.resume();
    return {
      app,
      agents,
      config,
      environment,
      warnings: [
        ...Object.entries(missing).map(([name, variables]) => `connection "${name}" is left out: ${notSet(variables)}`),
        ...misnamedVariables(config(), environment(), api.stored()?.text).map(
          ({ name, nearest }) => `${name} is set, and no connection reads it; the nearest that one reads is ${nearest}`,
        ),
      ],
      stats: () => ({ ...agents.stats(), ...agents.times(), ...hosts.stats() }),
      onReloaded,
      async close() {
        await app.close();
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function withOptional(config: AppConfig): AppConfig {
  const all = Object.entries(config.connections).map(([name, entry]) => [name, { ...entry, optional: true }]);
  return { ...config, connections: Object.fromEntries(all) };
}

/** One start tells of every variable that is to be set: what connections lack comes with what type definitions lack. */
async function withTypes(
  resolve: () => ResolvedConnections,
  { api, appDir, lacking }: Pick<AppHostOptions, 'api' | 'appDir' | 'lacking'>,
): Promise<ResolvedConnections> {
  const ownLacking = async () => {
    const mistakes = await api.validate(readTypes(appDir) ?? '');
    const missing = mistakes.filter(({ code }) => code === 'MISSING_VARIABLE');
    return missing.map((one) => withSource(one, TYPES) as GraphsteadError);
  };
  let resolved: ResolvedConnections;
  try {
    resolved = resolve();
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    throw new GraphsteadErrors([...error.errors, ...lacking, ...(await ownLacking())]);
  }
  if (lacking.length > 0) throw new GraphsteadErrors(lacking);
  return resolved;
}

/** With each reload the schema follows the app's operations and schema.graphql. Returns the way to hear of it. */
function serveReloads(
  app: App,
  { compose, restore }: Readonly<Record<'compose' | 'restore', () => void>>,
  api: Api,
  appDir: string,
  log: FastifyBaseLogger,
): AppHost['onReloaded'] {
  const listeners = new Set<(reloaded: Reloaded) => void>();
  const served = () => api.current()?.generated ?? '';
  let spoke = readTypes(appDir) !== undefined;
  /** Emptied or deleted, it takes no types away: stored ones are served with any app that brings none. */
  const tellSilence = () => {
    const speaks = readTypes(appDir) !== undefined;
    if (spoke && !speaks) log.warn(`${TYPES} says nothing any more: ${STAYS}`);
    spoke = speaks;
  };
  const renew = async (since: number) => {
    const before = served();
    // The hosts have the new code: its operations come first, so that a mistake in the types does not hold them back.
    const composed = composes(compose);
    // Only a name that the new types give free can stand in their way.
    if (!composed) api.setOperations([]);
    try {
      await uploadTypes(api, appDir, log);
      tellSilence();
      if (!composed) compose();
    } catch (error) {
      // rather those that were served before than none
      if (!composed) composes(restore);
      throw error;
    }
    api.renewSecrets();
    const reloaded = { ms: performance.now() - since, changes: schemaChanges(before, served()) };
    for (const listener of listeners) listener(reloaded);
  };
  app.onReload((since) => {
    renew(since).catch((error: unknown) => log.error(`the app was not reloaded: ${describe(error)}`));
  });
  return (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
}

/** Those of app.json count from the start on: who edits them while the app runs is told, once an edit. */
function tellsLimits(config: () => AppConfig, log: Pick<FastifyBaseLogger, 'warn'>): () => void {
  let known = config().limits;
  return () => {
    const { limits } = config();
    const edited = Object.keys({ ...known, ...limits }).filter((name) => limits[name] !== known[name]);
    known = limits;
    if (edited.length > 0) log.warn(`app.json: limits count from the next start on; edited: ${edited.join(', ')}`);
  };
}

/** app.json of the folder; an empty configuration where there is none. Throws GraphsteadErrors. */
export function readAppConfig(appDir: string): AppConfig {
  const path = join(appDir, 'app.json');
  return existsSync(path) ? readConfig(readFileSync(path, 'utf8'), 'app.json') : EMPTY_CONFIG;
}

const TYPES = 'schema.graphql';
const STAYS =
  'the types that it had are stored, and served still. To be rid of them write others, or begin anew with an empty data directory';

/** What schema.graphql says, which takes the place of stored definitions; undefined where it says nothing. */
export function readTypes(appDir: string): string | undefined {
  const path = join(appDir, TYPES);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text.trim() === '' ? undefined : text;
}

/** The app's schema.graphql becomes what is served, when it says something else. */
async function uploadTypes(api: Api, appDir: string, log: Pick<FastifyBaseLogger, 'warn'>): Promise<void> {
  const text = readTypes(appDir);
  if (text === undefined || text === api.current()?.text) return;
  try {
    const { unreachable, unguarded } = await api.updateSchema(text);
    for (const { message } of [...unreachable, ...unguarded]) log.warn(`${TYPES}: ${message}`);
  } catch (error) {
    throw error instanceof GraphsteadErrors ? withSource(error, TYPES) : error;
  }
}

/** GraphQL from app code, on the newest state or inside a transaction of the app or a turn. */
function graphqlCall(api: Api): GraphqlCall {
  return async (text, variables, transaction, { caller, readOnly, asking, inTransaction }) => {
    const context: RequestContext = {
      requestId: 'app',
      headers: {},
      signal: new AbortController().signal,
      extensions: {},
      readOnly,
      asking,
      inTransaction,
      ...(caller === undefined ? { trusted: true } : { claims: caller.claims }),
    };
    const answer = await api.execute({ query: text, ...(variables ? { variables } : {}) }, context, { transaction });
    return answer.body.toString('utf8');
  };
}

/** Names that stored types take, or will take with schema.graphql as it is now: mistakes in it leave what is served. */
function takenBy(api: Api, appDir: string): () => Taken {
  let known: { readonly text: string; readonly taken: Taken } | undefined;
  return () => {
    const served = api.current()?.text ?? '';
    const written = readTypes(appDir) ?? served;
    if (known?.text === written) return known.taken;
    const taken = namesIn(api.generatedAlone(written) ?? api.generatedAlone(served) ?? '');
    known = { text: written, taken };
    return taken;
  };
}

type Taken = ReturnType<NonNullable<LoadAppOptions['taken']>>;

function composes(compose: () => void): boolean {
  try {
    compose();
    return true;
  } catch {
    return false;
  }
}

function describe(error: unknown): string {
  const errors = error instanceof GraphsteadErrors ? error.errors : [asError(error)];
  return errors.map((one) => inOneLine(one, TYPES)).join('\n');
}
