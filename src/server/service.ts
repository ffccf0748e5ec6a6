import { type Clock, type GraphsteadError, GraphsteadErrors, inOneLine, withSource } from '../base/index.js';
import { createCallLog, readEnvironment } from '../connections/index.js';
import { LargeAnswers } from './answers.js';
import { type AppHost, type AppHostOptions, openApp, readTypes } from './app-host.js';
import { withAllMistakes } from './app-mistakes.js';
import { LargeBodies } from './bodies.js';
import type { Core } from './core.js';
import { roomWarning } from './disk-room.js';
import { Draining } from './draining.js';
import { EventStreams } from './event-streams.js';
import { createForwarder, type ForwardTerms, Places } from './forward/index.js';
import { type GrpcConnections, type GrpcPort, openGrpcPort } from './grpc-port.js';
import { limitWarnings } from './limit-warnings.js';
import { listenFailure } from './listen-failure.js';
import { operatorOf } from './operator.js';
import { type Closers, openRooms, type Rooms, STORED_TYPES } from './rooms.js';
import type { HealthInfo } from './route/health.js';
import { readableVariables } from './schema-variables.js';
import { serveHttp } from './serve-http.js';
import type { ServiceOptions } from './service-options.js';
import { type Settings, settingsOf } from './settings.js';
import { SharedStreams } from './shared-streams.js';
import { AnswerSignals } from './signal.js';
import { openTls } from './tls.js';
import { openTrace } from './trace/index.js';

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
  const { port = DEFAULT_PORT, explorer = false } = options;
  const settings = settingsOf(options);
  const { host, keys, access, version, limits, log, clock } = settings;
  const warnings = [...settings.warnings];
  const tls = options.tls && openTls(options.tls, { log, checkMs: limits.tlsCheckMs });
  opened.push(() => tls?.close());

  const health = new Health(version, clock);
  const signals = new AnswerSignals();
  const forwarding = { limits, places: new Places(limits.forwards) };
  const { core, rooms, lacking } = await openCore(options, { settings, health, signals, forwarding, warnings }, opened);
  const calls = createCallLog({ messages: explorer });
  const appHost = await openAppHost(options, { ...settings, ...core, steps: rooms.steps, lacking, onCall: calls.add });
  opened.push(() => appHost?.close());
  warnings.push(...(appHost?.warnings ?? []));

  const answers = new LargeAnswers(limits);
  const bodies = new LargeBodies(limits.largeBodiesBytes);
  const app = await serveHttp(
    { core, appHost, access, tls, version, health, explorer, calls, signals, answers, bodies },
    opened,
  );
  const createGrpc = async () => {
    const { createGrpc: create, GrpcForwarder } = await import('./grpc.js');
    const { writerGrpc } = settings;
    const forwarder = writerGrpc && new GrpcForwarder(writerGrpc, { ...forwarding, trace: core.trace });
    return create(core, { host, keys, version, answers, bodies, tls, forwarder });
  };
  const grpc = await openGrpc(options, { host, log, warnings }, createGrpc);
  opened.push(() => grpc?.close());
  const url = await app.listen({ host, port }).catch((error: unknown) => {
    throw listenFailure('HTTP', { host, port, flag: '--port' }, error);
  });
  health.address = new URL(url).host;
  health.isReady = true;
  return {
    ...(appHost ? { host: appHost } : {}),
    url,
    grpcPort: grpc?.port,
    core,
    warnings,
    async close() {
      health.isReady = false;
      // before those who wait for a store that is away are cut off
      core.store.ending?.();
      await closeAll();
    },
  };
}

/** What /health tells of the process. */
class Health implements HealthInfo {
  readonly draining = new Draining();
  /** empty until it listens */
  address = '';
  isReady = false;
  readonly #startedAt: number;
  readonly #version: string;
  readonly #clock: Clock;

  constructor(version: string, clock: Clock) {
    this.#version = version;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  report() {
    const uptime = (this.#clock.monotonic() - this.#startedAt) / 1000;
    const status = this.draining.isOn ? 'draining' : 'healthy';
    return { version: this.#version, uptime, address: this.address, status } as const;
  }
}

interface CoreParts {
  readonly settings: Settings;
  readonly health: Health;
  readonly signals: AnswerSignals;
  readonly forwarding: Omit<ForwardTerms, 'trace'>;
  /** is added to */
  readonly warnings: string[];
}

/** The rooms, the type definitions that are stored, and what the routes share. Throws MISSING_VARIABLE. */
async function openCore(options: ServiceOptions, parts: CoreParts, opened: Closers) {
  const { settings, health, signals, forwarding, warnings } = parts;
  const { environment, clock, version, limits, names, keys, log, writer } = settings;
  const { data, store, readOnly = false, appDir, dev = false, allowUnset = false, fenced, outgoing } = options;
  const { trace, warning } = openTrace([appDir ?? process.cwd(), import.meta.dirname], version);
  if (warning !== undefined) warnings.push(warning);
  const readable = readableVariables(environment, settings.host);
  const ownTypes = () => (appDir ? readTypes(appDir) : undefined);
  const variables = (text: string) => ({
    environment: appDir ? readEnvironment(appDir, dev, environment) : environment,
    allowUnset,
    // who writes the app's files writes its code too
    ...(readable && text !== ownTypes() ? { readable } : {}),
  });
  const { draining } = health;
  const rooms = await openRooms(
    {
      ...{ data, store, readOnly, environment, variables, clock, limits, names, keys, log, trace, fenced, outgoing },
      health: () => health.report(),
      operator: operatorOf(draining, log, options.shutdown),
    },
    opened,
  );
  if (data !== undefined && store === undefined) {
    const full = readOnly ? undefined : roomWarning(data, limits);
    warnings.push(...(full === undefined ? [] : [full]), ...limitWarnings(limits));
  }
  const stored = await rooms.api.load();
  // otherwise those of the app take their place
  const served = ownTypes() === undefined ? stored : [];
  const lacking = lackingVariables(served);
  // beside an app with those that its connections lack
  if (lacking.length > 0 && !appDir) throw new GraphsteadErrors(lacking);
  for (const mistake of served) warnings.push(`no stored type is served: ${inOneLine(mistake, STORED_TYPES)}`);
  const forwarder = writer === undefined ? undefined : createForwarder(writer, { ...forwarding, trace });
  const core: Core = {
    ...coreOf(rooms, { names, limits, keys, log, trace, draining }, signals),
    ...(forwarder ? { forwarder } : {}),
  };
  return { core, rooms, lacking };
}

type OpenedForApp = Omit<AppHostOptions, 'appDir' | 'data' | 'dev' | 'stacks' | 'allowUnset' | 'connections'>;

/** undefined without an app */
async function openAppHost(options: ServiceOptions, below: OpenedForApp): Promise<AppHost | undefined> {
  const { appDir, data, dev = false, stacks, allowUnset = false, connections } = options;
  if (!appDir) return undefined;
  return openApp({ ...below, appDir, data, dev, stacks, allowUnset, connections });
}

/** A service without its secrets would only look as if it had started. */
function lackingVariables(mistakes: readonly GraphsteadError[]): readonly GraphsteadError[] {
  const missing = mistakes.filter(({ code }) => code === 'MISSING_VARIABLE');
  return missing.map((one) => withSource(one, STORED_TYPES) as GraphsteadError);
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
    if (!dev) throw listenFailure('gRPC', { host, port, flag: '--grpc-port' }, error);
    warnings.push(`gRPC is off: port ${port} is busy (--grpc-port takes another)`);
    return undefined;
  }
}
