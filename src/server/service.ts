import { join } from 'node:path';
import { pino, stdSerializers } from 'pino';
import {
  type Clock,
  ClockSteps,
  defaultNames,
  dgraphNames,
  GraphsteadError,
  GraphsteadErrors,
  type Limits,
  makeLimits,
  sourceStack,
  systemClock,
  withSource,
} from '../base/index.js';
import { agentsApplier } from '../agents/index.js';
import { type Api, createApi } from '../api/index.js';
import { createCommitter } from '../commit/index.js';
import { createCallLog, readEnvironment } from '../connections/index.js';
import { createDqlEngine } from '../dql/index.js';
import { createGraph, graphApplier, graphShared } from '../graph/index.js';
import { createHttpClient } from '../outbound/index.js';
import { createMemoryStore, openLmdbStore } from '../store/index.js';
import { writeParts } from './export/file.js';
import { exportParts } from './export/part.js';
import type { ExportFormat } from './export/statement.js';
import { type AppHost, type AppHostOptions, bringsTypes, openApp, readAppConfig } from './app-host.js';
import { assertClosed, requireKeys } from './authenticate.js';
import type { Core } from './core.js';
import { allowOrigins } from './cors.js';
import { openGrpcPort } from './grpc-port.js';
import { ownNames } from './host-name.js';
import { createHttp } from './http.js';
import { ApiKeys } from './keys.js';
import { createMetrics } from './metrics.js';
import { adminRoutes } from './route/admin.js';
import { assignRoutes } from './route/assign.js';
import { changeRoutes } from './route/changes.js';
import { copyRoutes } from './route/copy.js';
import { explorerRoutes } from './route/explorer.js';
import { graphLanguageRoutes } from './route/graph-language.js';
import { EventStreams } from './event-streams.js';
import { graphqlRoutes } from './route/graphql.js';
import { healthRoutes } from './route/health.js';
import { readableLog } from './readable-log.js';
import { httpClosing } from './shutdown.js';
import { SharedStreams } from './shared-streams.js';
import { ResponseSignals } from './signal.js';
import { openTls, type TlsFiles } from './tls.js';
import { openTrace, tracedApi, tracedClient, tracedCommitter, tracedDql, traceRequests } from './trace/index.js';

export interface ServiceOptions {
  /** data directory; undefined keeps everything in memory */
  readonly data?: string;
  readonly host?: string;
  /** 0 takes any free one */
  readonly port?: number;
  /** HTTP and gRPC speak TLS alone; undefined speaks neither with TLS */
  readonly tls?: TlsFiles;
  /** undefined serves no gRPC */
  readonly grpcPort?: number;
  readonly compat?: 'dgraph';
  readonly explorer?: boolean;
  /** folder with app.json; undefined serves store and API alone */
  readonly appDir?: string;
  /** reload on change; env files are read; stacks reach `extensions` */
  readonly dev?: boolean;
  readonly limits?: Partial<Record<keyof Limits, number>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly logLevel?: string;
  /** the log as lines for people; JSON otherwise */
  readonly readable?: boolean;
  readonly version?: string;
  /** tests put a fake one in its place */
  readonly clock?: Clock;
  /** changes the resolved connections before host processes get them: tests put scripted models in */
  readonly connections?: AppHostOptions['connections'];
}

