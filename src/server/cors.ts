import type { FastifyInstance } from 'fastify';
import type { Core } from './core.js';

const BASE_HEADERS = [
  'X-Dgraph-AccessToken',
  'X-Dgraph-AuthToken',
  'X-API-Key',
  'Authorization',
  'Content-Type',
  'Content-Length',
  'Accept-Encoding',
  'Cache-Control',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-CSRF-Token',
  'X-Auth-Token',
  'X-Requested-With',
  'X-Request-Id',
  'X-GraphQL-Event-Stream-Token',
];

type Headers = Readonly<Record<string, string>>;

/** What answers say under one served schema; it changes while the server runs. */
interface Allowed {
  readonly served: ReturnType<Core['api']['current']>;
  /** for every answer: a cache may hand it to a page of another origin later */
  readonly all: Headers;
  /** for those that a page of another origin reads */
  readonly asked: Headers;
  /** for its question before */
  readonly preflight: Headers;
}

/**
 * Cross-origin answers as the served schema says: `# Service.Allow-Origin` lines name the origins, none means all.
 * Headers that custom logic forwards, and the one that carries the JWT, are allowed by themselves. Who names no origin is
 * spared what only browsers read; clients of the graph language expect all of it always.
 */
export function allowOrigins(app: FastifyInstance, core: Core): void {
  let made: Allowed | undefined;
  app.addHook('onRequest', (request, reply, done) => {
    const served = core.api.current();
    if (made === undefined || made.served !== served) made = allowedUnder(served, core.names.dgraph);
    const origin = request.headers['origin'];
    const isPreflight = request.method === 'OPTIONS';
    const whole = isPreflight || core.names.dgraph;
    reply.headers(whole ? made.preflight : origin === undefined ? made.all : made.asked);
    const named = served?.allowedOrigins;
    if (origin !== undefined && named?.includes(origin)) reply.header('access-control-allow-origin', origin);
    if (isPreflight) reply.code(204).send();
    else done();
  });
}

function allowedUnder(served: Allowed['served'], dgraph: boolean): Allowed {
  const extra = [...(served?.forwardedHeaders ?? []), ...(served?.authHeader ? [served.authHeader] : [])];
  const isOpen = (served?.allowedOrigins ?? []).length === 0;
  // where some are named, a cache must not give one page what was allowed to another, or to none
  const all: Headers = isOpen ? { 'access-control-allow-origin': '*' } : { vary: 'Origin' };
  const asked = {
    ...all,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'X-Request-Id',
  };
  const preflight = {
    ...asked,
    'access-control-allow-methods': dgraph ? 'POST, OPTIONS' : 'GET, POST, PUT, DELETE, OPTIONS',
    'access-control-allow-headers': [...BASE_HEADERS, ...extra].join(', '),
  };
  return { served, all, asked, preflight };
}
