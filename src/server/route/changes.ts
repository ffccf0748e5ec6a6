import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Names } from '../../base/index.js';
import { ChangeStream, startOf } from '../change-stream.js';
import type { Core } from '../core.js';
import { knownParameters, text } from '../parameter.js';

/** GET /changes: what each commit did to the graph, as server-sent events that go on from any id that is kept. */
export function changeRoutes(app: FastifyInstance, core: Core): void {
  const stream = new ChangeStream(core);
  // a HEAD request would get a stream that never ends
  app.get('/changes', { exposeHeadRoute: false }, async (request, reply) => {
    const start = startOf(core, lastIdOf(request, core.names));
    return core.streams.answer(reply, (events) => events.send(stream.frames(start, events.signal)));
  });
}

/** A browser that comes back sends the same address with a newer header: the header wins. */
function lastIdOf(request: FastifyRequest, names: Names): string | undefined {
  const parameters = knownParameters(request, names, ['after']);
  const header = request.headers['last-event-id'];
  const given = typeof header === 'string' && header !== '' ? header : text(parameters, 'after');
  return given === '' ? undefined : given?.trim();
}
