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
];

type Headers = Readonly<Record<string, string>>;

/**
 * Cross-origin answers as the served schema says: `# Service.Allow-Origin` lines name the origins, none means all.
 * Headers that custom logic forwards, and the one that carries the JWT, are allowed by themselves.
 * The schema changes while the server runs, so the headers are made once for each that is served.
 */
export function allowOrigins(app: FastifyInstance, core: Core): void {
  let made: { readonly served: ReturnType<Core['api']['current']>; readonly headers: Headers } | undefined;
  app.addHook('onRequest', (request, reply, done) => {
    const served = core.api.current();
    if (made === undefined || made.served !== served) made = { served, headers: headersOf(core) };
    reply.headers(made.headers);
    const allowed = served?.allowedOrigins;
    if (allowed && allowed.length > 0) {
      const origin = String(request.headers['origin'] ?? '');
      if (allowed.includes(origin)) reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
    }
    if (request.method === 'OPTIONS') reply.code(204).send();
    else done();
  });
}

/** Those that are the same for every request under one served schema. */
function headersOf({ api, names }: Core): Headers {
  const served = api.current();
  const extra = [...(served?.forwardedHeaders ?? []), ...(served?.authHeader ? [served.authHeader] : [])];
  return {
    ...((served?.allowedOrigins ?? []).length === 0 ? { 'access-control-allow-origin': '*' } : {}),
    'access-control-allow-methods': names.dgraph ? 'POST, OPTIONS' : 'GET, POST, OPTIONS',
    'access-control-allow-headers': [...BASE_HEADERS, ...extra].join(', '),
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'X-Request-Id',
  };
}
