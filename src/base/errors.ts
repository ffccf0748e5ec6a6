/**
 * The closed list of error codes. A code never changes its meaning; the number is the HTTP status that the
 * default mode answers with (`--compat dgraph` answers 200 with `errors` where the peer does).
 */
export const ERROR_STATUS = {
  // malformed input
  SYNTAX: 400,
  INVALID_REQUEST: 400,
  INVALID_QUERY: 400,
  INVALID_MUTATION: 400,
  INVALID_VALUE: 400,
  INVALID_SCHEMA: 400,
  INVALID_GRAPHQL: 400,
  INVALID_SDL: 400,
  UNSUPPORTED_DELETE: 400,
  UNKNOWN_PREDICATE: 400,
  MISSING_INDEX: 400,
  INDEX_BUILDING: 503,
  UNSUPPORTED_MEDIA_TYPE: 415,
  METHOD_NOT_ALLOWED: 405,
  NOT_FOUND: 404,
  BODY_TOO_LARGE: 413,
  LIMIT_EXCEEDED: 400,
  KEY_TOO_LARGE: 400,
  VALUE_TOO_LARGE: 400,
  // transactions
  TXN_ABORTED: 409,
  TXN_UNKNOWN: 400,
  TXN_EXPIRED: 409,
  TXN_FINISHED: 400,
  TXN_READ_ONLY: 400,
  UNIQUE_VIOLATION: 409,
  IDEMPOTENCY_MISMATCH: 422,
  TOO_MANY_TRANSACTIONS: 429,
  // the service
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  TIMEOUT: 504,
  CANCELLED: 499,
  OVERLOADED: 503,
  NOT_READY: 503,
  READ_ONLY_STORE: 503,
  DISK_FULL: 507,
  STORE_FENCED: 503,
  STORE_CORRUPT: 500,
  STORE_LOCKED: 503,
  STORE_FORMAT: 500,
  INTERNAL: 500,
  // custom logic and outgoing calls
  REMOTE_FAILED: 502,
  REMOTE_REPLY: 502,
  REMOTE_TIMEOUT: 504,
  REMOTE_REFUSED: 403,
  CIRCUIT_OPEN: 503,
  NON_NULL: 200,
  NOT_EXECUTED: 200,
  // apps
  CONFIG: 400,
  MISSING_VARIABLE: 400,
  CONNECTION_FAILED: 502,
  CONNECTION_UNKNOWN: 400,
  MODEL_FAILED: 502,
  MODEL_UNKNOWN: 400,
  FUNCTION_FAILED: 200,
  FUNCTION_TIMEOUT: 504,
  FUNCTION_TYPE: 400,
  APP_LOAD: 400,
  // agents
  AGENT_UNKNOWN: 404,
  AGENT_TYPE_UNKNOWN: 400,
  AGENT_ID_MISSING: 400,
  AGENT_TERMINATED: 410,
  AGENT_FAILED: 200,
  AGENT_TIMEOUT: 504,
  AGENT_CIRCLE: 409,
  AGENT_STATE: 400,
  MESSAGE_UNKNOWN: 400,
  MAILBOX_FULL: 429,
  OUTCOME_UNKNOWN: 504,
  TURN_CONFLICT: 409,
  EVENT_GAP: 410,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Where in a text a mistake stands; both count from 1. `source` names the text when it is a file or a fragment. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly source?: string;
}

export interface ErrorOptions {
  readonly position?: Position;
  /** One sentence that says what to do about it. */
  readonly fix?: string;
  /** Plain, printable data that goes into `extensions`; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Every failure that a user may see. `message` says what is wrong; `fix` what to do. */
export class GraphsteadError extends Error {
  override readonly name = 'GraphsteadError';
  readonly code: ErrorCode;
  readonly position?: Position;
  readonly fix?: string;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
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

/** Anything thrown, as a GraphsteadError: what is not ours becomes INTERNAL with the original as cause. */
export function asError(thrown: unknown): GraphsteadError {
  if (thrown instanceof GraphsteadError) return thrown;
  if (thrown instanceof GraphsteadErrors && thrown.errors[0]) return thrown.errors[0];
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new GraphsteadError('INTERNAL', message, { cause: thrown });
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
      ...(error.fix ? { fix: error.fix } : {}),
      ...(error.position?.source ? { source: error.position.source } : {}),
      ...error.details,
    },
  };
}

/** Programmer mistakes end here; user mistakes are GraphsteadErrors. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new GraphsteadError('INTERNAL', `assertion failed: ${message}`);
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
