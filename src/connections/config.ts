import { createRequire } from 'node:module';
import type * as zod from 'zod';
import {
  LONGEST_TIMER,
  limitMistake,
  DEFAULT_LIMITS,
  GraphsteadError,
  GraphsteadErrors,
  namesVariables,
  placeholdersIn,
  type Position,
  strayBraces,
  substitute,
  variableName,
  table,
} from '../base/index.js';
import { baseOf, isBelow, isHttpAddress, joined } from './http-address.js';
import { type Located, parseJsonc } from './jsonc.js';

// It takes its time to load: it waits for the first app.json that is read.
const load = () => createRequire(import.meta.url)('zod') as typeof zod;

/** What app.json may hold. */
function makeShapes() {
  const { z } = load();
  const common = {
    optional: z
      .boolean()
      .describe('true: without its variables the connection is left out, and only its use fails')
      .optional(),
    timeoutMs: z.number().int().positive().max(LONGEST_TIMER).describe('milliseconds one call may take').optional(),
  };

  const httpConnection = z.strictObject({
    type: z.literal('http'),
    baseUrl: z.string().describe('base address, also with user:password@; calls never leave it'),
    headers: z.record(z.string(), z.string()).describe('headers sent with every call').optional(),
    traceContext: z
      .boolean()
      .describe('true: calls carry `traceparent`, where traces are on, so that the other side can join them')
      .optional(),
    maxConnections: z.number().int().positive().optional(),
    ...common,
  });

  const relationalConnection = z.strictObject({
    type: z.enum(['relational', 'postgresql']),
    connStr: z
      .string()
      .describe(
        'connection string, normally {{DATABASE_URL}}; ?sslmode=require speaks TLS, and trusts public authorities or that of &sslrootcert=file; no-verify trusts anyone',
      )
      .optional(),
    connString: z.string().describe('the same as connStr').optional(),
    maxConnections: z.number().int().positive().optional(),
    ...common,
  });

  const graphConnection = z.strictObject({
    type: z.enum(['graph', 'dgraph']),
    grpcTarget: z
      .string()
      .describe('host:port of the gRPC endpoint, normally {{GRAPH_ENDPOINT}}; https://host:port with TLS')
      .optional(),
    connStr: z
      .string()
      .describe('a dgraph:// address instead of grpcTarget, with its user, sslmode, bearertoken or apikey')
      .optional(),
    connString: z.string().describe('the same as connStr').optional(),
    key: z.string().describe('API key sent with each call, as a bearer').optional(),
    ...common,
  });

  const connection = z.discriminatedUnion('type', [httpConnection, relationalConnection, graphConnection]);

  const model = z.strictObject({
    sourceModel: z.string().min(1).describe("the provider's model identifier"),
    connection: z.string().min(1).describe('an entry of connections, of type http'),
    path: z.string().describe("request path appended to the connection's baseUrl").default('v1/chat/completions'),
    provider: z.string().optional(),
    inputPrice: z.number().nonnegative().describe('cost of a million input tokens').optional(),
    outputPrice: z.number().nonnegative().describe('cost of a million output tokens').optional(),
  });

  const appConfig = z.strictObject({
    $schema: z.string().optional(),
    name: z.string().optional(),
    endpoints: z.unknown().optional(),
    models: z.record(z.string(), model).default({}),
    connections: z.record(z.string(), connection).default({}),
    limits: z.record(z.string(), z.number().positive()).describe('bounds of the service, by their names').default({}),
  });

  return { connection, model, appConfig };
}

type Shapes = ReturnType<typeof makeShapes>;
let made: Shapes | undefined;

function shapes(): Shapes {
  made ??= makeShapes();
  return made;
}

export type AppConfig = zod.infer<Shapes['appConfig']> & {
  /** where the file has a connection */
  readonly placeOf?: (connection: string) => Position;
};
export type ConnectionConfig = zod.infer<Shapes['connection']>;
export type ModelConfig = zod.infer<Shapes['model']>;

/** The JSON Schema of app.json, as published in the package (app.schema.json). */
export function configJsonSchema(): unknown {
  return { title: 'graphstead app.json', ...load().toJSONSchema(shapes().appConfig, { io: 'input' }) };
}