export interface Service {
  readonly url: string;
  readonly grpcPort?: number;
  readonly core: Core;
  /** absent without an app */
  readonly host?: AppHost;
  /** things that are worth a line at start: a busy gRPC port, connections left out */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** Opens the store, wires the rooms and listens. Throws GraphsteadError(s); nothing stays open then. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const opened: (() => Promise<unknown> | unknown)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    return await open(options, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

const DEFAULT_PORT = 8686;

type Closers = (() => Promise<unknown> | unknown)[];

async function open(options: ServiceOptions, opened: Closers, closeAll: () => Promise<void>): Promise<Service> {
  const { host = '127.0.0.1', environment = {}, version = '0.0.0' } = options;
  const warnings: string[] = [];
  const limits = serviceLimits(options, environment);
  const names = options.compat === 'dgraph' ? dgraphNames : defaultNames;
  const { clock = systemClock } = options;
  const lines = options.readable ? readableLog(process.stdout) : pino.destination(1);
  const log = pino({ level: options.logLevel ?? 'warn', serializers: { err: loggedError } }, lines);
  const keys = ApiKeys.of(environment);
  const access = { host, keys, names: ownNames(environment['GRAPHSTEAD_HOST_NAMES'], host) };
  // before anything is written: a start that is refused leaves no trace
  assertClosed(access);
  const tls = options.tls && { tls: openTls(options.tls, { log, checkMs: limits.tlsCheckMs }) };
  opened.push(() => tls?.tls.close());
  const signals = new ResponseSignals();
  const { trace, warning } = openTrace([options.appDir ?? process.cwd(), import.meta.dirname], version);
  if (warning !== undefined) warnings.push(warning);

  const store = options.data ? await openLmdbStore(options.data, { limits }) : createMemoryStore({ limits });
  opened.push(() => store.close());
  const shared = graphShared(limits);
  const appliers = [graphApplier(shared), agentsApplier(limits)];
  const steps = new ClockSteps(clock, (ms) =>
    log.warn({ ms }, `the clock was set ${ms > 0 ? 'ahead' : 'back'}, or the machine slept`),
  );
  const committer = tracedCommitter(await createCommitter({ store, appliers, clock, steps, limits }), trace);
  opened.push(() => committer.close());
  const graph = await createGraph({ committer, shared, clock, names });
  opened.push(() => graph.close());
  const dql = tracedDql(createDqlEngine({ graph, clock, limits, names }), trace);
  const allowedHosts = environment['GRAPHSTEAD_ALLOWED_HOSTS']?.split(/[\s,]+/).filter(Boolean);
  const client = tracedClient(createHttpClient({ limits, clock, ...(allowedHosts ? { allowedHosts } : {}) }), trace);
  opened.push(() => client.close());
  const exportFiles = async (format: ExportFormat): Promise<readonly string[]> => {
    if (!options.data) throw new GraphsteadError('INVALID_REQUEST', 'a store in memory has no folder to export to');
    const folder = join(options.data, 'export', new Date(clock.wall()).toISOString().replaceAll(':', '-'));
    return (await writeParts(exportParts({ graph, names, format, graphql: api.current()?.text }), folder)).files;
  };
  const startedAt = Date.now();
  let address = '';
  const health = () => ({ version, uptime: (Date.now() - startedAt) / 1000, address });
  const variables = () =>
    options.appDir ? readEnvironment(options.appDir, options.dev ?? false, environment) : environment;
  const api: Api = tracedApi(
    createApi({ graph, committer, names, clock, limits, client, exportFiles, health, environment: variables, trace }),
    trace,
  );
  opened.push(() => api.close());
  const stored = await api.load();
  if (!options.appDir || !bringsTypes(options.appDir)) assertVariables(stored);
  for (const mistake of stored) warnings.push(`the stored type definitions: ${mistake.message}`);

  const signalOf: Core['signalOf'] = (reply) => signals.of(reply.raw);
  const streams = new EventStreams(limits, signalOf);
  const core: Core = {
    store,
    committer,
    graph,
    dql,
    api,
    names,
    limits,
    keys,
    log,
    trace,
    async alter(request, alterOptions) {
      await graph.alter(request, alterOptions);
      if (request.kind === 'dropAll') await api.dropped();
    },
    streams,
    shared: new SharedStreams(streams, limits),
    signalOf,
    goneOf: (reply) => signals.gone(reply.raw),
  };

  const calls = createCallLog({ messages: options.explorer ?? false });
  const appHost = options.appDir
    ? await openApp({
        ...core,
        onCall: calls.add,
        appDir: options.appDir,
        dev: options.dev ?? false,
        environment,
        clock,
        steps,
        ...(options.connections ? { connections: options.connections } : {}),
      })
    : undefined;
  if (appHost) {
    opened.push(() => appHost.close());
    warnings.push(...appHost.warnings);
  }

  const metrics = createMetrics(version);
  metrics.calls(calls);
  if (appHost) metrics.add('app', () => appHost.stats());
  metrics.add('store', () => store.stats());
  metrics.add('commit', () => ({ ...committer.stats(), ...committer.times() }));
  const app = await createHttp({ limits, names, log, ...tls });
  opened.push(httpClosing(app, signals, limits.shutdownMs));
  traceRequests(app, trace);
  metrics.watch(app);
  allowOrigins(app, core); // first, so that a page of another origin can read why it was refused
  requireKeys(app, access);
  let ready = false;
  graphLanguageRoutes(app, core);
  graphqlRoutes(app, core);
  adminRoutes(app, core);
  assignRoutes(app, core);
  copyRoutes(app, core);
  changeRoutes(app, core);
  healthRoutes(app, core, { version, startedAt, ready: () => ready });
  if (options.explorer) explorerRoutes(app, core, { version, calls, ...(appHost ? explorerRooms(appHost) : {}) });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.scrape();
    return reply.header('content-type', contentType).send(text);
  });

