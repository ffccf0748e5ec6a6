// What an app's tests import as "graphstead/testing".
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Clock, GraphsteadError, GraphsteadErrors, internal, variableName, type WireError } from './base/index.js';
import {
  type AppConfig,
  type ConnectionConfig,
  type CustomCall,
  EMPTY_CONFIG,
  eventData,
  type GraphCall,
  type HttpCall,
  type ModelCall,
  openScripts,
  readConfig,
  reportConnections,
  type Scripts,
  type SqlCall,
} from './connections/index.js';
import { logLevel, openService, type Service } from './server/index.js';

export type {
  CustomCall,
  CustomScript,
  GraphCall,
  GraphReply,
  GraphScript,
  HttpCall,
  HttpReply,
  HttpScript,
  ModelCall,
  ModelScript,
  ScriptedReply,
  SqlCall,
  SqlReply,
  SqlScript,
} from './connections/index.js';

/** By names of app.json, or by addresses of schema.graphql, what answers in place of the outside: a list of replies, one a call, or a function of the call. */
export interface StartAppOptions extends Scripts {
  /** the app's folder: source, or what `graphstead build` wrote; default: the current folder */
  readonly appDir?: string;
  /** the variables that the app sees; those of this process and of env files are not read */
  readonly environment?: Readonly<Record<string, string>>;
  /** wall time at the start; default 2030-01-01T00:00:00Z */
  readonly now?: Date;
}

/** What an agent published. */
export interface PublishedEvent<Data = Record<string, unknown>> {
  readonly name: string;
  readonly data: Data;
  /** ISO 8601 UTC */
  readonly timestamp: string;
}

