import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AgentStatus, type Agents, type AgentType, typedArguments, typedValue } from '../../agents/index.js';
import { type Environment, GraphsteadError, packageRoot } from '../../base/index.js';
import { type AppConfig, type CallLog, reach, reportConnections } from '../../connections/index.js';
import { bodyText, parseJsonObject } from '../body.js';
import type { Core } from '../core.js';
import { describeSchema } from '../explorer-schema.js';
import { parametersOf, text } from '../parameter.js';
import type { Frame } from '../sse.js';
import { contextOf } from './request-context.js';

/** Rooms that are there only with an app; each pane says what to do while its room is absent. */
interface ExplorerRooms {
  readonly version: string;
  readonly agents?: Agents;
  /** types that can be started now */
  readonly agentTypes?: () => readonly AgentType[];
  /** app.json and the variables behind it, as they are now; may throw GraphsteadErrors */
  readonly connections?: () => { readonly config: AppConfig; readonly environment: Environment };
  readonly calls?: CallLog;
}

const ROOT = fileURLToPath(packageRoot);
const PAGE_DIR = join(ROOT, 'dist', 'explorer');
const ASSETS_DIR = join(PAGE_DIR, 'assets');
const ASSET_NAME = /^\w[\w.-]*$/;
const BODY_BYTES = 1024 * 1024;
/** agents in one page of the list */
const PAGE_AGENTS = 100;
/** Nothing comes from elsewhere, and no other site frames the page. Styles are set by the editors at run time. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** GET /explorer, its files under /explorer/assets, and what its panes ask under /explorer/api. */
export function explorerRoutes(app: FastifyInstance, core: Core, rooms: ExplorerRooms): void {
  // in a clone the page's own folder may not be there yet
  app.register(import('@fastify/static'), { root: ROOT, serve: false });
  pageRoutes(app);
  app.addHook('onRequest', async (request) => {
    // the route, whose address may have been written in another way
    if (request.routeOptions.url?.startsWith('/explorer/api/')) refuseOtherSites(request);
  });
  app.get('/explorer/api/info', async () => ({
    version: rooms.version,
    dgraph: core.names.dgraph,
    typePredicate: core.names.shown('service.type'),
    agents: rooms.agents !== undefined,
    connections: rooms.connections !== undefined,
  }));
  app.get('/explorer/api/schema', async (request, reply) =>
    describeSchema(core, await contextOf(core, request, reply.raw)),
  );
  app.get('/explorer/api/sizes', async () =>
    (await core.graph.sizes(core.limits.sizeKeys)).map(({ predicate, parts }) => ({
      predicate: core.names.shown(predicate),
      parts,
    })),
  );
  connectionRoutes(app, rooms);
  agentRoutes(app, core, rooms);
}

function pageRoutes(app: FastifyInstance): void {
  app.get('/', async (_request, reply) => reply.redirect('/explorer'));
  app.get('/explorer', async (_request, reply) => {
    await bundled();
    reply.header('content-security-policy', PAGE_POLICY).header('x-content-type-options', 'nosniff');
    return reply.sendFile('index.html', PAGE_DIR, { cacheControl: false, etag: true });
  });
  app.get('/explorer/assets/:file', async (request, reply) => {
    const { file } = request.params as { file: string };
    // no other name leads to one of them, and what is no name at all is no failure of the service
    if (!ASSET_NAME.test(file)) return reply.callNotFound();
    // Names carry a hash of the content.
    return reply
      .header('x-content-type-options', 'nosniff')
      .sendFile(file, ASSETS_DIR, { maxAge: '1y', immutable: true });
  });
}

/** In a clone the page is bundled when a source is newer; an installed package carries it. */
async function bundled(): Promise<void> {
  const script = join(ROOT, 'scripts', 'build-explorer.mjs');
  if (existsSync(script) && existsSync(join(ROOT, 'explorer', 'src'))) {
    const { buildExplorer } = (await import(script)) as { buildExplorer: () => Promise<unknown> };
    await buildExplorer();
  }
  if (!existsSync(join(PAGE_DIR, 'index.html'))) {
    throw new GraphsteadError('NOT_FOUND', 'the explorer is not part of this installation', {
      fix: 'in a clone: npm ci, then npm run build',
    });
  }
}

/** A page of another origin that is open in the same browser must not stop agents or read their state. */
function refuseOtherSites(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new GraphsteadError('FORBIDDEN', 'only the explorer itself may ask this', { fix: 'open /explorer' });
}

