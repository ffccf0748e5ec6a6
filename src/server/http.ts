import { randomBytes } from 'node:crypto';
import { maxHeaderSize } from 'node:http';
import type { ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import compress from '@fastify/compress';
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, LogController } from 'fastify';
import {
  asError,
  cancelled,
  codeOf,
  type ErrorCode,
  GraphsteadError,
  GraphsteadErrors,
  type Limits,
  type Names,
} from '../base/index.js';
import type { LargeAnswers } from './answers.js';
import { pathOf } from './authenticate.js';
import type { LargeBodies } from './bodies.js';
import { acceptBytes, boundBodies, notPacked, tooLarge } from './body.js';
import { asItIs, failure, PACKED_FROM } from './envelope.js';
import type { Turns } from './in-turn.js';
import { pathAlone, refuseMalformed } from './malformed.js';
import { refuseSocket } from './refuse-socket.js';
import { handshakeMs, type ServedTls } from './tls.js';

interface HttpOptions {
  /** undefined speaks plain HTTP */
  readonly tls?: ServedTls;
  readonly limits: Limits;
  readonly names: Names;
  readonly log: FastifyBaseLogger;
  readonly answers: LargeAnswers;
  readonly bodies: LargeBodies;
  readonly turns: Turns;
  /** the id of a request that names none */
  readonly nextId: () => string;
}

/** milliseconds between two looks for requests that take too long to come, at most */
const CHECK_MS = 30_000;

