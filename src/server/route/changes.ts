import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GraphsteadError } from '../../base/index.js';
import { ChangeStream, startOf } from '../change-stream.js';
import type { Core } from '../core.js';
import { type Parameters, text } from '../parameter.js';
import { sendFrames } from '../sse.js';

/** GET /changes: what each commit did to the graph, as server-sent events that go on from any id that is kept. */
export function changeRoutes(app: FastifyInstance, core: Core): void {
  const stream = new ChangeStream(core);
  let open = 0;
  // a HEAD request would get a stream that never ends
  app.get('/changes', { exposeHeadRoute: false }, async (request, reply) => {
    const start = startOf(core, lastIdOf(request));
    if (open >= core.limits.streams) {
      throw new GraphsteadError('OVERLOADED', `${open} streams are open (limits.streams)`, { fix: 'Come back later.' });
    }
    const signal = core.signalOf(reply);
    const headers = Object.fromEntries(
      Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      ),
    );
    reply.hijack();
    open++;
    try {
      const { heartbeatMs } = core.limits;
      await sendFrames(reply.raw, stream.frames(start, signal), { headers, heartbeatMs, signal });
    } finally {
      open--;
    }
    return reply;
  });
}

/** A browser that comes back sends the same address with a newer header: the header wins. */
function lastIdOf(request: FastifyRequest): string | undefined {
  const header = request.headers['last-event-id'];
  const given = typeof header === 'string' && header !== '' ? header : text(request.query as Parameters, 'after');
  return given === '' ? undefined : given?.trim();
}
