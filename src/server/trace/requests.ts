import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Step, Trace } from '../../base/index.js';

/** Probes and files would hide what matters. */
const SILENT = /^\/(health|probe|metrics|explorer)/;

/** A step for each HTTP request, from its first byte to the last of its answer. Routes run inside of it. */
export function traceRequests(app: FastifyInstance, trace: Trace): void {
  if (!trace.on) return;
  const within = new WeakMap<FastifyRequest, (work: () => void) => void>();
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? '*';
    if (SILENT.test(route)) return done();
    const facts = { 'http.request.method': request.method, 'http.route': route, 'graphstead.request.id': request.id };
    const key = `request:${request.id}`;
    void trace.step(
      `${request.method} ${route}`,
      { kind: 'server', facts, key, headers: request.headers },
      async (step) => {
        within.set(
          request,
          trace.inside((work: () => void) => work()),
        );
        done();
        await answered(reply);
        tellStatus(step, reply.raw.statusCode);
      },
    );
  });
  // what reads the body calls back from the socket, outside of the step
  app.addHook('preValidation', (request, _reply, done) => {
    const enter = within.get(request);
    if (enter) enter(done);
    else done();
  });
}

function answered(reply: FastifyReply): Promise<void> {
  return new Promise((resolve) => reply.raw.once('close', () => resolve()));
}

function tellStatus(step: Step, status: number): void {
  step.tell({ 'http.response.status_code': status });
  if (status >= 500) step.fail(String(status));
}
