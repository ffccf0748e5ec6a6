import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphqlRequest, RequestContext } from '../../api/index.js';
import { pathOf } from '../authenticate.js';
import type { Core } from '../core.js';
import { type Forwarder, type Received, wasForwarded } from '../forward/index.js';
import { tokenOf } from './shared-stream.js';

/** Changes, and tools, among which are an app's. */
const POSTED: ReadonlySet<string> = new Set(['/mutate', '/alter', '/commit', '/mcp', '/admin/schema']);

/** Sends on what a service that only reads does not answer, whatever stands in it, before any of it is read. */
export function forwardByPath(app: FastifyInstance, { forwarder }: Pick<Core, 'forwarder'>): void {
  if (forwarder === undefined) return;
  app.addHook('onRequest', async (request, reply) => {
    if (!isOfWriter(request) || wasForwarded(request)) return;
    await forwarder.pipe(request, request.raw, reply.raw);
    reply.hijack();
  });
}

function isOfWriter(request: FastifyRequest): boolean {
  const { method } = request;
  const path = pathOf(request);
  if (path === '/assign') return method !== 'OPTIONS';
  // an event stream for many operations is known to one service alone
  if (path === '/graphql') return method === 'PUT' || method === 'DELETE' || tokenOf(request) !== undefined;
  return method === 'POST' && POSTED.has(path);
}

/** Whether it is to be sent on: what is not understood here may be an app's, and whoever asks what there is has to hear of all. */
export async function isElsewhere(
  { api }: Pick<Core, 'api'>,
  received: Pick<Received, 'headers'>,
  graphql: GraphqlRequest,
  context: RequestContext,
): Promise<boolean> {
  return !wasForwarded(received) && !(await api.knows(graphql, context));
}

/** Sends on a request whose body has been read. */
export async function forward(
  forwarder: Forwarder,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await forwarder.pipe(request, Buffer.isBuffer(request.body) ? request.body : EMPTY, reply.raw);
  return reply.hijack();
}

const EMPTY = Buffer.alloc(0);
