import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphsteadError } from '../../base/index.js';
import type { Core } from '../core.js';
import { type Parameters, parametersOf, text } from '../parameter.js';

/** uids in one lease */
const MOST = 10_000_000;

/** GET and POST /assign?what=uids&num=N: a lease of N consecutive uids, for whoever names new nodes by itself. */
export function assignRoutes(app: FastifyInstance, core: Core): void {
  const assign = async (request: FastifyRequest, reply: FastifyReply) => {
    const count = wanted(parametersOf(request));
    const first = await core.graph.leaseUids(count);
    const body = JSON.stringify({ startId: String(first), endId: String(first + count - 1) });
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
  const count = Number(num);
  if (/^\d+$/.test(num) && count >= 1 && count <= MOST) return count;
  throw new GraphsteadError('INVALID_REQUEST', `num is "${num}"`, { fix: `send num=1 to num=${MOST}` });
}
