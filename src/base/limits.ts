import { LONGEST_TIMER } from './clock.js';
import { GraphsteadError } from './errors.js';

/**
 * Every bound of the service in one place. Each can be set in the configuration under `limits.<name>` or in the
 * environment as GRAPHSTEAD_LIMIT_<NAME>; an error that a limit causes names the limit and its value.
 */
export const DEFAULT_LIMITS = {
  // HTTP
  /** bytes of a body of /mutate, /query, /alter, /commit, and of a request over gRPC */
  graphBodyBytes: 64 * 1024 * 1024,
  /** bytes of a body of /graphql and /admin */
  graphqlBodyBytes: 8 * 1024 * 1024,
  /** bytes of bodies above 64 KiB, of all requests that are read or answered at a time; at most a 24th of the heap where nobody sets it */
  largeBodiesBytes: 1024 * 1024 * 1024,
  /** milliseconds in which a request must have come whole, its body too; a TLS handshake, and its headers, in a minute of them */
  requestMs: 300_000,
  /** bytes of answers above 1 MiB that clients have not read yet; while they are more, requests that may add to them are refused */
  largeAnswersBytes: 1024 * 1024 * 1024,
  /** milliseconds a client may take nothing of an answer above 1 MiB before its connection is closed */
  answerStallMs: 60_000,
  /** milliseconds a query may run */
  queryMs: 30_000,
  /** nesting of a query, a JSON mutation or a GraphQL document */
  nestingDepth: 200,
  /** tokens in one GraphQL document; what is long belongs into variables */
  documentTokens: 100_000,
  /** fields that one GraphQL document asks for, each fragment counted wherever it is spread, and those of an interface or a union once for each type that may stand there */
  documentFields: 20_000,
  /** objects in the filters of one field of a GraphQL operation; lists of values and ids are not counted */
  filterParts: 20_000,
  /** tokens in one graph-language query; RDF and JSON of mutations are not counted */
  syntaxTokens: 250_000,
  /** fields that one graph-language query asks for, each fragment counted wherever it is spread */
  queryFields: 50_000,
  /** bytes of one answer */
  answerBytes: 512 * 1024 * 1024,
  /** edges one query may touch */
  queryEdges: 50_000_000,
  /** edges @recurse may touch */
  recurseEdges: 10_000_000,
  /** levels of nodes @recurse may reach */
  recurseLevels: 1_000,
  /** routes that shortest may keep open at the same time */
  shortestRoutes: 2_000_000,
  /** milliseconds between two yields to the event loop inside a query */
  yieldMs: 10,
  /** milliseconds that requests under way have to finish when the service is stopped, and streams of functions when `dev` reloads */
  shutdownMs: 10_000,
  /** milliseconds after which those who are refused while the service drains are told to come back, as Retry-After in whole seconds */
  drainingRetryMs: 5_000,
  /** milliseconds that a stream of a function has to end in, `finally` blocks included, when its reader has left */
  streamEndMs: 2_000,
  /** milliseconds between two looks at the files of --tls-cert and --tls-key */
  tlsCheckMs: 10_000,
  /** milliseconds that the clock of whoever signs tokens may differ from the service's: so much before `nbf` and after `exp` a token is good */
  tokenSkewMs: 10_000,
  /** open server-sent-event streams and WebSockets, and operations that share one */
  streams: 20_000,
  /** bytes of a message over a WebSocket; a longer request goes by POST */
  webSocketMessageBytes: 256 * 1024,
  /** operations of a WebSocket that may be under way at a time */
  webSocketOperations: 1_000,
  /** milliseconds that a WebSocket waits for its client to say who it is (connection_init) */
  webSocketInitMs: 10_000,
  /** characters of the answer of a tool of /mcp; what is longer is cut, and says so */
  mcpAnswerChars: 100_000,
  /** milliseconds that a reserved event stream waits for its reader */
  reservationMs: 10_000,
  /** bytes a stream's reader may lag behind before it is read from the store again */
  streamBufferBytes: 1024 * 1024,
  /** parsed documents kept, by text */
  documentCache: 1_000,
  /** bytes of the texts of parsed documents kept, fields counted too: memory takes some 200 times as much */
  documentCacheBytes: 2 * 1024 * 1024,
  /** bytes of vectors and links of their indexes that searches keep in memory */
  vectorCacheBytes: 64 * 1024 * 1024,
  // store
  /** bytes that must stay free on disk for writes to go on */
  diskReserve: 256 * 1024 * 1024,
  /** bytes kept in a file that is given up so that what drops data has room on a full disk, and small writes after it */
  ballastBytes: 16 * 1024 * 1024,
  /** readers of the embedded store at the same time */
  readers: 1_024,
  /** connections to the database that holds the store, for reads; writes have one of their own */
  storeConnections: 8,
  /** bytes kept in memory of what was read from that database and written to it last */
  storeCacheBytes: 64 * 1024 * 1024,
  // commit
  /** milliseconds an open transaction may hold its snapshot */
  snapshotMs: 5_000,
  /** milliseconds an open transaction may idle before it expires */
  transactionIdleMs: 5 * 60_000,
  /** transactions that clients hold open at the same time; those of one request or call are not counted */
  transactions: 512,
  /** milliseconds an open transaction of a client may idle where as many as limits.transactions or limits.openChangesBytes are open */
  transactionIdleFullMs: 30_000,
  /** bytes of changes that wait in the open transactions of clients; while they are more, nothing is added to them */
  openChangesBytes: 1024 * 1024 * 1024,
  /** exports asked for over /admin that wait or run; so many of the last ones can be asked for by their taskId */
  exportTasks: 64,
  /** deltas in one commit */
  commitDeltas: 5_000_000,
  /** bytes in one commit */
  commitBytes: 256 * 1024 * 1024,
  /** intents in one group */
  groupIntents: 1_024,
  /** intents that wait for their group */
  commitQueue: 65_536,
  /** conflict keys the oracle remembers */
  oracleKeys: 2_000_000,
  /** milliseconds between two looks of a service that only reads for what the one that writes has committed; a query looks by itself */
  followMs: 50,
  /** requests that a service which only reads has sent on to the one that writes, and whose answers are not over */
  forwards: 10_000,
  /** milliseconds until the service that writes has begun its answer to one of them */
  forwardMs: 120_000,
  /** commit records kept for /changes: milliseconds */
  recordAgeMs: 7 * 24 * 3_600_000,
  /** commit records kept for /changes: bytes */
  recordBytes: 1024 * 1024 * 1024,
  /** times an upsert is tried again after a conflict before the client is told */
  upsertRetries: 8,
  /** hours an idempotency key's reply is kept */
  idempotencyHours: 24,
  // graph
  /** predicates in the schema, as many types, and twice as many fields in a type: each change of it goes through all of them */
  predicates: 50_000,
  /** uids leased in one durable block */
  uidLease: 10_000,
  /** facets of one edge or value, which are read and written in one piece */
  facets: 10_000,
  /** dimensions of a vector */
  vectorDimensions: 8_192,
  // outgoing
  /** milliseconds an outgoing call may take */
  outboundMs: 30_000,
  /** bytes of a reply to an outgoing call, or of what a database answers to one statement */
  outboundReplyBytes: 32 * 1024 * 1024,
  /** outgoing calls of one field at the same time */
  outboundConcurrency: 64,
  /** consecutive failures that open the circuit of one remote */
  circuitFailures: 20,
  /** milliseconds an open circuit waits before it lets one call through */
  circuitOpenMs: 10_000,
  // agents and functions
  /** milliseconds of thread time a turn or a function call may use */
  turnThreadMs: 10_000,
  /** milliseconds of wall time a turn or a function call may take */
  turnWallMs: 120_000,
  /** transactions that functions hold open by graph.transaction at the same time */
  functionTransactions: 512,
  /** milliseconds that an app's modules may take to load in a host process */
  hostLoadMs: 30_000,
  /** milliseconds a synchronous message waits for its reply */
  messageMs: 60_000,
  /** bytes of an agent's state */
  agentStateBytes: 4 * 1024 * 1024,
  /** states that an agent's class may keep of each agent (`static history`) */
  agentHistory: 1_000,
  /** bytes of the states kept of one agent: the oldest go first, the newest stays */
  agentHistoryBytes: 16 * 1024 * 1024,
  /** bytes of one event's name and data */
  eventBytes: 256 * 1024,
  /** events of one agent kept for replay */
  eventsPerAgent: 10_000,
  /** milliseconds an event is kept for replay */
  eventAgeMs: 7 * 24 * 3_600_000,
  /** bytes of one message's name and data */
  messageBytes: 1024 * 1024,
  /** messages waiting for one agent */
  mailboxMessages: 10_000,
  /** deliveries of an asynchronous message before it becomes a dead letter */
  messageAttempts: 5,
  /** dead letters kept for one agent */
  deadLetters: 1_000,
  /** milliseconds without a message before an agent is suspended */
  agentIdleMs: 60_000,
  /** alarms of one agent */
  alarmsPerAgent: 1_000,
  /** milliseconds from one round of a repeated alarm to the next, at least */
  alarmEveryMs: 1_000,
  /** megabytes of JavaScript heap of one host process */
  hostHeapMb: 512,
  /** bytes of one message between the service and a host process: arguments, a result, an answer of the graph, what a turn did; 4096 at least */
  hostMessageBytes: 64 * 1024 * 1024,
  /** keys of one index, or of one predicate's data, that the explorer counts before it says "more than" */
  sizeKeys: 5_000,
  /** milliseconds between two heartbeats on an event stream */
  heartbeatMs: 15_000,
} as const;

