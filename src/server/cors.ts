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

/**
 * Cross-origin answers as the served schema says: `# Service.Allow-Origin` lines name the origins, none means all.
 * Headers that custom logic forwards, and the one that carries the JWT, are allowed by themselves.
 * The schema changes while the server runs, so the headers are made for each answer.
 */
export function allowOrigins(app: FastifyInstance, core: Core): void {
  const methods = core.names.dgraph ? 'POST, OPTIONS' : 'GET, POST, OPTIONS';
  app.addHook('onRequest', async (request, reply) => {
    const served = core.api.current();
    const origin = String(request.headers['origin'] ?? '');
    const allowed = served?.allowedOrigins ?? [];
    if (allowed.length === 0) reply.header('access-control-allow-origin', '*');
    else if (allowed.includes(origin)) reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
    const extra = [...(served?.forwardedHeaders ?? []), ...(served?.authHeader ? [served.authHeader] : [])];
    reply
      .header('access-control-allow-methods', methods)
      .header('access-control-allow-headers', [...BASE_HEADERS, ...extra].join(', '))
      .header('access-control-allow-credentials', 'true')
      .header('access-control-expose-headers', 'X-Request-Id');
    if (request.method === 'OPTIONS') return reply.code(204).send();
  });
}
