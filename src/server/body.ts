import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { codeOf, GraphsteadError, type Limits, parseJson } from '../base/index.js';

/**
 * Bodies arrive as bytes, whatever their type: each route parses its own language, so that mistakes have positions.
 * `Content-Encoding: gzip` is undone here, within the same limit.
 */
export function acceptBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** smaller ones are not counted: that would cost each request, and many of them are little */
export const COUNTED_BODY = 64 * 1024;

/** methods whose bodies are thrown away as they come */
const UNREAD: ReadonlySet<string> = new Set(['GET', 'HEAD', 'TRACE']);

/**
 * Refuses a large body while those of other requests take `limits.largeBodiesBytes`, before any of it is read: clients that
 * stop in the middle would hold them all. One of a length that is not told counts as it comes, and is refused where it comes to more.
 */
export function boundBodies(app: FastifyInstance, { largeBodiesBytes }: Pick<Limits, 'largeBodiesBytes'>): void {
  let held = 0;
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (UNREAD.has(request.method)) return done(null, payload);
    const length = Number(request.headers['content-length'] ?? 0);
    const isTold = request.headers['transfer-encoding'] === undefined;
    if (isTold && length < COUNTED_BODY) return done(null, payload);
    if (held > 0 && held + length > largeBodiesBytes) return done(tooManyBytes(largeBodiesBytes));
    let own = length;
    held += length;
    const count = (part: Buffer) => {
      own += part.length;
      held += part.length;
      if (held <= largeBodiesBytes || held === own) return;
      payload.off('data', count);
      // ends the reading of it; to destroy it would take the connection, and the answer with it
      payload.emit('error', tooManyBytes(largeBodiesBytes));
    };
    // the framework listens to errors no longer than it reads, and one that nobody hears would end the process
    if (!isTold) payload.on('data', count).on('error', () => undefined);
    reply.raw.once('close', () => {
      payload.off('data', count);
      held -= own;
    });
    done(null, payload);
  });
}

function tooManyBytes(limit: number): GraphsteadError {
  return new GraphsteadError('OVERLOADED', 'the bodies of other requests take all the memory that there is for them', {
    fix: `limits.largeBodiesBytes is ${limit}: send fewer large requests at a time`,
  });
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A request, as far as its body is read: the bytes, or nothing where there are none. */
export interface Sent {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** The body as text. Throws BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE (charset), INVALID_REQUEST on bytes that are no UTF-8 or no gzip. */
export function bodyText(request: Sent, limit: number): string {
  checkCharset(request);
  return utf8Text(decoded(request, limit), 'the body');
}

/** Bytes as text. Throws INVALID_REQUEST where they are no UTF-8: other characters would be stored in silence. */
export function utf8Text(bytes: Uint8Array, what: string): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new GraphsteadError('INVALID_REQUEST', `${what} is not valid UTF-8`, {
      fix: 'send the text encoded as UTF-8',
    });
  }
}

function checkCharset(request: Sent): void {
  if (request.headers['content-type'] === 'application/json') return;
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(String(request.headers['content-type'] ?? ''))?.[1];
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return;
  throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `Unsupported charset "${charset}"`, {
    fix: 'send the text as UTF-8',
  });
}

function decoded(request: Sent, limit: number): Buffer {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const encoding = String(request.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || encoding === '') return bytes;
  const unzip =
    encoding === 'gzip' || encoding === 'x-gzip' ? gunzipSync : encoding === 'deflate' ? inflateSync : undefined;
  if (!unzip) {
    throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `Content-Encoding "${encoding}" is not supported`, {
      fix: 'use gzip, deflate or none',
    });
  }
  try {
    return unzip(bytes, { maxOutputLength: limit });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new GraphsteadError('INVALID_REQUEST', `the body is not valid ${encoding}`, { cause: error });
  }
}

export function tooLarge(limit: number): GraphsteadError {
  return new GraphsteadError('BODY_TOO_LARGE', `the body is larger than ${limit} bytes`, {
    fix: 'send it in smaller requests, or raise limits.graphqlBodyBytes (GraphQL, /admin) or limits.graphBodyBytes (all other)',
    details: { limit },
  });
}

/** The media type of the body, lower-case, without parameters; "" when none is given. */
export function mediaType(request: Pick<Sent, 'headers'>): string {
  const type = request.headers['content-type'];
  if (type === undefined || type === 'application/json') return type ?? '';
  return type.split(';')[0].trim().toLowerCase();
}

/** A JSON object. Throws SYNTAX with the position where the engine tells one. */
export function parseJsonObject(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
    // integers beyond 2^53 come as text, which keeps every digit: an Int64 takes both
    if (/\d{16}/.test(text)) value = parseJson(text)?.value ?? value;
  } catch (error) {
    throw new GraphsteadError('SYNTAX', `${what} is not valid JSON: ${(error as Error).message}`, {
      position: jsonPosition(text, error as Error),
      fix: 'send one JSON object',
    });
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new GraphsteadError('INVALID_REQUEST', `${what} must be a JSON object`, {
      fix: Array.isArray(value) ? 'send each one of the list as a request of its own' : 'wrap it in { }',
    });
  }
  return value as Record<string, unknown>;
}

function jsonPosition(text: string, error: Error): { line: number; column: number } {
  const match = /position (\d+)/.exec(error.message);
  const before = text.slice(0, match ? Number(match[1]) : text.length);
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}
