import {
  asError,
  type ErrorCode,
  type GraphsteadError,
  GraphsteadErrors,
  type Names,
  toWire,
  type WireError,
} from '../base/index.js';

/** Codes that keep their HTTP status under `--compat dgraph`; every other failure answers 200 with `errors` there. */
const STATUS_KEPT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'HOST_REFUSED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'BODY_TOO_LARGE',
  'DISK_FULL',
  'NOT_READY',
  'DRAINING',
  'OVERLOADED',
  'TOO_MANY_TRANSACTIONS',
  // whoever stands in front has to see these: another service can answer, or nobody should ask this one
  'READ_ONLY_STORE',
  'STORE_FENCED',
  'STORE_CORRUPT',
]);

interface Failure {
  readonly status: number;
  readonly body: string;
}

/** What was thrown, as the `errors` envelope of the HTTP API. Internal errors keep their text out of the answer. */
export function failure(thrown: unknown, names: Names): Failure {
  const errors = thrown instanceof GraphsteadErrors ? thrown.errors : [asError(thrown)];
  const first = errors[0] ?? asError(thrown);
  const status = names.dgraph && !STATUS_KEPT.has(first.code) ? 200 : first.status;
  return { status, body: JSON.stringify({ errors: errors.map((error) => wire(error, names)), data: null }) };
}

/** Rooms write of stored names; the client reads its own. */
function wire(error: GraphsteadError, names: Names): WireError {
  const { message, extensions, ...rest } = toWire(error);
  return { message: names.told(message), ...rest, extensions: { ...extensions, fix: names.told(error.fix) } };
}

/** Answers from so many bytes on are packed for those who take that. */
export const PACKED_FROM = 1_024;

/** Answers up to so many bytes go out as text: headers and body are one write then. */
export const TEXT_BYTES = 8_192;

/** Set as a serializer, so that a text keeps the media type that it is given: the framework would write a charset behind it. */
export const asItIs = (text: string): string => text;

const SUCCESS = '{"code":"Success","message":"Done"}';

/** `{"data":{"code":"Success","message":"Done"},"extensions":...}` */
export function success(extensions?: unknown): string {
  return extensions === undefined
    ? `{"data":${SUCCESS}}`
    : `{"data":${SUCCESS},"extensions":${JSON.stringify(extensions)}}`;
}