/** An app in memory, with time that stands still until it is told to go on. */
export interface TestApp {
  readonly url: string;
  /** every call of a scripted model so far, oldest first */
  readonly modelCalls: readonly ModelCall[];
  /** every call of a scripted HTTP connection so far, oldest first */
  readonly httpCalls: readonly HttpCall[];
  /** every statement that a scripted relational connection was sent so far, oldest first */
  readonly sqlCalls: readonly SqlCall[];
  /** every query, mutation and upsert that a scripted graph connection was sent so far, oldest first */
  readonly graphCalls: readonly GraphCall[];
  /** every scripted call of the custom logic of schema.graphql so far, oldest first */
  readonly customCalls: readonly CustomCall[];
  /**
   * The `data` of a query or mutation. Throws GraphsteadErrors with all it answered instead.
   * @param headers such as the one that carries a token
   */
  graphql<T = Record<string, unknown>>(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T>;
  /**
   * The `data` of each answer to a subscription, as it comes: of a function that streams, or of a live query. It is sent when the
   * first is asked for, and ends when the loop is left. Throws GraphsteadErrors with all that an answer tells instead.
   * @param headers such as the one that carries a token
   */
  subscribe<T = Record<string, unknown>>(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): AsyncIterableIterator<T>;
  /** The `data` of a query of the graph language. */
  query<T = Record<string, unknown>>(text: string): Promise<T>;
  /** What an agent has published in turns that have ended, oldest first. Throws AGENT_UNKNOWN. */
  events(agentId: string): Promise<readonly PublishedEvent[]>;
  /**
   * The oldest event of this name that no earlier call gave; waits for it where there is none. Live ones come only while it
   * waits. Throws TIMEOUT, AGENT_UNKNOWN, AGENT_TERMINATED.
   * @param timeoutMs of real time, whatever the test's clock says; default 10,000
   */
  nextEvent<Data = Record<string, unknown>>(
    agentId: string,
    name: string,
    timeoutMs?: number,
  ): Promise<PublishedEvent<Data>>;
  /** wall time now */
  now(): Date;
  /** Lets time pass: each alarm, and each further try of a message, comes at its time. Resolves when all that follows is done. */
  advance(ms: number): Promise<void>;
  /** Resolves when no agent has anything left to do at this time: messages sent without waiting have been handled. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** As the host processes know it (src/agents/host/test-clock.ts). */
const TEST_CLOCK = 'APP_TEST_CLOCK_FILE';

/** Starts an app for a test. Throws GraphsteadErrors with every mistake of app.json, types, functions and agents. */
export async function startApp(options: StartAppOptions = {}): Promise<TestApp> {
  const appDir = resolve(options.appDir ?? '.');
  const variables = scriptedVariables(appDir, options);
  demandAddresses(appDir, Object.keys(options.custom ?? {}));
  const clock = new TestClock((options.now ?? new Date('2030-01-01T00:00:00Z')).getTime());
  const environment = { ...variables, ...options.environment, [TEST_CLOCK]: clock.file };
  const scripted = await openScripts(options);
  const { redirect: connections, outgoing } = scripted;
  const outside = { connections, outgoing };
  const open = { appDir, environment, clock, port: 0, stacks: true, readable: true, logLevel: loud(), ...outside };
  const service = await openService(open).catch(async (error: unknown) => {
    await scripted.close();
    clock.close();
    throw error instanceof GraphsteadErrors ? new GraphsteadErrors(error.errors.map(inTests)) : error;
  });
  const events = new EventReader(service);
  return {
    url: service.url,
    modelCalls: scripted.modelCalls,
    httpCalls: scripted.httpCalls,
    sqlCalls: scripted.sqlCalls,
    graphCalls: scripted.graphCalls,
    customCalls: scripted.customCalls,
    graphql: (query, variables, headers) =>
      post(service, '/graphql', JSON.stringify({ query, variables }), {
        ...headers,
        'content-type': 'application/json',
      }),
    subscribe: (query, variables, headers) => subscribed(service, JSON.stringify({ query, variables }), headers),
    query: (text) => post(service, '/query', text, { 'content-type': 'application/dql' }),
    events: (agentId) => events.all(agentId),
    nextEvent: (agentId, name, timeoutMs) => events.next(agentId, name, timeoutMs),
    now: () => new Date(clock.wall()),
    advance: (ms) => advance(service, clock, ms),
    settled: async () => service.host?.agents.clockMoved(),
    async close() {
      closed.add(service);
      await service.close();
      await scripted.close();
      clock.close();
    },
  };
}

/** those that tests have closed */
const closed = new WeakSet<Service>();

/** Tests tell what fails by themselves: the log is for those who ask for it. */
function loud(): string {
  return logLevel({ GRAPHSTEAD_LOG: process.env['GRAPHSTEAD_LOG'] }) ?? 'fatal';
}

/** No env file is read for a test, and runners of tests show messages only: what to do stands in this one. */
function inTests(error: GraphsteadError): GraphsteadError {
  if (error.code !== 'MISSING_VARIABLE') return error;
  const { position, details } = error;
  const scripted = details?.['type'] === undefined ? '' : 'script the connection in startApp, or ';
  const fix = `${scripted}give the variable in environment of startApp`;
  return new GraphsteadError(error.code, `${error.message}: ${fix}`, { position, details, fix });
}

/** Wall time is set by the test; deadlines go by real time, so that code that hangs still fails. */
class TestClock implements Clock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'graphstead-clock-'));
  /** Host processes read the time from it. */
  readonly file = join(this.#folder, 'wall');
  readonly #begun: number;
  #wall = 0;

  constructor(wall: number) {
    this.#begun = wall;
    this.moveTo(wall);
  }

  wall(): number {
    return this.#wall;
  }

  /** What a test lets pass, passes: it is no clock that was set. */
  monotonic(): number {
    return performance.now() + this.#wall - this.#begun;
  }

  /** Never backwards. */
  moveTo(wall: number): void {
    this.#wall = Math.max(this.#wall, wall);
    writeFileSync(this.file, String(this.#wall));
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const PATIENCE_MS = 10_000;
/** changes of status come only to those who name them */
const STATUS = 'agentStatusUpdated';

/** What agents publish, for tests that wait for it. */
class EventReader {
  /** agent and name -> the id of the event given last */
  readonly #places = new Map<string, Promise<string>>();

  constructor(readonly service: Service) {}

  async all(agentId: string): Promise<readonly PublishedEvent[]> {
    const events = (await this.service.host?.agents.keptEvents(agentId)) ?? [];
    return events.filter(({ name }) => name !== STATUS).map(published);
  }

  /** One after the other for one name, so that two that wait are given two. */
  async next<Data>(agentId: string, name: string, timeoutMs = PATIENCE_MS): Promise<PublishedEvent<Data>> {
    const key = JSON.stringify([agentId, name]);
    const before = this.#places.get(key) ?? Promise.resolve('0');
    const found = before.then((after) => this.#find(agentId, name, after, timeoutMs));
    const place = Promise.all([before, found]).then(
      ([after, { id }]) => id ?? after,
      () => before,
    );
    this.#places.set(key, place);
    return published(await found) as PublishedEvent<Data>;
  }

  async #find(agentId: string, name: string, after: string, timeoutMs: number) {
    const signal = AbortSignal.timeout(timeoutMs);
    const batches = this.service.host?.agents.eventBatches({ agentId, after, names: [name], signal }) ?? [];
    for await (const events of batches) {
      const event = events.find((one) => one.name === name);
      if (event !== undefined) return event;
    }
    const told = [...new Set((await this.all(agentId)).map((event) => event.name))];
    const fix = told.length === 0 ? 'it has published nothing yet' : `so far it has published ${told.join(', ')}`;
    if (signal.aborted)
      throw noEvent('TIMEOUT', `agent "${agentId}" published no "${name}" within ${timeoutMs} ms`, fix);
    throw noEvent('AGENT_TERMINATED', `agent "${agentId}" was stopped and publishes no "${name}" any more`, fix);
  }
}

function noEvent(code: 'TIMEOUT' | 'AGENT_TERMINATED', message: string, fix: string): GraphsteadError {
  return new GraphsteadError(code, message, { fix });
}

function published({ name, data, timestamp }: { name: string; data: unknown; timestamp: string }): PublishedEvent {
  return { name, data: data as Record<string, unknown>, timestamp };
}

async function advance({ host }: Service, clock: TestClock, ms: number): Promise<void> {
  const target = clock.wall() + ms;
  if (!(ms >= 0) || Number.isNaN(new Date(target).getTime())) {
    throw new RangeError(`time goes forward only, up to the last that a Date can hold, not by ${ms} ms`);
  }
  await host?.agents.clockMoved();
  for (let due = host?.agents.nextDue() ?? target; due < target; due = host?.agents.nextDue() ?? target) {
    clock.moveTo(Math.max(due, clock.wall() + 1));
    await host?.agents.clockMoved();
  }
  clock.moveTo(target);
  await host?.agents.clockMoved();
}

async function post<T>(service: Service, path: string, body: string, headers: Record<string, string>): Promise<T> {
  assertOpen(service);
  const response = await fetch(service.url + path, { method: 'POST', headers, body });
  return dataOf(await response.json());
}

function assertOpen(service: Service): void {
  if (!closed.has(service)) return;
  const fix = 'await what it is asked before close()';
  throw new GraphsteadError('NOT_READY', `this app was closed: ${fix}`, { fix });
}

async function* subscribed<T>(service: Service, body: string, headers?: Readonly<Record<string, string>>) {
  assertOpen(service);
  const left = new AbortController();
  const asked = { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' };
  try {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: asked,
      body,
      signal: left.signal,
    });
    if (!response.ok) dataOf(await response.json());
    const lines = eventData(response.body ?? new ReadableStream(), (told) => internal(told));
    // behind the last answer comes an event without any
    for await (const line of lines) if (line !== '') yield dataOf<T>(JSON.parse(line));
  } finally {
    left.abort();
  }
}

/** Throws GraphsteadErrors with all it tells instead. */
function dataOf<T>(answer: unknown): T {
  const { data, errors } = answer as { data: T; errors?: readonly WireError[] };
  if (errors?.length) throw failure(errors);
  return data;
}

type Told = Readonly<Record<string, unknown>> & {
  readonly code?: GraphsteadError['code'];
  readonly fix?: string;
  /** where app code threw */
  readonly stack?: readonly string[];
};

/** Runners show its stack: the lines of the app stand before those of the test, as if it had been called from there. */
function failure(errors: readonly WireError[]): GraphsteadErrors {
  const all = new GraphsteadErrors(errors.map(toError));
  const frames = errors.flatMap(({ extensions }) => (extensions as Told).stack ?? []);
  const own = all.stack?.slice(`${all.name}: ${all.message}`.length) ?? '';
  if (frames.length > 0)
    all.stack = [`${all.name}: ${all.message}`, ...frames.map((frame) => `    ${frame}`)].join('\n') + own;
  return all;
}

function toError({ message, extensions }: WireError): GraphsteadError {
  const { code = 'INTERNAL', fix = 'look at the log of the app', stack: _where, ...details } = extensions as Told;
  return new GraphsteadError(code, message, { fix, ...(Object.keys(details).length > 0 ? { details } : {}) });
}

/** What is scripted needs no key: variables of its connection that nobody set get a text of no meaning. */
function scriptedVariables(appDir: string, scripts: Scripts): Record<string, string> {
  const path = join(appDir, 'app.json');
  const config: AppConfig = existsSync(path) ? readConfig(readFileSync(path, 'utf8'), path) : EMPTY_CONFIG;
  const models = Object.keys(scripts.models ?? {});
  for (const name of models) {
    if (Object.hasOwn(config.models, name)) continue;
    throw new GraphsteadError('MODEL_UNKNOWN', `${path} has no model "${name}"`, { fix: 'script a model it names' });
  }
  const http = scriptedConnections(config, path, scripts.http, ['http']);
  const relational = scriptedConnections(config, path, scripts.relational, ['relational', 'postgresql']);
  const graph = scriptedConnections(config, path, scripts.graph, ['graph', 'dgraph']);
  const used = new Set([...models.map((name) => config.models[name].connection), ...http, ...relational, ...graph]);
  const { connections } = reportConnections(config, {});
  const named = connections.filter(({ name }) => used.has(name)).flatMap((connection) => connection.variables);
  const variables = Object.fromEntries(named.map(({ name }) => [name, 'scripted']));
  for (const name of used) Object.assign(variables, addressVariable(name, config.connections[name]));
  return variables;
}

/** Throws INVALID_REQUEST on one that type definitions do not name: its script would never be asked. */
function demandAddresses(appDir: string, addresses: readonly string[]): void {
  const path = join(appDir, 'schema.graphql');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const unknown = addresses.find((address) => !(/^https?:\/\//.test(address) && text.includes(address)));
  if (unknown === undefined) return;
  throw new GraphsteadError('INVALID_REQUEST', `${path} names no address that begins with "${unknown}"`, {
    fix: 'script an address as its urls begin, such as https://api.example.org',
  });
}

/** Their names. Throws CONNECTION_UNKNOWN. */
function scriptedConnections(
  { connections }: AppConfig,
  path: string,
  scripts: object = {},
  types: readonly string[],
): readonly string[] {
  const names = Object.keys(scripts);
  const unknown = names.find((name) => !types.includes(connections[name]?.type ?? ''));
  if (unknown === undefined) return names;
  throw new GraphsteadError('CONNECTION_UNKNOWN', `${path} has no connection "${unknown}" of type ${types[0]}`, {
    fix: 'script a connection it names',
  });
}

/** An address that begins with a variable must be one all the same; nothing is ever sent there. */
function addressVariable(name: string, connection: ConnectionConfig | undefined): Record<string, string> {
  // any text may be the address of a graph
  if (connection?.type === 'graph' || connection?.type === 'dgraph') return {};
  const isHttp = connection?.type === 'http';
  const address = isHttp ? connection.baseUrl : (connection?.connStr ?? connection?.connString ?? '');
  const first = /^\{\{\s*([\w-]+)\s*\}\}/.exec(address);
  return first ? { [variableName(name, first[1])]: `${isHttp ? 'http' : 'postgres'}://scripted.invalid` } : {};
}
