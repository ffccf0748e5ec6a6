import type { FastifyInstance } from 'fastify';
import { pino, stdSerializers } from 'pino';
import {
  DEFAULT_LIMITS,
  type Clock,
  defaultNames,
  type Environment,
  dgraphNames,
  GraphsteadError,
  GraphsteadErrors,
  type Limits,
  makeLimits,
  sourceStack,
  systemClock,
  withSource,
} from '../base/index.js';
import { type CallLog, createCallLog, readEnvironment } from '../connections/index.js';
import { type AppHost, type AppHostOptions, openApp, readAppConfig, readTypes } from './app-host.js';
import { LargeAnswers } from './answers.js';
import { LargeBodies } from './bodies.js';
import { withBodyRoom } from './body-room.js';
import { withAllMistakes } from './app-mistakes.js';
import { accessCheck, assertClosed, requireAccess } from './authenticate.js';
import { catchUpFirst } from './catch-up.js';
import type { Core } from './core.js';
import { Origins } from './cors.js';
import { serveDirectly } from './direct/index.js';
import { EventStreams } from './event-streams.js';
import { type GrpcConnections, type GrpcPort, openGrpcPort } from './grpc-port.js';
import { ownNames } from './host-name.js';
import { roomWarning } from './disk-room.js';
import { Draining, refuseDraining } from './draining.js';
import { limitWarnings } from './limit-warnings.js';
import { createForwarder, Places, serviceAddress } from './forward/index.js';
import { createHttp, requestIds } from './http.js';
import { ApiKeys } from './keys.js';
import { createMetrics, type Metrics } from './metrics.js';
import { readableLog } from './readable-log.js';
import { type Closers, openRooms, type RoomOptions, type Rooms } from './rooms.js';
import { adminRoutes } from './route/admin.js';
import { assignRoutes } from './route/assign.js';
import { changeRoutes } from './route/changes.js';
import { copyRoutes } from './route/copy.js';
import { directRoutes } from './route/direct.js';
import { forwardByPath } from './route/forwarded.js';
import { explorerRoutes } from './route/explorer.js';
import { graphLanguageRoutes } from './route/graph-language.js';
import { graphqlRoutes } from './route/graphql.js';
import { healthRoutes } from './route/health.js';
import { mcpRoutes } from './route/mcp.js';
import { httpClosing, refuseLate } from './shutdown.js';
import { SharedStreams } from './shared-streams.js';
import { serveSockets } from './socket/index.js';
import { readableVariables } from './schema-variables.js';
import { AnswerSignals } from './signal.js';
import { openTls, type TlsFiles } from './tls.js';
import { openTrace, traceRequests } from './trace/index.js';
import { strayVariables } from './variables.js';

export interface ServiceOptions {
  /** data directory; undefined keeps everything in memory, unless there is a `store` */
  readonly data?: string;
  /** address of a database that holds the store in place of the data directory */
  readonly store?: string;
  /** answers from a store that another process writes; runs no code of an app */
  readonly readOnly?: boolean;
  /** address of the service that writes: where one that only reads sends what it does not answer */
  readonly writer?: string;
  /** where that one speaks gRPC */
  readonly writerGrpc?: string;
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
  /** reload on change; env files are read */
  readonly dev?: boolean;
  /** console output and stacks of app code reach `extensions`; default: dev */
  readonly stacks?: boolean;
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
  /** where a call of custom logic is sent in place of its address: tests put scripts there */
  readonly outgoing?: (url: string) => string;
  /** for those who only read the schema: variables that are not set are no mistake, and connections that need them are left out */
  readonly allowUnset?: boolean;
  /** ends the process as SIGTERM does, for the admin API; without it that refuses */
  readonly shutdown?: () => void;
  /**
   * Told once, when another process has taken over the database, or one that only reads has missed commits: nothing is written
   * from then on, and what is read grows old.
   */
  readonly fenced?: (error: GraphsteadError) => void;
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
  const opened: Closers = [];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    return await open(options, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw await withAllMistakes(error, options.appDir);
  }
}

const DEFAULT_PORT = 8686;

