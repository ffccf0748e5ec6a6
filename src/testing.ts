// What an app's tests import as "graphstead/testing".
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Clock, GraphsteadError, GraphsteadErrors, type WireError } from './base/index.js';
import {
  type AppConfig,
  type ConnectionConfig,
  EMPTY_CONFIG,
  type ModelCall,
  type ModelScript,
  openScriptedModels,
  readConfig,
  reportConnections,
  variableName,
} from './connections/index.js';
import { openService, type Service } from './server/index.js';

export type { ModelCall, ModelScript, ScriptedReply } from './connections/index.js';

export interface StartAppOptions {
  /** the app's folder: source, or what `graphstead build` wrote; default: the current folder */
  readonly appDir?: string;
  /** replies of models, by their names in app.json: a list, one a call, or a function of the call */
  readonly models?: Readonly<Record<string, ModelScript>>;
  /** the variables that the app sees; those of this process and of env files are not read */
  readonly environment?: Readonly<Record<string, string>>;
  /** wall time at the start; default 2030-01-01T00:00:00Z */
  readonly now?: Date;
}

/** An app in memory, with time that stands still until it is told to go on. */
export interface TestApp {
  readonly url: string;
  /** every call of a scripted model so far, oldest first */
  readonly modelCalls: readonly ModelCall[];
  /**
   * The `data` of a query or mutation. Throws GraphsteadErrors with all it answered instead.
   * @param headers such as the one that carries a token
   */
  graphql<T = Record<string, unknown>>(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T>;
  /** The `data` of a query of the graph language. */
  query<T = Record<string, unknown>>(text: string): Promise<T>;
  /** wall time now */
  now(): Date;
  /** Lets time pass: each alarm on the way rings at its time. Resolves when all that follows from them is done. */
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
  const { models = {} } = options;
  const variables = scriptedVariables(appDir, models);
  const clock = new TestClock((options.now ?? new Date('2030-01-01T00:00:00Z')).getTime());
  const environment = { ...variables, ...options.environment, [TEST_CLOCK]: clock.file };
  const scripted = await openScriptedModels(models);
  const open = { appDir, environment, clock, port: 0, logLevel: 'fatal', connections: scripted.redirect };
  const service = await openService(open).catch(async (error: unknown) => {
    await scripted.close();
    clock.close();
    throw error;
  });
  return {
    url: service.url,
    modelCalls: scripted.calls,
    graphql: (query, variables, headers) =>
      post(service, '/graphql', JSON.stringify({ query, variables }), {
        ...headers,
        'content-type': 'application/json',
      }),
    query: (text) => post(service, '/query', text, { 'content-type': 'application/dql' }),
    now: () => new Date(clock.wall()),
    advance: (ms) => advance(service, clock, ms),
    settled: async () => service.host?.agents.clockMoved(),
    async close() {
      await service.close();
      await scripted.close();
      clock.close();
    },
  };
}

/** Wall time is set by the test; deadlines go by real time, so that code that hangs still fails. */
class TestClock implements Clock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'graphstead-clock-'));
  /** Host processes read the time from it. */
  readonly file = join(this.#folder, 'wall');
  #wall = 0;

  constructor(wall: number) {
    this.moveTo(wall);
  }

  wall(): number {
    return this.#wall;
  }

  monotonic(): number {
    return performance.now();
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

async function advance({ host }: Service, clock: TestClock, ms: number): Promise<void> {
  if (!(ms >= 0)) throw new RangeError(`time goes forward only, not by ${ms} ms`);
  const target = clock.wall() + ms;
  await host?.agents.clockMoved();
  for (let due = host?.agents.nextDue() ?? target; due < target; due = host?.agents.nextDue() ?? target) {
    clock.moveTo(Math.max(due, clock.wall() + 1));
    await host?.agents.clockMoved();
  }
  clock.moveTo(target);
  await host?.agents.clockMoved();
}

async function post<T>({ url }: Service, path: string, body: string, headers: Record<string, string>): Promise<T> {
  const response = await fetch(url + path, { method: 'POST', headers, body });
  const { data, errors } = (await response.json()) as { data: T; errors?: readonly WireError[] };
  if (errors?.length) throw new GraphsteadErrors(errors.map(toError));
  return data;
}

function toError({ message, extensions }: WireError): GraphsteadError {
  const { code = 'INTERNAL', fix } = extensions as { code?: GraphsteadError['code']; fix?: string };
  return new GraphsteadError(code, message, fix ? { fix } : {});
}

/** A scripted model needs no key: variables of its connection that nobody set get a text of no meaning. */
function scriptedVariables(appDir: string, models: Readonly<Record<string, ModelScript>>): Record<string, string> {
  const path = join(appDir, 'app.json');
  const config: AppConfig = existsSync(path) ? readConfig(readFileSync(path, 'utf8'), path) : EMPTY_CONFIG;
  for (const name of Object.keys(models)) {
    if (config.models[name] !== undefined) continue;
    throw new GraphsteadError('MODEL_UNKNOWN', `${path} has no model "${name}"`, { fix: 'script a model it names' });
  }
  const used = new Set(Object.keys(models).map((name) => config.models[name].connection));
  const { connections } = reportConnections(config, {});
  const named = connections.filter(({ name }) => used.has(name)).flatMap((connection) => connection.variables);
  const variables = Object.fromEntries(named.map(({ name }) => [name, 'scripted']));
  for (const name of used) Object.assign(variables, addressVariable(name, config.connections[name]));
  return variables;
}

/** An address that begins with a variable must be one all the same; nothing is ever sent there. */
function addressVariable(name: string, connection: ConnectionConfig | undefined): Record<string, string> {
  const first = connection?.type === 'http' ? /^\{\{\s*([\w-]+)\s*\}\}/.exec(connection.baseUrl) : undefined;
  return first ? { [variableName(name, first[1])]: 'http://scripted.invalid' } : {};
}