export type Limits = { readonly [K in keyof typeof DEFAULT_LIMITS]: number };

/** Where the service could not even begin with less. */
const LEAST: Readonly<Partial<Record<string, number>>> = { hostMessageBytes: 4_096, hostHeapMb: 8 };
/** Where more would not fit into a table, or into a time. */
const MOST: Readonly<Partial<Record<string, number>>> = { oracleKeys: 1_000_000_000, idempotencyHours: 876_000 };

function mostOf(name: string): number {
  // what is waited for needs a timer; an age is only compared
  const isWaited = name.endsWith('Ms') && !name.endsWith('AgeMs');
  return MOST[name] ?? (isWaited ? LONGEST_TIMER : Number.MAX_SAFE_INTEGER);
}

const PREFIX = 'GRAPHSTEAD_LIMIT_';
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.keys(DEFAULT_LIMITS).map((name) => [
    `${PREFIX}${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
    name,
  ]),
);

/**
 * Limits from defaults, then the environment, then explicit values.
 * Throws CONFIG on a value that is not a positive whole number, or too small or too large, or a name that does not exist.
 */
export function makeLimits(
  explicit: Partial<Record<keyof Limits, number>> = {},
  environment: Readonly<Record<string, string | undefined>> = {},
): Limits {
  const limits: Record<string, number> = { ...DEFAULT_LIMITS };
  for (const [variable, text] of Object.entries(environment)) {
    if (text === undefined || !variable.startsWith(PREFIX)) continue;
    const name = NAMES.get(variable);
    if (name === undefined) throw wrong(`${variable} names no limit`);
    const value = Number(text);
    if (Number.isNaN(value)) throw wrong(`${variable} must be a positive whole number, got ${JSON.stringify(text)}`);
    limits[name] = checked(name, variable, value);
  }
  for (const [name, value] of Object.entries(explicit)) {
    if (!(name in DEFAULT_LIMITS)) throw wrong(`unknown limit "${name}"`);
    if (value !== undefined) limits[name] = checked(name, name, value);
  }
  return Object.freeze(limits) as Limits;
}

/** @param shown how the limit was named */
function checked(name: string, shown: string, value: number): number {
  const mistake = limitMistake(name, value);
  if (mistake !== undefined) throw wrong(`${shown} ${mistake}`);
  return value;
}

/** What is wrong with a value of a limit, as it goes on behind the limit's name. */
export function limitMistake(name: string, value: number): string | undefined {
  // a yield may come after less than a millisecond
  if (name === 'yieldMs' && value > 0 && value < 1) return undefined;
  if (!Number.isInteger(value) || value <= 0) return `must be a positive whole number, got ${value}`;
  const [least, most] = [LEAST[name] ?? 1, mostOf(name)];
  if (value < least) return `must be at least ${least}, got ${value}`;
  return value > most ? `must be at most ${most}, got ${value}` : undefined;
}

function wrong(message: string): GraphsteadError {
  return new GraphsteadError('CONFIG', message, { fix: 'docs/reference/limits.md lists every limit' });
}