async function open(options: ServiceOptions, opened: Closers, closeAll: () => Promise<void>): Promise<Service> {
  const { host = '127.0.0.1', port = DEFAULT_PORT, environment = {}, version = '0.0.0', clock = systemClock } = options;
  const warnings: string[] = [];
  for (const name of strayVariables(environment)) {
    warnings.push(`${name} is no variable of the service, and does nothing (deployment.md lists them)`);
  }
  const limits = serviceLimits(options, environment);
  const names = options.compat === 'dgraph' ? dgraphNames : defaultNames;
  const lines = options.readable ? readableLog(process.stdout) : pino.destination(1);
  const log = pino({ level: options.logLevel ?? 'warn', serializers: { err: loggedError } }, lines);
  const keys = ApiKeys.of(environment);
  const access = { host, keys, names: ownNames(environment['GRAPHSTEAD_HOST_NAMES'], host) };
  // before anything is written: a start that is refused leaves no trace
  assertClosed(access, environment);
  const tls = options.tls && { tls: openTls(options.tls, { log, checkMs: limits.tlsCheckMs }) };
  opened.push(() => tls?.tls.close());
  const { trace, warning } = openTrace([options.appDir ?? process.cwd(), import.meta.dirname], version);
  if (warning !== undefined) warnings.push(warning);

  const startedAt = Date.now();
  let address = '';
  const draining = new Draining();
  const health = () => {
    const uptime = (Date.now() - startedAt) / 1000;
    return { version, uptime, address, status: draining.isOn ? 'draining' : 'healthy' } as const;
  };
  const operator = operatorOf(draining, log, options.shutdown);
  const { data, store, readOnly = false, appDir, dev = false, allowUnset = false, fenced, outgoing } = options;
  if (readOnly) assertReadable(options);
  const writer = writerOf(options, environment);
  const readable = readableVariables(environment, host);
  const ownTypes = () => (appDir ? readTypes(appDir) : undefined);
  const variables = (text: string) => ({
    environment: appDir ? readEnvironment(appDir, dev, environment) : environment,
    allowUnset,
    // who writes the app's files writes its code too
    ...(readable && text !== ownTypes() ? { readable } : {}),
  });
  const place = { data, store, readOnly };
  const rooms = await openRooms(
    { ...place, environment, variables, clock, limits, names, keys, log, trace, health, operator, fenced, outgoing },
    opened,
  );
  const isEmbedded = data !== undefined && store === undefined;
  const full = isEmbedded && !readOnly ? roomWarning(data, limits) : undefined;
  if (full !== undefined) warnings.push(full);
  if (isEmbedded) warnings.push(...limitWarnings(limits));
  const stored = await rooms.api.load();
  // otherwise those of the app take their place
  const served = ownTypes() === undefined ? stored : [];
  const lacking = lackingVariables(served);
  // beside an app with those that its connections lack
  if (lacking.length > 0 && !appDir) throw new GraphsteadErrors(lacking);
  for (const mistake of served) warnings.push(`the stored type definitions: ${mistake.message}`);
  const signals = new AnswerSignals();
  const forwarding = { limits, trace, places: new Places(limits.forwards) };
  const forwarder = writer === undefined ? undefined : createForwarder(writer, forwarding);
  const writerGrpc = writerGrpcOf(options, environment);
  const core = {
    ...coreOf(rooms, { names, limits, keys, log, trace, draining }, signals),
    ...(forwarder ? { forwarder } : {}),
  };

  const calls = createCallLog({ messages: options.explorer ?? false });
  const appHost = options.appDir
    ? await openApp({
        ...core,
        onCall: calls.add,
        appDir: options.appDir,
        data: options.data,
        dev: options.dev ?? false,
        stacks: options.stacks,
        environment,
        allowUnset,
        lacking,
        clock,
        steps: rooms.steps,
        ...(options.connections ? { connections: options.connections } : {}),
      })
    : undefined;
  if (appHost) {
    opened.push(() => appHost.close());
    warnings.push(...appHost.warnings);
  }

  const answers = new LargeAnswers(limits);
  const bodies = new LargeBodies(limits.largeBodiesBytes);
  if (bodies.limit < DEFAULT_LIMITS.largeBodiesBytes) {
    log.info(
      { largeBodiesBytes: bodies.limit },
      'large bodies take so much at a time, by the size of the heap or as set',
    );
  }
  const nextId = requestIds();
  const check = accessCheck(access);
  const origins = new Origins(core);
  const app = await createHttp({ limits, names, log, answers, bodies, nextId, ...tls });
  traceRequests(app, trace);
  origins.allow(app); // first, so that a page of another origin can read why it was refused
  const late = refuseLate(app, names);
  requireAccess(app, check);
  refuseDraining(app, draining, core);
  forwardByPath(app, core);
  catchUpFirst(app, core);
  const metrics = measure(app, core, calls, appHost, version);
  // spans begin in the library's hooks
  const direct = trace.on
    ? undefined
    : serveDirectly(app.server, {
        route: {
          handlerOf: directRoutes(core, { check, origins, answers }),
          get isOpen() {
            return !answers.isFull && !late.isStopping && !draining.isOn;
          },
        },
        nextId,
        answered: (path, status, seconds) => metrics.count(path, 'POST', status, seconds),
      });
  opened.push(httpClosing(app, { signals, direct }, limits.shutdownMs));
  serveSockets(app, { core, check, origins, late, answers, nextId });
  let ready = false;
  graphLanguageRoutes(app, core);
  graphqlRoutes(app, core);
  const mcp = mcpRoutes(app, core, version);
  opened.push(() => mcp.close());
  appHost?.onReloaded(() => mcp.toolsChanged());
  adminRoutes(app, core);
  assignRoutes(app, core);
  copyRoutes(app, core);
  changeRoutes(app, core);
  healthRoutes(app, core, { report: health, ready: () => ready });
  if (options.explorer) explorerRoutes(app, core, { version, calls, ...(appHost ? explorerRooms(appHost) : {}) });

  const createGrpc = async () => {
    const { createGrpc: create, GrpcForwarder } = await import('./grpc.js');
    const sentOn = writerGrpc && { forwarder: new GrpcForwarder(writerGrpc, forwarding) };
    return create(core, { host, keys, version, answers, bodies, ...tls, ...sentOn });
  };
  const grpc = await openGrpc(options, { host, log, warnings }, createGrpc);
  opened.push(() => grpc?.close());
  const url = await app.listen({ host, port }).catch((error: unknown) => {
    throw notOurs('HTTP', { host, port, flag: '--port' }, error);
  });
  address = new URL(url).host;
  ready = true;
  return {
    ...(appHost ? { host: appHost } : {}),
    url,
    grpcPort: grpc?.port,
    core,
    warnings,
    async close() {
      ready = false;
      await closeAll();
    },
  };
}