  let grpcPort: number | undefined;
  if (options.grpcPort !== undefined) {
    try {
      const load = async () => (await import('./grpc.js')).createGrpc(core, { host, keys, version, ...tls });
      const grpc = await openGrpcPort({ host, port: options.grpcPort, log }, load);
      opened.push(() => grpc.close());
      grpcPort = grpc.port;
    } catch (error) {
      if (!options.dev) throw notOurs('gRPC', { host, port: options.grpcPort, flag: '--grpc-port' }, error);
      warnings.push(`gRPC is off: port ${options.grpcPort} is busy (--grpc-port takes another)`);
    }
  }
  const { port = DEFAULT_PORT } = options;
  const url = await app.listen({ host, port }).catch((error: unknown) => {
    throw notOurs('HTTP', { host, port, flag: '--port' }, error);
  });
  address = new URL(url).host;
  ready = true;
  return {
    ...(appHost ? { host: appHost } : {}),
    url,
    grpcPort,
    core,
    warnings,
    async close() {
      ready = false;
      await closeAll();
    },
  };
}

/** A service without its secrets would only look as if it had started. */
function assertVariables(mistakes: readonly GraphsteadError[]): void {
  const missing = mistakes.filter(({ code }) => code === 'MISSING_VARIABLE');
  if (missing.length > 0) throw withSource(new GraphsteadErrors(missing), 'the stored type definitions');
}

function explorerRooms({ app, agents, config, environment }: AppHost) {
  return {
    agents,
    agentTypes: () => app.agentTypes,
    connections: () => ({ config: config(), environment: environment() }),
  };
}

/** Explicit values, then app.json's, then the environment's, then defaults. Throws CONFIG on an unknown name. */
function serviceLimits(
  { appDir, limits }: ServiceOptions,
  environment: NonNullable<ServiceOptions['environment']>,
): Limits {
  const configured = appDir ? readAppConfig(appDir).limits : {};
  return makeLimits({ ...configured, ...limits }, environment);
}

/** An error as the log has it: its stack names the sources. */
function loggedError(error: Error): unknown {
  const logged = stdSerializers.err(error);
  return logged.stack === undefined ? logged : { ...logged, stack: sourceStack(logged.stack) };
}

/** What the system says of an address that this machine does not have. */
const NO_ADDRESS = new Set(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN', 'EINVAL']);

function notOurs(
  protocol: string,
  { host, port, flag }: { host: string; port: number; flag: string },
  cause: unknown,
): GraphsteadError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (NO_ADDRESS.has(code)) {
    return new GraphsteadError('CONFIG', `"${host}" is no address of this machine: ${message}`, {
      fix: '--host takes one, such as 127.0.0.1, or 0.0.0.0 for all',
      cause,
    });
  }
  const reason = code === 'EADDRINUSE' ? 'another process holds it' : message;
  return new GraphsteadError('CONFIG', `the ${protocol} port ${port} cannot be used: ${reason}`, {
    fix: `${flag} takes another port; 0 takes any free one`,
    cause,
  });
}