const PATHS = 'see the HTTP reference: /graphql, /query, /mutate, /alter, /commit, /admin/schema, /health';
/** paths that are served elsewhere, or that the peer has */
const NOT_HERE: readonly (readonly [paths: RegExp, fix: string])[] = [
  [/^\/(explorer(\/.*)?)?$/, 'the explorer is served by dev, and by start --explorer'],
  [/^\/admin\/(draining|shutdown)$/, 'send it as GraphQL to POST /admin: mutation { shutdown { response { code } } }'],
  [/^\/admin\/config\//, 'limits are set before the start: GRAPHSTEAD_LIMIT_<NAME>'],
  [/^\/login$/, 'nobody logs in: send a key of GRAPHSTEAD_API_KEYS as Authorization: Bearer <key>'],
];

/** The HTTP server without its routes: bodies as bytes, errors as envelopes, gzip. */
export async function createHttp(options: HttpOptions): Promise<FastifyInstance> {
  const { requestMs } = options.limits;
  // told to both: the framework sets only the time for the whole, and Node's for headers must not be more
  const server = {
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(requestMs, CHECK_MS),
    // see refuseMalformed
    requireHostHeader: false,
  };
  const app: FastifyInstance = fastify({
    ...(options.tls ? { https: { ...httpsOf(options.tls, options.limits), ...server } } : { http: server }),
    requestTimeout: requestMs,
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.limits.graphBodyBytes,
    genReqId: options.nextId,
    requestIdHeader: 'x-request-id',
    // what is logged of a request names its id itself: a logger for each would be made for nothing
    childLoggerFactory: (logger) => logger,
    forceCloseConnections: 'idle',
    // see refuseLate
    return503OnClosing: false,
    // an address that cannot be decoded comes by no route, and so past the handler of errors
    frameworkErrors: (error, request, reply) => {
      const { status, body } = failure(translate(error, options.limits.graphBodyBytes), options.names);
      const answer = reply as FastifyReply;
      answer.code(status).header('x-request-id', request.id).header('content-type', 'application/json').send(body);
    },
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, options),
    schemaController: NO_SCHEMAS,
    rewriteUrl: pathAlone,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 },
  });
  // those who name no host in the handshake get the server's own
  options.tls?.onRenewed((tls) => (app.server as unknown as TlsServer).setSecureContext(tls));
  options.turns.keep(app); // first: whoever waits has not begun
  acceptBytes(app);
  boundBodies(app, options.bodies);
  // before answers are packed
  options.answers.bound(app);
  await app.register(compress, {
    global: true,
    threshold: PACKED_FROM,
    encodings: ['gzip', 'deflate'],
    globalDecompression: false,
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  refuseMalformed(app, options.names);
  app.setErrorHandler((error, request, reply) => {
    // nothing of the service has failed then, and whoever asks must not fill the log
    const left = request.raw.readableAborted;
    const limit = request.routeOptions.bodyLimit ?? options.limits.graphBodyBytes;
    const ours = left ? cancelled('the client went away before its request had come whole') : translate(error, limit);
    const answer = failure(ours, options.names);
    if (answer.status === 401) reply.header('www-authenticate', 'Bearer');
    // the framework would close it with the rest of the body on its way: a client that sends all of it first is reset, and never reads why
    if (codeOf(ours) === 'BODY_TOO_LARGE') reply.removeHeader('connection');
    if (left) request.log.debug({ requestId: request.id }, 'the client went away in the middle of its request');
    else logFailure(request.log, request.id, ours);
    return reply.code(answer.status).header('content-type', 'application/json').serializer(asItIs).send(answer.body);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const methods = (['GET', 'POST', 'PUT', 'DELETE'] as const).filter((method) => app.hasRoute({ method, url: path }));
    if (methods.length > 0) {
      reply.header('allow', methods.join(', '));
      throw new GraphsteadError('METHOD_NOT_ALLOWED', `${path} does not take ${request.method}`, {
        fix: `use ${methods.join(', ')}`,
      });
    }
    throw new GraphsteadError('NOT_FOUND', `${request.method} ${path} does not exist`, {
      fix: NOT_HERE.find(([paths]) => paths.test(path))?.[1] ?? PATHS,
    });
  });
  return app;
}

/** Whoever names the host gets the current certificate, also on the second address that `localhost` may have. */
function httpsOf(tls: ServedTls, limits: Limits): ServerOptions {
  const { cert, key } = tls.current;
  return {
    cert,
    key,
    handshakeTimeout: handshakeMs(limits),
    SNICallback: (_host, done) => done(null, tls.current.context),
  };
}

/** What is no HTTP, has more headers than are read, or does not come to its end, is told like everything else; then the connection ends. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, { names, turns }: HttpOptions): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const { status, refusal } = refusalOf(error);
  // in the middle of an answer, or in its place, it would be taken for that
  turns.refuseLast(socket, () => refuseSocket(socket, status, failure(refusal, names).body));
}

function refusalOf({ code, message }: NodeJS.ErrnoException): { status: number; refusal: GraphsteadError } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const refusal = new GraphsteadError('LIMIT_EXCEEDED', `the headers are longer than ${maxHeaderSize} bytes`, {
      fix: 'send fewer or shorter headers, and a long query in the body of a POST',
    });
    return { status: 431, refusal };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const refusal = new GraphsteadError('TIMEOUT', 'the request did not come to its end in time (limits.requestMs)', {
      fix: 'send it again, in smaller parts over a slow line, or raise the limit',
    });
    return { status: 408, refusal };
  }
  const refusal = new GraphsteadError('INVALID_REQUEST', `this is no HTTP/1.1 request: ${message}`, {
    fix: 'look at what the client sends; TLS is spoken only where the service was started with --tls-cert',
  });
  return { status: 400, refusal };
}

/** Routes check their bodies themselves: without these the framework loads two compilers that nothing uses. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } };

function noCompiler(): never {
  throw new Error('no route has a schema');
}

/** Tells the log of a failure that is the service's, whatever status it is answered with; those of clients are theirs. */
export function logFailure(log: FastifyBaseLogger, requestId: string, thrown: unknown): void {
  const error = thrown instanceof GraphsteadErrors ? (thrown.errors[0] ?? asError(thrown)) : asError(thrown);
  if (PASSING.has(error.code)) log.warn({ requestId }, `request refused: ${error.message}`);
  else if (error.status >= 500) log.error({ err: thrown, requestId }, 'request failed');
}

/** Unique without asking for random bytes each time: some of this process, then a count. */
export function requestIds(): () => string {
  const process = randomBytes(8).toString('hex');
  let count = 0;
  return () => `${process}-${(++count).toString(36)}`;
}

/** Refusals of a service that is well: under load there are many, and a stack would say nothing. */
const PASSING: ReadonlySet<unknown> = new Set<ErrorCode>([
  'OVERLOADED',
  'INDEX_BUILDING',
  'NOT_READY',
  'TIMEOUT',
  'READ_ONLY_STORE',
]);

/** The framework's own refusals, in our words. */
function translate(error: unknown, bodyLimit: number): unknown {
  const code = codeOf(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(bodyLimit);
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return new GraphsteadError('INVALID_REQUEST', 'the Content-Length header does not match the body', {
      fix: 'send the number of bytes of the body as it goes over the wire',
    });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', 'the Content-Type header does not name one media type', {
      fix: 'send one, such as Content-Type: application/json',
    });
  }
  // as the library that unpacks bodies names its errors
  if (code?.startsWith('Z_')) return notPacked(error);
  if (code?.startsWith('FST_')) {
    return new GraphsteadError('INVALID_REQUEST', (error as Error).message, {
      fix: 'write what is not plain in the address as %XX, and % itself as %25',
      cause: error,
    });
  }
  return error;
}