export const EMPTY_CONFIG: AppConfig = { models: {}, connections: {}, limits: {} };

/**
 * app.json, checked as a whole. Throws GraphsteadErrors with every mistake: `app.json:line:column`, reason and fix.
 * @param file its name in errors
 */
export function readConfig(text: string, file = 'app.json'): AppConfig {
  let located: Located;
  try {
    located = parseJsonc(text, file);
  } catch (error) {
    throw new GraphsteadErrors([error as GraphsteadError]);
  }
  const parsed = shapes().appConfig.safeParse(located.value);
  const issues = parsed.error?.issues ?? [];
  const errors = [...issues.flatMap((issue) => shape(issue, located)), ...lostNames(located)];
  // what is misspelled or of the wrong shape says nothing against the rest
  const sound = parsed.success ? parsed : shapes().appConfig.safeParse(withoutMistakes(located.value, issues));
  if (sound.success) errors.push(...semantic(sound.data, located));
  if (errors.length > 0) throw new GraphsteadErrors(errors);
  return { ...(parsed.data as AppConfig), placeOf: (name) => located.position(['connections', name]) };
}

/** The one name that objects have no entry of: what stands under it would be passed over. */
const LOST = '__proto__';

function lostNames(located: Located): GraphsteadError[] {
  const { value } = located;
  const connections = inside(value, 'connections');
  const headers = isObject(connections) ? Object.keys(connections).map((name) => ['connections', name, 'headers']) : [];
  return [['connections'], ['models'], ['limits'], ...headers].flatMap((path) => {
    const holder = path.reduce(inside, value as unknown);
    if (!isObject(holder) || !Object.hasOwn(holder, LOST)) return [];
    return [problem(located, [...path, LOST], `"${LOST}" can be no name in ${path.join('.')}`, 'give it another one')];
  });
}

/** A copy without keys that are not known, and without each entry that holds a mistake. */
function withoutMistakes(value: unknown, issues: readonly zod.core.$ZodIssue[]): unknown {
  const copy = structuredClone(value);
  for (const issue of issues) {
    const isKey = issue.code === 'unrecognized_keys';
    const entry = issue.path.slice(0, 2);
    const holder = (isKey ? issue.path : entry.slice(0, -1)).reduce(inside, copy);
    const keys = isKey ? issue.keys : entry.slice(-1);
    for (const key of keys) if (isObject(holder)) delete holder[key];
  }
  return copy;
}

/** An entry that was taken out has nothing inside. */
const inside = (holder: unknown, key: PropertyKey): unknown => (isObject(holder) ? holder[key] : undefined);

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

function problem(located: Located, path: readonly (string | number)[], message: string, fix: string): GraphsteadError {
  const position = located.position(path);
  const where = `${position.source}:${position.line}:${position.column}`;
  return new GraphsteadError('CONFIG', `${where}: ${message}`, { position, fix });
}

/** Keys that a manifest of Modus has, and that mean something else here. */
const FIX_OF_KEY = table({
  endpoint: 'write "baseUrl", the part that all calls share: code names the path below it',
  queryParameters:
    'write them into the path of each call, as in fetch("quotes?limit=1"); code reads a secret among them from process.env',
  collections: 'search vectors in the graph: @embedding fields of schema.graphql, or similar_to',
});

function shape(issue: zod.core.$ZodIssue, located: Located): readonly GraphsteadError[] {
  const path = issue.path as (string | number)[];
  const name = path.join('.') || 'the file';
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const fix = FIX_OF_KEY[key] ?? `remove it or correct its spelling: ${keysAt(path, located).join(', ')}`;
      return problem(located, [...path, key], `"${key}" is not known in ${name}`, fix);
    });
  }
  return [otherShape(issue, path, name, located)];
}

/** What may stand where a key that is not known does. */
function keysAt([kind, name]: readonly (string | number)[], { value }: Located): readonly string[] {
  const { appConfig, model, connection } = shapes();
  if (kind === 'models') return Object.keys(model.shape);
  if (kind !== 'connections') return Object.keys(appConfig.shape);
  const type = inside(inside(inside(value, kind), name), 'type');
  const shape = connection.options.find((option) => option.shape.type.safeParse(type).success)?.shape ?? {};
  return Object.keys(shape);
}

