import type { FastifyInstance, FastifyRequest } from 'fastify';
import { memberOf, tabletOf } from '../../api/index.js';
import { GraphsteadError } from '../../base/index.js';
import type { Core } from '../core.js';

export interface HealthInfo {
  /** uptime in seconds; the address that the service listens on */
  report(): { readonly version: string; readonly uptime: number; readonly address: string; readonly status: string };
  /** false before it listens and once it is closed */
  readonly isReady: boolean;
}

/**
 * GET /health (with index builds), /health/ready, /probe/graphql (the peer's name for a schema counter), and under
 * `--compat dgraph` /state.
 */
export function healthRoutes(app: FastifyInstance, core: Core, info: HealthInfo): void {
  app.get('/health', async (request, reply) => {
    const { version, uptime, address, status } = info.report();
    const indexing = core.graph.indexing();
    const state = { status, version, uptime: Math.floor(uptime) };
    const own = {
      instance: core.names.dgraph ? 'alpha' : 'graphstead',
      ...state,
      indexing: indexing.map((entry) => entry.predicate),
      indexingProgress: indexing,
      lastCommitTs: core.committer.lastCommitTs,
      ...(core.committer.readOnly ? { readOnly: true } : {}),
    };
    return reply
      .header('content-type', 'application/json')
      .send(JSON.stringify(core.names.dgraph ? cluster(own, state, address, isForAll(request)) : [own]));
  });

  if (core.names.dgraph) {
    app.get('/state', async (_request, reply) =>
      reply.header('content-type', 'application/json').send(JSON.stringify(membership(core, info.report().address))),
    );
  }

  app.get('/health/ready', async (_request, reply) => {
    if (!info.isReady)
      throw new GraphsteadError('NOT_READY', 'the service is starting or stopping', { fix: 'ask again' });
    const { stale } = core.store;
    if (stale) throw stale;
    return reply.header('content-type', 'application/json').send('{"status":"ready"}');
  });

  app.get('/probe/graphql', async (_request, reply) =>
    reply
      .header('content-type', 'application/json')
      .send(JSON.stringify({ status: 'up', schemaUpdateCounter: core.api.schemaUpdates() })),
  );
}

const isForAll = ({ query }: FastifyRequest) => 'all' in (query as object);

/** As the peer's clients read it; those that ask for all servers look for both of its processes, which are one here. */
function cluster(own: object, state: object, address: string, all: boolean): readonly object[] {
  const echo = { address, lastEcho: Math.floor(Date.now() / 1000) };
  const alpha = { ...own, ...echo, group: '1' };
  return all ? [{ instance: 'zero', ...state, ...echo, group: '0' }, alpha] : [alpha];
}

/** The one group of the one process, in the peer's shape: maps by id and by predicate, numbers of 64 bits as text. */
function membership({ graph, names, committer }: Core, addr: string): object {
  const { predicates, version } = graph.schema();
  const tablets = predicates.map(({ name }) => {
    const predicate = names.shown(name);
    return [predicate, { ...tabletOf(predicate), space: '0', moveTs: '0' }] as const;
  });
  const member = { ...memberOf(addr), lastUpdate: '0' };
  return {
    counter: String(version),
    groups: { '1': { members: { '1': member }, tablets: Object.fromEntries(tablets), snapshotTs: '0', checksum: '0' } },
    zeros: {},
    maxTxnTs: String(committer.lastCommitTs),
    removed: [],
  };
}
