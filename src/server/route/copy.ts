import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GraphsteadError, toWire, asError } from '../../base/index.js';
import type { Core } from '../core.js';
import { success } from '../envelope.js';
import { exportParts } from '../export/part.js';
import { knownParameters, text } from '../parameter.js';

/** Copies of the whole store: GET /admin/export, POST /admin/backup. */
export function copyRoutes(app: FastifyInstance, core: Core): void {
  // One line of JSON a part, and a last one that says that nothing is missing.
  app.get('/admin/export', async (request, reply) => {
    const format = text(knownParameters(request, core.names, ['format']), 'format') ?? 'rdf';
    if (format !== 'rdf' && format !== 'json') {
      throw new GraphsteadError('INVALID_REQUEST', `there is no export as ${format}`, {
        fix: 'send format=rdf or format=json',
      });
    }
    const { graph, names, limits, api } = core;
    const parts = exportParts({ graph, names, limits, format, graphql: api.stored()?.text });
    const lines = async function* () {
      try {
        for await (const part of parts) yield `${JSON.stringify(part)}\n`;
        yield '{"done":true}\n';
      } catch (error) {
        yield `${JSON.stringify({ errors: [toWire(asError(error))] })}\n`;
      }
    };
    return reply.header('content-type', 'application/x-ndjson').send(Readable.from(lines()));
  });

  app.post('/admin/backup', async (request, reply) => {
    refuseCrossSite(request);
    const to = text(knownParameters(request, core.names, ['to']), 'to');
    if (!to) {
      throw new GraphsteadError('INVALID_REQUEST', 'the parameter "to" is missing', {
        fix: 'name a new folder of the machine that serves: /admin/backup?to=DIR',
      });
    }
    const from = performance.now();
    const { store } = core;
    const position = `${store.incarnation}.${await store.backup(to)}.0`;
    const ms = Math.round(performance.now() - from);
    return reply.header('content-type', 'application/json').send(success({ directory: to, position, ms }));
  });
}

/** A page of another site that a browser of this machine shows must not have files written here. */
function refuseCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new GraphsteadError('FORBIDDEN', 'a backup cannot be asked for by a page of another site', {
    fix: 'use graphstead backup --from, or curl',
  });
}