/** Turns of agents and writes of functions are the business of the service that writes. Throws CONFIG. */
function assertReadable({ data, store, appDir }: ServiceOptions): void {
  if (appDir !== undefined) {
    throw new GraphsteadError('CONFIG', 'a service that only reads runs no code of an app', {
      fix: 'leave APP_DIR out: it serves data and types; functions and agents answer at the service that writes',
    });
  }
  if (data !== undefined || store !== undefined) return;
  throw new GraphsteadError('CONFIG', 'a store in memory has nobody else who writes it', {
    fix: 'name the data directory or the database of the service that writes',
  });
}

/** Where a service that only reads sends what it does not answer. Throws CONFIG. */
function writerOf({ readOnly, writer }: ServiceOptions, { GRAPHSTEAD_WRITER: set }: Environment): string | undefined {
  return ofReader(readOnly, writer ?? (set || undefined), '--writer and GRAPHSTEAD_WRITER');
}

/** The same over gRPC. Throws CONFIG. */
function writerGrpcOf(
  { readOnly, writerGrpc }: ServiceOptions,
  { GRAPHSTEAD_WRITER_GRPC: set }: Environment,
): URL | undefined {
  const given = ofReader(readOnly, writerGrpc ?? (set || undefined), '--writer-grpc and GRAPHSTEAD_WRITER_GRPC');
  return given === undefined ? undefined : serviceAddress(given, 9080);
}

