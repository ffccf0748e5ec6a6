/**
 * The closed list of error codes. A code never changes its meaning; the number is the HTTP status that the
 * default mode answers with (`--compat dgraph` answers 200 with `errors` where the peer does).
 */
export const ERROR_STATUS = {
  // malformed input
  /** a text (query, mutation, RDF, JSON, schema lines) does not follow its grammar; the place is told */
  SYNTAX: 400,
  /** a parameter, header or body that the operation does not take, or a call at a moment that does not allow it */
  INVALID_REQUEST: 400,
  /** a query that reads well and means nothing: an unknown function, a variable never defined, too many arguments */
  INVALID_QUERY: 400,
  /** a mutation that cannot be applied: an edge where a value belongs, a node that is no uid */
  INVALID_MUTATION: 400,
  /** a value that does not fit the type of its predicate or parameter */
  INVALID_VALUE: 400,
  /** schema lines of /alter that cannot be taken */
  INVALID_SCHEMA: 400,
  /** a GraphQL document or its variables do not fit the schema that is served */
  INVALID_GRAPHQL: 400,
  /** type definitions that break a rule; `rule` names it */
  INVALID_SDL: 400,
  /** a delete of the form `* <predicate> <object>` or `* * <object>` */
  UNSUPPORTED_DELETE: 400,
  /** a function needs an index that the predicate does not have */
  MISSING_INDEX: 400,
  /** a function needs an index that is still being built */
  INDEX_BUILDING: 503,
  /** a Content-Type, charset or Content-Encoding that the path does not take */
  UNSUPPORTED_MEDIA_TYPE: 415,
  /** a mutation was sent by GET, a function that was called by GET would write, or a path does not take the method */
  METHOD_NOT_ALLOWED: 405,
  /** there is no such path, file or data directory */
  NOT_FOUND: 404,
  /** the body, also after unpacking, is larger than the path takes */
  BODY_TOO_LARGE: 413,
  /** a limit was reached; the message names it */
  LIMIT_EXCEEDED: 400,
  /** a name or an id is longer than a key of the store may be */
  KEY_TOO_LARGE: 400,
  /** one value is larger than a commit takes */
  VALUE_TOO_LARGE: 400,
  // transactions
  /** another transaction committed a change to something that this one read or wrote: run it again as a whole */
  TXN_ABORTED: 409,
  /** the start timestamp belongs to no open transaction, also after a restart */
  TXN_UNKNOWN: 400,
  /** the transaction was idle for too long, or needs a snapshot that is gone */
  TXN_EXPIRED: 409,
  /** the transaction was committed or aborted before */
  TXN_FINISHED: 400,
  /** a change in a read-only transaction */
  TXN_READ_ONLY: 400,
  /** a value under `@unique` or `@id` that another node has */
  UNIQUE_VIOLATION: 409,
  /** a mutation would leave an edge with `@restrict` empty: a node at its other end deleted, or the edge taken over */
  EDGE_RESTRICTED: 409,
  /** an Idempotency-Key that was used with another body */
  IDEMPOTENCY_MISMATCH: 422,
  /** clients hold as many transactions open as limits.transactions allows, or functions as limits.functionTransactions, or as many bytes of changes as limits.openChangesBytes */
  TOO_MANY_TRANSACTIONS: 429,
  // the service
  /** the API key or the token is missing, wrong or expired */
  UNAUTHENTICATED: 401,
  /** a rule of `@auth` or an agent's `mayListen` refuses it, a hash is not that of the transaction, or a page of another site asks */
  FORBIDDEN: 403,
  /** the Host header names another service, where nothing needs a key: a page of another site may stand behind it */
  HOST_REFUSED: 403,
  /** the deadline passed before the answer was ready, or a request did not come to its end in time */
  TIMEOUT: 504,
  /** the client went away, or the service stopped, before the answer was ready */
  CANCELLED: 499,
  /** a queue is full, or memory is, or the machine gives no process to run the app in, or no more open files: try again later */
  OVERLOADED: 503,
  /** the service is starting or stopping */
  NOT_READY: 503,
  /** an operator has taken the service out of use (`draining` of /admin): ask another one, or come back after Retry-After */
  DRAINING: 503,
  /** a change on a store that was opened for reading */
  READ_ONLY_STORE: 503,
  /** the disk has no room left, or takes no more writes; reads go on, and on a full one what drops data */
  DISK_FULL: 507,
  /** the data directory or the database was taken over by another process, the directory is no longer where it was, or the database went back to an older state: this one no longer writes */
  STORE_FENCED: 503,
  /** the files of the store are damaged: restore a backup */
  STORE_CORRUPT: 500,
  /** another process holds the data directory */
  STORE_LOCKED: 503,
  /** the data directory was written in a format that this version does not read */
  STORE_FORMAT: 500,
  /** a mistake of graphstead itself; the log has the rest */
  INTERNAL: 500,
  // custom logic and outgoing calls
  /** an endpoint of custom logic, or the key set of tokens, could not be reached or answered with a failure */
  REMOTE_FAILED: 502,
  /** a remote answered something that cannot be used: no JSON, a list in place of an object, a reply cut short */
  REMOTE_REPLY: 502,
  /** a remote did not answer within limits.outboundMs */
  REMOTE_TIMEOUT: 504,
  /** the address of an outgoing call is link-local or a metadata service */
  REMOTE_REFUSED: 403,
  /** a remote failed too often in a row and is left alone for limits.circuitOpenMs */
  CIRCUIT_OPEN: 503,
  /** a field declared non-null has no value: its parent becomes null */
  NON_NULL: 200,
  /** a mutation that follows a failed one in the same request */
  NOT_EXECUTED: 200,
  // apps
  /** a mistake in app.json or in how the service was started; file and line are told */
  CONFIG: 400,
  /** an environment variable that a connection or a secret needs is not set, or type definitions may not read it */
  MISSING_VARIABLE: 400,
  /** a connection of app.json could not be reached, or its server refused */
  CONNECTION_FAILED: 502,
  /** app.json has no such connection, or it is of another type */
  CONNECTION_UNKNOWN: 400,
  /** a model's endpoint refused, or answered something that is no chat reply */
  MODEL_FAILED: 502,
  /** app.json has no such model */
  MODEL_UNKNOWN: 400,
  /** a function of the app threw */
  FUNCTION_FAILED: 200,
  /** a function used more thread time or wall time than it may */
  FUNCTION_TIMEOUT: 504,
  /** a type of a function's signature has no form in GraphQL; file and line are told */
  FUNCTION_TYPE: 400,
  /** the app's TypeScript has a type error; file and line are told */
  TYPE: 400,
  /** the app's code could not be compiled or loaded; what ran before keeps running */
  APP_LOAD: 400,
  /** `dev` loaded the app anew while one of its functions streamed: subscribe again */
  APP_RELOADED: 503,
  // agents
  /** no agent has this id */
  AGENT_UNKNOWN: 404,
  /** the loaded app registers no agent type of this name */
  AGENT_TYPE_UNKNOWN: 400,
  /** an agent id is missing or empty */
  AGENT_ID_MISSING: 400,
  /** the agent was stopped for good */
  AGENT_TERMINATED: 410,
  /** a handler or hook of an agent threw */
  AGENT_FAILED: 200,
  /** a turn used more thread time or wall time than it may */
  AGENT_TIMEOUT: 504,
  /** a synchronous message would make agents wait for each other in a circle */
  AGENT_CIRCLE: 409,
  /** JSON does not give an agent's state back as it is, the stored one is of a newer version than the class, or a migration is missing */
  AGENT_STATE: 400,
  /** the agent's type knows no message of this name */
  MESSAGE_UNKNOWN: 400,
  /** as many messages wait for the agent as limits.mailboxMessages allows */
  MAILBOX_FULL: 429,
  /** it may have been done, or may be still: the sender stopped waiting, the service that writes did not answer, the database was away when the service ended, or neither log nor file could be written */
  OUTCOME_UNKNOWN: 504,
  /** what the turn read was changed meanwhile, and trying again did not help */
  TURN_CONFLICT: 409,
  /** events behind the given id are no longer kept */
  EVENT_GAP: 410,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Where in a text a mistake stands; both count from 1. `source` names the text when it is a file or a fragment. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly source?: string;
}

