import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib';
import type { FastifyInstance, RequestPayload } from 'fastify';
import { GraphsteadError, parseJson } from '../base/index.js';
import { COUNTED_BODY, type LargeBodies } from './bodies.js';

/** Bodies arrive as bytes, whatever their type: each route parses its own language, so that mistakes have positions. */
export function acceptBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** until others have made room, as a rule */
const RETRY_SECONDS = 1;

/** methods whose bodies are thrown away as they come */
const UNREAD: ReadonlySet<string> = new Set(['GET', 'HEAD', 'TRACE']);

/**
 * Refuses a large body while those of other requests take `limits.largeBodiesBytes`, before any of it is read: clients that
 * stop in the middle would hold them all. One of a length that is not told counts as it comes, and is refused where it comes to more;
 * so does a packed one, by what comes out: `Content-Encoding: gzip` is undone here, as it comes, within the limit of the route.
 */
export function boundBodies(app: FastifyInstance, bodies: LargeBodies): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (UNREAD.has(request.method)) return done(null, payload);
    const { headers } = request;
    const length = Number(headers['content-length'] ?? 0);
    const isChunked = headers['transfer-encoding'] !== undefined;
    const unpack = length > 0 || isChunked ? unpacking(headers) : undefined;
    const isTold = !isChunked && unpack === undefined;
    if (isTold && length < COUNTED_BODY) return done(null, payload);
    const refusal = () => {
      reply.header('retry-after', RETRY_SECONDS);
      return bodies.refusal();
    };
    if (bodies.isFullFor(length)) return done(refusal());
    const body = unpack === undefined ? payload : unpacked(payload, unpack, reply.raw);
    let own = length;
    bodies.add(length);
    const count = (part: Buffer) => {
      own += part.length;
      bodies.add(part.length);
      if (!bodies.isFullBeside(own)) return;
      body.off('data', count);
      // ends the reading of it; to destroy it would take the connection, and the answer with it
      body.emit('error', refusal());
    };
    // the framework listens to errors no longer than it reads, and one that nobody hears would end the process
    if (!isTold) body.on('data', count).on('error', () => undefined);
    reply.raw.once('close', () => {
      body.off('data', count);
      bodies.remove(own);
    });
    done(null, body);
  });
}

/** What undoes the encoding of a body, which is plain from then on; undefined for one that is, or that nothing undoes. */
function unpacking(headers: IncomingHttpHeaders): Unpacking | undefined {
  const encoding = encodingOf(headers);
  const unpack = UNPACKING.get(encoding)?.();
  if (unpack !== undefined) delete headers['content-encoding'];
  return unpack && Object.assign(unpack, { receivedEncodedLength: 0 });
}

/** @param answer whoever is answered sends no more of it */
function unpacked(payload: RequestPayload, unpack: Unpacking, answer: ServerResponse): Unpacking {
  payload.on('data', (part: Buffer) => {
    unpack.receivedEncodedLength += part.length;
  });
  payload.on('error', (error) => unpack.destroy(error));
  answer.once('close', () => {
    payload.unpipe(unpack);
    unpack.destroy();
    // whatever is left of a body that was refused goes past, or its sender would wait for room
    payload.resume();
  });
  return payload.pipe(unpack);
}

/** with the bytes of it that have come, by which the framework knows whether all have */
type Unpacking = (Gunzip | Inflate) & { receivedEncodedLength: number };

const UNPACKING: ReadonlyMap<string, () => Gunzip | Inflate> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
]);

function encodingOf(headers: IncomingHttpHeaders): string {
  return String(headers['content-encoding'] ?? 'identity').toLowerCase();
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A request, as far as its body is read: the bytes, or nothing where there are none. */
export interface Sent {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** The body as text. Throws UNSUPPORTED_MEDIA_TYPE (charset, encoding), INVALID_REQUEST on bytes that are no UTF-8. */
export function bodyText(request: Sent): string {
  checkCharset(request);
  return utf8Text(bytesOf(request), 'the body');
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

/** What is packed and of a length has been unpacked as it came: see `boundBodies`. */
function bytesOf(request: Sent): Buffer {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const encoding = encodingOf(request.headers);
  if (encoding === 'identity' || encoding === '') return bytes;
  if (UNPACKING.has(encoding)) throw notPacked();
  throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `Content-Encoding "${encoding}" is not supported`, {
    fix: 'use gzip, deflate or none',
  });
}

export function notPacked(cause?: unknown): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', 'the body is not packed as its Content-Encoding says', {
    fix: 'pack it whole, or leave the header out',
    cause,
  });
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

/** Whether more texts than so many stand in JSON, names of members among them. */
export function hasMoreTexts(json: string, most: number): boolean {
  // the shortest stands in two quotes, with something behind it
  if (json.length < 3 * most) return false;
  let texts = 0;
  for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', at + 1)) {
    if (++texts > most) return true;
    at = endOfText(json, at);
    if (at < 0) return false;
  }
  return false;
}

/** Where the quote stands that ends the text which begins at `start`; below 0 where none does. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  for (; end >= 0; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) break;
  }
  return end;
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