/** Throws CONFIG where a service that writes is given another one. */
function ofReader(readOnly: boolean | undefined, given: string | undefined, names: string): string | undefined {
  if (given === undefined || readOnly) return given;
  throw new GraphsteadError('CONFIG', 'this service writes by itself, and is told of another one that does', {
    fix: `leave ${names} out, or start it with --read-only`,
  });
}

/** A service without its secrets would only look as if it had started. */
function lackingVariables(mistakes: readonly GraphsteadError[]): readonly GraphsteadError[] {
  const missing = mistakes.filter(({ code }) => code === 'MISSING_VARIABLE');
  return missing.map((one) => withSource(one, 'the stored type definitions') as GraphsteadError);
}

/** What the admin API lets operators do with the process. */
function operatorOf(
  draining: Draining,
  log: Core['log'],
  shutdown: ServiceOptions['shutdown'],
): RoomOptions['operator'] {
  let isStopping = false;
  return {
    drain(enable) {
      draining.isOn = enable;
      log.warn(enable ? 'draining: new requests are refused' : 'draining is over: requests are taken again');
    },
    refuse: () => draining.refuse(),
    shutdown:
      shutdown &&
      (() => {
        // a second signal would end the process at once
        if (isStopping) return;
        isStopping = true;
        // behind the answer; where that takes longer, it is under way, and waited for
        setImmediate(shutdown);
      }),
  };
}

/** What the routes need: the rooms, and the streams and signals that all of them share. */
function coreOf(
  rooms: Rooms,
  terms: Pick<Core, 'names' | 'limits' | 'keys' | 'log' | 'trace' | 'draining'>,
  signals: AnswerSignals,
): Core {
  const { store, committer, graph, dql, api, caughtUp } = rooms;
  const signalOf: Core['signalOf'] = (answering) => signals.of(answering);
  const streams = new EventStreams(terms.limits, signalOf);
  return {
    ...terms,
    store,
    committer,
    graph,
    dql,
    api,
    ...(caughtUp ? { caughtUp } : {}),
    async alter(request, alterOptions) {
      await graph.alter(request, alterOptions);
      if (request.kind === 'dropAll') await api.dropped();
    },
    streams,
    shared: new SharedStreams(streams, terms.limits),
    signalOf,
    goneOf: (answering) => signals.gone(answering),
  };
}

/** Counts what is asked, and tells it with the rooms' own figures under /metrics. */
function measure(
  app: FastifyInstance,
  { store, committer }: Core,
  calls: CallLog,
  appHost: AppHost | undefined,
  version: string,
): Metrics {
  const metrics = createMetrics(version);
  metrics.calls(calls);
  if (appHost) metrics.add('app', () => appHost.stats());
  metrics.add('store', () => store.stats());
  metrics.add('commit', () => ({ ...committer.stats(), ...committer.times() }));
  metrics.watch(app);
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.scrape();
    return reply.header('content-type', contentType).send(text);
  });
  return metrics;
}

/** undefined where none is asked for, and in `dev` where its port is busy. */
async function openGrpc(
  { grpcPort: port, dev }: ServiceOptions,
  { host, log, warnings }: { host: string; log: Core['log']; warnings: string[] },
  load: () => Promise<GrpcConnections>,
): Promise<GrpcPort | undefined> {
  if (port === undefined) return undefined;
  try {
    return await openGrpcPort({ host, port, log }, load);
  } catch (error) {
    if (!dev) throw notOurs('gRPC', { host, port, flag: '--grpc-port' }, error);
    warnings.push(`gRPC is off: port ${port} is busy (--grpc-port takes another)`);
    return undefined;
  }
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
  const isSet = limits?.largeBodiesBytes !== undefined || configured.largeBodiesBytes !== undefined;
  const made = makeLimits({ ...configured, ...limits }, environment);
  return withBodyRoom(made, isSet || environment['GRAPHSTEAD_LIMIT_LARGE_BODIES_BYTES'] !== undefined);
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
