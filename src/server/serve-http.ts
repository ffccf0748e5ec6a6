import type { FastifyInstance } from 'fastify';
import { DEFAULT_LIMITS } from '../base/index.js';
import type { CallLog } from '../connections/index.js';
import type { LargeAnswers } from './answers.js';
import type { AppHost } from './app-host.js';
import { type Access, accessCheck, type AccessCheck, requireAccess } from './authenticate.js';
import type { LargeBodies } from './bodies.js';
import { catchUpFirst } from './catch-up.js';
import type { Core } from './core.js';
import { Origins } from './cors.js';
import { type DirectConnections, serveDirectly } from './direct/index.js';
import { refuseDraining } from './draining.js';
import { createHttp, requestIds } from './http.js';
import { Turns } from './in-turn.js';
import { createMetrics, type Metrics } from './metrics.js';
import type { Closers } from './rooms.js';
import { adminRoutes } from './route/admin.js';
import { assignRoutes } from './route/assign.js';
import { changeRoutes } from './route/changes.js';
import { copyRoutes } from './route/copy.js';
import { directRoutes } from './route/direct.js';
import { explorerRoutes } from './route/explorer.js';
import { forwardByPath } from './route/forwarded.js';
import { graphLanguageRoutes } from './route/graph-language.js';
import { graphqlRoutes } from './route/graphql.js';
import { type HealthInfo, healthRoutes } from './route/health.js';
import { mcpRoutes } from './route/mcp.js';
import { httpClosing, refuseLate } from './shutdown.js';
import type { AnswerSignals } from './signal.js';
import { serveSockets } from './socket/index.js';
import type { ServedTls } from './tls.js';
import { traceRequests } from './trace/index.js';

interface ServedParts {
  readonly core: Core;
  /** absent without an app */
  readonly appHost?: AppHost;
  readonly access: Access;
  readonly tls?: ServedTls;
  readonly version: string;
  readonly health: HealthInfo;
  readonly explorer: boolean;
  readonly calls: CallLog;
  readonly signals: AnswerSignals;
  readonly answers: LargeAnswers;
  readonly bodies: LargeBodies;
}

/** The HTTP server with its hooks and routes, which does not listen yet; what is open stands in `opened`. */
export async function serveHttp(parts: ServedParts, opened: Closers): Promise<FastifyInstance> {
  const { core, answers, bodies, tls, signals } = parts;
  const { limits, names, log, trace } = core;
  if (bodies.limit < DEFAULT_LIMITS.largeBodiesBytes) {
    log.debug(
      { largeBodiesBytes: bodies.limit },
      'large bodies take so much at a time, by the size of the heap or as set',
    );
  }
  const nextId = requestIds();
  const check = accessCheck(parts.access);
  const origins = new Origins(core);
  const turns = new Turns();
  const app = await createHttp({ limits, names, log, answers, bodies, turns, nextId, tls });
  traceRequests(app, trace);
  origins.allow(app); // first, so that a page of another origin can read why it was refused
  const late = refuseLate(app, names);
  requireAccess(app, check);
  refuseDraining(app, core.draining, core);
  forwardByPath(app, core);
  catchUpFirst(app, core);
  const metrics = measure(app, parts);
  const checks = { check, origins, late, nextId };
  // spans begin in the library's hooks
  const direct = trace.on ? undefined : answerDirectly(app, parts, { ...checks, metrics });
  opened.push(httpClosing(app, { signals, direct, late }, limits.shutdownMs));
  const answered = (status: number, seconds: number) => metrics.count('/graphql', 'WS', status, seconds);
  serveSockets(app, { core, answers, bodies, turns, answered, ...checks });
  addRoutes(app, parts, opened);
  return app;
}

interface RequestChecks {
  readonly check: AccessCheck;
  readonly origins: Origins;
  readonly late: ReturnType<typeof refuseLate>;
  readonly nextId: () => string;
  readonly metrics: Metrics;
}

/** Plain requests, past the library. */
function answerDirectly(
  app: FastifyInstance,
  { core, answers }: ServedParts,
  { check, origins, late, nextId, metrics }: RequestChecks,
): DirectConnections {
  return serveDirectly(app.server, {
    route: {
      handlerOf: directRoutes(core, { check, origins, answers }),
      get isOpen() {
        return !answers.isFull && !late.isStopping && !core.draining.isOn;
      },
    },
    nextId,
    answered: (path, status, seconds) => metrics.count(path, 'POST', status, seconds),
    turnAway: (socket) => late.turnAway(socket),
  });
}

function addRoutes(app: FastifyInstance, parts: ServedParts, opened: Closers): void {
  const { core, appHost, version, health, calls } = parts;
  graphLanguageRoutes(app, core);
  graphqlRoutes(app, core);
  const mcp = mcpRoutes(app, core, version);
  opened.push(() => mcp.close());
  appHost?.onReloaded(() => mcp.toolsChanged());
  adminRoutes(app, core);
  assignRoutes(app, core);
  copyRoutes(app, core);
  changeRoutes(app, core);
  healthRoutes(app, core, health);
  if (parts.explorer) explorerRoutes(app, core, { version, calls, ...(appHost ? explorerRooms(appHost) : {}) });
}

function explorerRooms({ app, agents, config, environment }: AppHost) {
  return {
    agents,
    agentTypes: () => app.agentTypes,
    connections: () => ({ config: config(), environment: environment() }),
  };
}

/** Counts what is asked, and tells it with the rooms' own figures under /metrics. */
function measure(app: FastifyInstance, { core: { store, committer }, calls, appHost, version }: ServedParts): Metrics {
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
