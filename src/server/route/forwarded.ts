import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphqlRequest, RequestContext } from '../../api/index.js';
import { pathOf } from '../authenticate.js';
import { GraphsteadError, type Names } from '../../base/index.js';
import type { Core } from '../core.js';
import { type Forwarder, type Received, wasForwarded } from '../forward/index.js';
import { parametersOf, type Queried, text } from '../parameter.js';
import { tokenOf } from './shared-stream.js';

/** Changes, and tools, among which are an app's. */
const POSTED: ReadonlySet<string> = new Set(['/mutate', '/alter', '/commit', '/mcp', '/admin/schema']);

/** Sends on what a service that only reads does not answer, whatever stands in it, before any of it is read. */
export function forwardByPath(app: FastifyInstance, { forwarder, names }: Pick<Core, 'forwarder' | 'names'>): void {
  if (forwarder === undefined) return;
  app.addHook('onRequest', async (request, reply) => {
    if (!isOfWriter(request, names) || wasForwarded(request)) return;
    await forwarder.pipe(request, request.raw, reply.raw);
    reply.hijack();
  });
}

function isOfWriter(request: FastifyRequest, names: Names): boolean {
  const { method } = request;
  const path = pathOf(request);
  if (path === '/query') return method === 'POST' && mayWrite(request, names);
  if (path === '/assign') return method !== 'OPTIONS';
  // an event stream for many operations is known to one service alone
  if (path === '/graphql') return method === 'PUT' || method === 'DELETE' || tokenOf(request) !== undefined;
  return method === 'POST' && POSTED.has(path);
}

const FALSE: ReadonlySet<string | undefined> = new Set(['false', '0']);

/**
 * Whether the transaction of the query may write later: it has to begin where its timestamp counts. The peer's programs say
 * `ro=true` where it may not; here most queries are alone, and say `ro=false` where they are not.
 */
function mayWrite(request: Queried, names: Names): boolean {
  const parameters = parametersOf(request);
  const [readOnly, bestEffort] = [text(parameters, 'ro'), text(parameters, 'be')];
  if (bestEffort !== undefined && !FALSE.has(bestEffort)) return false;
  return readOnly === undefined ? names.dgraph : FALSE.has(readOnly);
}

/** Whether a query may be one of a transaction that the service that writes holds. */
export function mayBelongToWriter(request: Queried, { names }: Pick<Core, 'names'>): boolean {
  return mayWrite(request, names) || text(parametersOf(request), 'startTs') !== undefined;
}

/** Whether a query failed here since its transaction is none of those that were answered here. */
export function isOfOtherTransaction(request: Queried & Pick<Received, 'headers'>, thrown: unknown): boolean {
  if (wasForwarded(request) || text(parametersOf(request), 'startTs') === undefined) return false;
  return thrown instanceof GraphsteadError && (thrown.code === 'TXN_UNKNOWN' || thrown.code === 'TXN_EXPIRED');
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
