import { GraphsteadError, isRecord, parseJson } from '../base/index.js';
import type { OutboundReply, RemoteAnswer, RemoteError } from './contract.js';

/**
 * What a REST remote answered. A reply that is not 2xx gives its `errors` list where it has one. Throws REMOTE_FAILED
 * for any other status, REMOTE_REPLY for a reply that is not JSON.
 */
export function readRestReply(reply: OutboundReply): RemoteAnswer {
  const parsed = parseJson(reply.body.toString());
  if (reply.status < 200 || reply.status > 299) {
    const errors = errorsOf(parsed?.value);
    if (errors.length > 0) return { value: null, errors };
    throw statusFailure(reply.status);
  }
  if (reply.body.length === 0) return { value: null, errors: [] };
  if (!parsed) throw notJson();
  return { value: parsed.value, errors: [] };
}

/**
 * What a GraphQL remote answered for one field: its value, and the remote's own errors. Throws as readRestReply does,
 * and REMOTE_REPLY for a reply with neither data nor errors.
 */
export function readGraphqlReply(reply: OutboundReply, field: string): RemoteAnswer {
  const parsed = parseJson(reply.body.toString());
  const errors = errorsOf(parsed?.value);
  const data = record(record(parsed?.value)?.['data']);
  if (data && Object.hasOwn(data, field)) return { value: data[field], errors };
  if (errors.length > 0) return { value: null, errors };
  if (reply.status < 200 || reply.status > 299) throw statusFailure(reply.status);
  if (!parsed) throw notJson();
  throw new GraphsteadError('REMOTE_REPLY', `the reply has no data.${field}`, {
    fix: 'Name the address of a GraphQL server, and a field that it has.',
  });
}

function statusFailure(status: number): GraphsteadError {
  return new GraphsteadError('REMOTE_FAILED', `the remote answered with status ${status}`, {
    details: { remoteStatus: status },
    fix: statusFix(status),
  });
}

function statusFix(status: number): string {
  if (status >= 300 && status < 400) return 'Redirects are not followed: name the address that it leads to.';
  if (status === 401 || status === 403) {
    return 'Give it what it wants to know of the caller: forwardHeaders copies headers of the request, secretHeaders adds secrets.';
  }
  if (status === 404 || status === 405) return 'Check the url and the method, and what was put into the url.';
  if (status === 429 || status >= 500) return 'Ask again later, or look at what the remote says in its log.';
  return 'Check what the url and the body send, and the headers that the remote needs.';
}

function notJson(): GraphsteadError {
  return new GraphsteadError('REMOTE_REPLY', 'the reply is not JSON', { fix: 'Name an address that answers JSON.' });
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

/** What goes on to clients is walked through by recursion. */
const DEEPEST = 100;

function isShallow(value: unknown, left = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => isShallow(inner, left - 1));
}

/** The well-formed members of an `errors` list; what is malformed in them, or nests too deep, is left out. */
function errorsOf(value: unknown): RemoteError[] {
  const list = record(value)?.['errors'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item): RemoteError[] => {
    const error = record(item);
    const message = typeof item === 'string' ? item : error?.['message'];
    if (typeof message !== 'string') return [];
    const [path, locations, extensions] = [error?.['path'], error?.['locations'], record(error?.['extensions'])];
    return [
      {
        message,
        ...(isPath(path) ? { path } : {}),
        ...(isLocations(locations) ? { locations } : {}),
        ...(extensions && isShallow(extensions) ? { extensions } : {}),
      },
    ];
  });
}

function isPath(value: unknown): value is readonly (string | number)[] {
  return Array.isArray(value) && value.every((part) => typeof part === 'string' || typeof part === 'number');
}

function isLocations(value: unknown): value is readonly { readonly line: number; readonly column: number }[] {
  return (
    Array.isArray(value) &&
    value.every((place) => typeof record(place)?.['line'] === 'number' && typeof record(place)?.['column'] === 'number')
  );
}