function otherShape(
  issue: zod.core.$ZodIssue,
  path: readonly (string | number)[],
  name: string,
  located: Located,
): GraphsteadError {
  if (issue.code === 'invalid_union') {
    const fix = 'write "type": "http", "relational" (PostgreSQL) or "graph"';
    return problem(located, path, `${name} is no known connection type`, fix);
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return problem(located, path, `${name} is missing`, 'add it; app.schema.json describes every field');
  }
  return problem(
    located,
    path,
    `${name}: ${issue.message}`,
    'correct the value; app.schema.json describes every field',
  );
}

/** The connection that Modus gives to models which its platform hosts. */
const HOSTED_FIX = 'no model is hosted here: name an "http" connection that speaks as OpenAI\'s chat completions do';

/** What types cannot say: references, addresses, colliding variables. A connection that is there with a mistake is there. */
function semantic(config: AppConfig, located: Located): GraphsteadError[] {
  const errors: GraphsteadError[] = [];
  for (const [name, entry] of Object.entries(config.models))
    errors.push(...modelProblems(name, entry, config, located));
  for (const [name, entry] of Object.entries(config.connections))
    errors.push(...connectionProblems(name, entry, located));
  errors.push(...collisions(config, located), ...limitProblems(config, located));
  return errors;
}

function modelProblems(name: string, entry: ModelConfig, config: AppConfig, located: Located): GraphsteadError[] {
  const path = ['models', name];
  const { connection, ...sent } = entry;
  const unfilled = textsOf(sent, path)
    .filter(([, text]) => text.includes('{{'))
    .map(([place, text]) => problem(located, place, `"${text}" is sent as it stands`, NOT_FILLED));
  const target = Object.hasOwn(config.connections, connection) ? config.connections[connection] : undefined;
  if (target !== undefined) return [...unfilled, ...targetProblems(name, entry, target, located)];
  if (hasMistake(located, connection)) return unfilled;
  const told = `the model "${name}" names the connection "${connection}", which is not there`;
  const fix = connection === 'hypermode' ? HOSTED_FIX : 'add it under connections';
  return [...unfilled, problem(located, [...path, 'connection'], told, fix)];
}

const NOT_FILLED = 'write it out: variables are read into connections alone';

function targetProblems(
  name: string,
  { connection, path }: ModelConfig,
  target: ConnectionConfig,
  located: Located,
): GraphsteadError[] {
  if (target.type !== 'http') {
    const told = `the model "${name}" needs a connection of type http, "${connection}" is ${target.type}`;
    return [problem(located, ['models', name, 'connection'], told, 'name an http connection')];
  }
  if (!leaves(path, target.baseUrl)) return [];
  const told = `the path "${path}" of the model "${name}" leaves the baseUrl of "${connection}"`;
  return [problem(located, ['models', name, 'path'], told, 'write a path below baseUrl, or name another connection')];
}

/** As far as that can be told before the variables in an address are filled in. */
function leaves(path: string, baseUrl: string): boolean {
  const address = substitute(baseUrl, () => 'x');
  if (!isHttpAddress(address)) return false;
  const base = baseOf(address);
  const url = joined(path, base);
  return url === undefined || !isBelow(url, base);
}

/** The file has it, though not among what is sound. */
function hasMistake({ value }: Located, connection: string): boolean {
  const connections = inside(value, 'connections') ?? {};
  return !isObject(connections) || Array.isArray(connections) || Object.hasOwn(connections, connection);
}

function limitProblems(config: AppConfig, located: Located): GraphsteadError[] {
  return Object.entries(config.limits).flatMap(([name, value]) => {
    const isKnown = Object.hasOwn(DEFAULT_LIMITS, name);
    const mistake = isKnown ? limitMistake(name, value) : undefined;
    const message = mistake === undefined ? `unknown limit "${name}"` : `limits.${name} ${mistake}`;
    if (isKnown && mistake === undefined) return [];
    return [problem(located, ['limits', name], message, 'docs/reference/limits.md lists every limit')];
  });
}

function connectionProblems(name: string, entry: ConnectionConfig, located: Located): GraphsteadError[] {
  return [...variableProblems(name, entry, located), ...addressProblems(name, entry, located)];
}

