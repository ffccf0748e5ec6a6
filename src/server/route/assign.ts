import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphsteadError } from '../../base/index.js';
import type { Core } from '../core.js';
import { knownParameters, type Parameters, text } from '../parameter.js';

/** uids in one lease */
const MOST = 10_000_000;

/** The first and the last of so many uids that nobody else gets. Throws INVALID_REQUEST. */
export async function leasedUids(core: Core, count: number): Promise<{ first: number; last: number }> {
  if (!(Number.isSafeInteger(count) && count >= 1 && count <= MOST)) {
    throw new GraphsteadError('INVALID_REQUEST', `${count} uids cannot be leased`, { fix: `ask for 1 to ${MOST}` });
  }
  const first = await core.graph.leaseUids(count);
  return { first, last: first + count - 1 };
}

/** GET and POST /assign?what=uids&num=N: a lease of N consecutive uids, for whoever names new nodes by itself. */
export function assignRoutes(app: FastifyInstance, core: Core): void {
  const assign = async (request: FastifyRequest, reply: FastifyReply) => {
    const count = wanted(knownParameters(request, core.names, ['what', 'num']));
    const { first, last } = await leasedUids(core, count);
    const body = JSON.stringify({ startId: String(first), endId: String(last) });
    return reply.header('content-type', 'application/json').send(body);
  };
  app.get('/assign', assign);
  app.post('/assign', assign);
}

function wanted(parameters: Parameters): number {
  const what = text(parameters, 'what') ?? 'uids';
  if (what !== 'uids') {
    throw new GraphsteadError('INVALID_REQUEST', `/assign gives no ${what}`, { fix: 'send what=uids' });
  }
  const num = text(parameters, 'num') ?? '';
  if (/^\d+$/.test(num)) return Number(num);
  throw new GraphsteadError('INVALID_REQUEST', `num is "${num}"`, { fix: `send num=1 to num=${MOST}` });
}