interface ErrorOptions {
  readonly position?: Position;
  /** One sentence that says what to do about it. */
  readonly fix: string;
  /** Plain, printable data that goes into `extensions`; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Every failure that a user may see. `message` says what is wrong; `fix` what to do. */
export class GraphsteadError extends Error {
  override readonly name = 'GraphsteadError';
  readonly code: ErrorCode;
  readonly position?: Position;
  readonly fix: string;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.position = options.position;
    this.fix = options.fix;
    this.details = options.details;
  }

  /** HTTP status of this error in the default mode. */
  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** Several mistakes told at once (type definitions, app.json, function types). */
export class GraphsteadErrors extends Error {
  override readonly name = 'GraphsteadErrors';
  constructor(readonly errors: readonly GraphsteadError[]) {
    super(errors.map((error) => error.message).join('\n'));
  }
}

/**
 * Anything thrown, as a GraphsteadError: what is not ours becomes INTERNAL with the original as cause. Input that exhausts
 * the stack where no limit of ours stopped it (in a library, say) is LIMIT_EXCEEDED; files that the system does not give are
 * OVERLOADED.
 */
export function asError(thrown: unknown): GraphsteadError {
  if (thrown instanceof GraphsteadError) return thrown;
  if (thrown instanceof GraphsteadErrors && thrown.errors[0]) return thrown.errors[0];
  if (thrown instanceof RangeError && /call stack/.test(thrown.message)) {
    return new GraphsteadError('LIMIT_EXCEEDED', 'the request nests deeper than can be worked through', {
      fix: 'Send it in smaller parts, or with fewer levels that lead from one to the next.',
      cause: thrown,
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (/\b(EMFILE|ENFILE)\b|too many open files/i.test(message)) {
    return new GraphsteadError('OVERLOADED', `the system gives no more open files: ${message}`, {
      fix: 'raise the limit of open files: ulimit -n, LimitNOFILE of a unit, --ulimit nofile of a container',
      cause: thrown,
    });
  }
  return internal(message, thrown);
}

/** A mistake of graphstead itself, which nobody else can mend. */
export function internal(message: string, cause?: unknown): GraphsteadError {
  const fix = 'this is a mistake of graphstead: report it with what was asked and what the log says about it';
  return new GraphsteadError('INTERNAL', message, { fix, cause });
}

/** Whoever asked is gone, or asks for nothing any more. */
export function cancelled(message: string): GraphsteadError {
  const fix = 'stay connected until the answer is there; send a change again with the Idempotency-Key that it had';
  return new GraphsteadError('CANCELLED', message, { fix });
}

/** The `code` of anything thrown: the system's, a library's or ours; undefined where it has none, or none that can be read. */
export function codeOf(thrown: unknown): string | undefined {
  try {
    const { code } = Object(thrown) as { readonly code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}

/** One entry of an `errors` list as it goes over HTTP. */
export interface WireError {
  readonly message: string;
  readonly locations?: readonly { line: number; column: number }[];
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

export function toWire(error: GraphsteadError, path?: readonly (string | number)[]): WireError {
  return {
    message: error.message,
    ...(error.position ? { locations: [{ line: error.position.line, column: error.position.column }] } : {}),
    ...(path ? { path } : {}),
    extensions: {
      code: error.code,
      fix: error.fix,
      ...(error.position?.source ? { source: error.position.source } : {}),
      ...error.details,
    },
  };
}

/** Programmer mistakes end here; user mistakes are GraphsteadErrors. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw internal(`assertion failed: ${message}`);
}

/** Line and column (from 1) of an offset in a text. */
export function positionAt(text: string, offset: number, source?: string): Position {
  let line = 1;
  let start = 0;
  for (let i = text.indexOf('\n'); i !== -1 && i < offset; i = text.indexOf('\n', i + 1)) {
    line++;
    start = i + 1;
  }
  return { line, column: offset - start + 1, ...(source ? { source } : {}) };
}

/** The same mistakes with the name of the file they stand in. */
export function withSource(error: unknown, source: string): unknown {
  if (error instanceof GraphsteadErrors) {
    return new GraphsteadErrors(error.errors.map((one) => withSource(one, source) as GraphsteadError));
  }
  if (!(error instanceof GraphsteadError)) return error;
  const { code, message, fix, details, position = { line: 1, column: 1 } } = error;
  return new GraphsteadError(code, message, { fix, details, position: { ...position, source }, cause: error });
}

/** A mistake with its place and its fix; `source` names what it stands in, where it does not say so itself. */
export function inOneLine({ position, message, fix }: GraphsteadError, source: string): string {
  const place = position ? `${position.source ?? source}:${position.line}:${position.column} ` : '';
  return `${place}${message} (${fix})`;
}
