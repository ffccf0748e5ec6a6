import type { FastifyInstance } from 'fastify';
import { GraphsteadError } from '../../base/index.js';
import type { Core } from '../core.js';

interface HealthInfo {
  readonly version: string;
  readonly startedAt: number;
  ready(): boolean;
}

/** GET /health (with index builds), /health/ready, /probe/graphql (the peer's name for a schema counter). */
export function healthRoutes(app: FastifyInstance, core: Core, info: HealthInfo): void {
  app.get('/health', async (_request, reply) => {
    const indexing = core.graph.indexing();
    const body = {
      instance: core.names.dgraph ? 'alpha' : 'graphstead',
      status: 'healthy',
      version: info.version,
      uptime: Math.floor((Date.now() - info.startedAt) / 1000),
      indexing: indexing.map((entry) => entry.predicate),
      indexingProgress: indexing,
      lastCommitTs: core.committer.lastCommitTs,
    };
    return reply.header('content-type', 'application/json').send(JSON.stringify([body]));
  });

  app.get('/health/ready', async (_request, reply) => {
    if (!info.ready())
      throw new GraphsteadError('NOT_READY', 'the service is starting or stopping', { fix: 'ask again' });
    return reply.header('content-type', 'application/json').send('{"status":"ready"}');
  });

  app.get('/probe/graphql', async (_request, reply) =>
    reply
      .header('content-type', 'application/json')
      .send(JSON.stringify({ status: 'up', schemaUpdateCounter: core.api.schemaUpdates() })),
  );
}