function connectionRoutes(app: FastifyInstance, rooms: ExplorerRooms): void {
  app.get('/explorer/api/connections', async () => {
    const { config, environment } = rooms.connections?.() ?? { config: undefined, environment: {} };
    return {
      app: config !== undefined,
      ...(config ? reportConnections(config, environment) : { connections: [], models: [] }),
      recent: rooms.calls?.recent() ?? [],
      totals: { connections: rooms.calls?.connections() ?? {}, models: rooms.calls?.models() ?? {} },
    };
  });
  app.get('/explorer/api/connections/:name/reach', async (request) => {
    const { name } = request.params as { name: string };
    const { config, environment } = rooms.connections?.() ?? {};
    if (config === undefined || environment === undefined || !Object.hasOwn(config.connections, name)) {
      throw new GraphsteadError('CONNECTION_UNKNOWN', `there is no connection "${name}"`, {
        fix: 'add it to app.json',
      });
    }
    return reach(name, config, environment);
  });
}

function agentRoutes(app: FastifyInstance, core: Core, rooms: ExplorerRooms): void {
  const options = { bodyLimit: BODY_BYTES };
  const agents = (): Agents => {
    if (rooms.agents) return rooms.agents;
    throw new GraphsteadError('NOT_FOUND', 'this service runs without an app, so it has no agents', {
      fix: 'graphstead dev <folder with app.json>',
    });
  };
  const idOf = (request: FastifyRequest) => (request.params as { id: string }).id;

  app.get('/explorer/api/agents', async (request) => {
    const given = (parameter: string) => text(parametersOf(request), parameter) || undefined;
    const after = given('after');
    const filter = { name: given('name'), status: given('status') as AgentStatus | undefined };
    const list = await agents().list({ ...filter, first: PAGE_AGENTS + 1, ...(after ? { after } : {}) });
    const page = list.slice(0, PAGE_AGENTS);
    const next = list.length > PAGE_AGENTS ? { next: page[PAGE_AGENTS - 1].id } : {};
    return { agents: page, types: rooms.agentTypes?.() ?? [], ...next };
  });
  app.post('/explorer/api/agents', options, async (request) => {
    const name = textOf(bodyOf(request), 'name');
    return agents().start(name, { requestId: request.id });
  });
  app.get('/explorer/api/agents/:id', async (request) => agents().inspect(idOf(request)));
  app.get('/explorer/api/agents/:id/history', async (request) => {
    const before = text(parametersOf(request), 'before') || undefined;
    return agents().history(idOf(request), before === undefined ? {} : { before: Number(before) });
  });
  app.post('/explorer/api/agents/:id/send', options, async (request) => {
    const body = bodyOf(request);
    const id = idOf(request);
    const message = textOf(body, 'message');
    const { data, typed } = contentOf(body);
    const options = { requestId: request.id, typed };
    const from = performance.now();
    if (body['background'] === true) return { id: await agents().sendAsync(id, message, data, options) };
    const reply = await agents().send(id, message, data, options);
    const ms = performance.now() - from;
    if (!typed || reply === undefined) return { reply: reply ?? null, ms };
    const { name } = await agents().info(id);
    return { reply: JSON.stringify(typedValue(name, message, reply)) ?? null, ms };
  });
  app.post('/explorer/api/agents/:id/stop', options, async (request) =>
    agents().stop(idOf(request), { requestId: request.id }),
  );
  app.post('/explorer/api/agents/:id/replay', options, async (request) => {
    await agents().replay(idOf(request), textOf(bodyOf(request), 'deadLetter'));
    return { replayed: true };
  });
  app.get('/explorer/api/agents/:id/events', async (request, reply) => {
    const parameters = parametersOf(request);
    const id = idOf(request);
    await agents().info(id); // an unknown agent is told before the stream begins
    const after = text(parameters, 'after') || undefined;
    const names = text(parameters, 'names')?.split(',').filter(Boolean);
    return core.streams.answer(reply, (stream) => {
      const { signal } = stream;
      return stream.send(eventFrames(agents(), { agentId: id, after, names, signal }));
    });
  });
}

async function* eventFrames(agents: Agents, request: Parameters<Agents['events']>[0]): AsyncIterable<Frame> {
  for await (const event of agents.events(request)) {
    yield { event: 'agent', data: JSON.stringify(event), ...(event.id ? { id: event.id } : {}) };
  }
}

/** What a message carries: text, or the arguments of a handler, as a typed sender gives them. */
function contentOf(body: Readonly<Record<string, unknown>>): { data?: string; typed?: true } {
  const { arguments: given, data } = body;
  if (Array.isArray(given)) return { data: typedArguments(given), typed: true };
  return data === undefined ? {} : { data: textOf(body, 'data') };
}

function bodyOf(request: FastifyRequest): Record<string, unknown> {
  return parseJsonObject(bodyText(request), 'the body');
}

function textOf(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field];
  if (typeof value === 'string') return value;
  throw new GraphsteadError('INVALID_REQUEST', `"${field}" is not a text`, { fix: `send {"${field}": "..."}` });
}