/** What would be sent as it stands, and what no environment can name. */
function variableProblems(name: string, entry: ConnectionConfig, located: Located): GraphsteadError[] {
  const path = ['connections', name];
  const errors: GraphsteadError[] = [];
  for (const [place, text] of textsOf(entry, path)) {
    const stray = strayBraces(text);
    if (stray === undefined) continue;
    errors.push(problem(located, place, `${stray} is no placeholder`, fixOfBraces(stray)));
  }
  if (placeholdersIn(entry).length > 0 && !namesVariables(name)) {
    const fix = 'use letters, digits, - and _';
    errors.push(problem(located, path, `no variable can be named after the connection "${name}"`, fix));
  }
  return errors;
}

/** A manifest of Modus may have a function in them. */
function fixOfBraces(stray: string): string {
  const [, user, password] = /^\{\{\s*base64\(\s*([\w-]+)\s*:\s*([\w-]+)\s*\)/.exec(stray) ?? [];
  if (password === undefined) return 'write {{NAME}}, with letters, digits, - and _';
  return `leave the header out, and write "baseUrl": "https://{{${user}}}:{{${password}}}@host/"`;
}

function textsOf(value: unknown, path: readonly string[]): (readonly [readonly string[], string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, [...path, key]));
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function headerProblems(path: readonly string[], headers: object, located: Located): GraphsteadError[] {
  return Object.keys(headers)
    .filter((header) => !HEADER_NAME.test(header))
    .map((header) =>
      problem(located, [...path, 'headers', header], `"${header}" is no name of a header`, 'correct its spelling'),
    );
}

const ADDRESS_KEYS = ['grpcTarget', 'connStr', 'connString'];

function addressProblems(name: string, entry: ConnectionConfig, located: Located): GraphsteadError[] {
  const path = ['connections', name];
  if (entry.type === 'http') {
    const headers = headerProblems(path, entry.headers ?? {}, located);
    if (/[?#]/.test(entry.baseUrl)) {
      const fix = 'leave ? and what follows to the path of each call';
      return [...headers, problem(located, [...path, 'baseUrl'], 'baseUrl has a query, which calls would lose', fix)];
    }
    if (entry.baseUrl.includes('{{') || isHttpAddress(entry.baseUrl)) return headers;
    return [
      ...headers,
      problem(
        located,
        [...path, 'baseUrl'],
        `baseUrl "${entry.baseUrl}" is no address`,
        'start it with http:// or https://',
      ),
    ];
  }
  const address = entry.connStr ?? entry.connString;
  const [used, unused] = ADDRESS_KEYS.filter((key) => key in entry);
  if (unused !== undefined) {
    return [
      problem(located, [...path, unused], `${used} stands beside ${unused}: calls go to one`, 'leave one of them out'),
    ];
  }
  if (entry.type === 'relational' || entry.type === 'postgresql') {
    if (address) return [];
    return [problem(located, path, `the connection "${name}" has no connStr`, 'add "connStr": "{{DATABASE_URL}}"')];
  }
  const target = (entry as GraphEntry).grpcTarget ?? address;
  if (target) return [];
  return [
    problem(located, path, `the connection "${name}" has no grpcTarget`, 'add "grpcTarget": "{{GRAPH_ENDPOINT}}"'),
  ];
}

// The compiler does not narrow a union by a discriminant that is itself a union.
type GraphEntry = Extract<ConnectionConfig, { type: 'graph' | 'dgraph' }>;

/** Two connections whose variables have one name would get each other's secrets. */
function collisions(config: AppConfig, located: Located): GraphsteadError[] {
  const owners = new Map<string, string>();
  const errors: GraphsteadError[] = [];
  for (const [name, entry] of Object.entries(config.connections)) {
    for (const placeholder of placeholdersIn(entry)) {
      const variable = variableName(name, placeholder);
      const owner = owners.get(variable);
      if (owner !== undefined && owner !== name) {
        errors.push(
          problem(
            located,
            ['connections', name],
            `the connections "${owner}" and "${name}" both read ${variable}`,
            'rename one of them',
          ),
        );
      }
      owners.set(variable, name);
    }
  }
  return errors;
}
