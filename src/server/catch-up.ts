import type { FastifyInstance } from 'fastify';
import { pathOf } from './authenticate.js';
import type { Core } from './core.js';
import { flag, parametersOf, type Queried } from './parameter.js';

/** What reads the graph, or its types. Probes and figures tell how far the service is; a stream begins where it stands. */
const READS = /^\/(graphql|query|mcp|admin(\/.*)?|explorer\/.+)$/;

/** Whether it is to be answered from everything that was committed before it, though that takes a look. `be=true` does without. */
export function asksNewest(request: Queried): boolean {
  return !flag(parametersOf(request), 'be');
}

/** In a service that only reads, whoever asks sees what was committed before, wherever that was. */
export function catchUpFirst(app: FastifyInstance, { caughtUp }: Pick<Core, 'caughtUp'>): void {
  if (caughtUp === undefined) return;
  app.addHook('onRequest', async (request) => {
    if (request.method !== 'OPTIONS' && READS.test(pathOf(request)) && asksNewest(request)) await caughtUp();
  });
}
