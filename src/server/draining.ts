import type { FastifyInstance } from 'fastify';
import { GraphsteadError, type Limits, type Names } from '../base/index.js';
import { pathOf } from './authenticate.js';
import { failure } from './envelope.js';

/** What goes on: probes, figures, what belongs to operators, and `/commit`, which ends a transaction that is open. */
const GOES_ON = /^(\/|\/health|\/probe\/graphql|\/state|\/metrics|\/commit|\/admin(\/.*)?|\/explorer(\/assets\/.*)?)$/;

/** Type definitions are written as data is, though an operator reads them. */
const UPLOAD = '/admin/schema';

/**
 * Whether an operator has taken the service out of use, before it is stopped or while it is worked on: requests under way and
 * open streams go on, new ones are refused. Agents go on with what they have to do. Forgotten with the next start.
 */
export class Draining {
  isOn = false;

  /** Throws DRAINING while it is on. */
  refuse(): void {
    if (this.isOn) throw refusal();
  }
}

function refusal(): GraphsteadError {
  return new GraphsteadError('DRAINING', 'the service is draining: it takes no new requests', {
    fix: 'ask another one, or come back later',
  });
}

/** Refuses what comes while the service drains, and ends its connection: a balancer of connections gives the next one to another service. */
export function refuseDraining(
  app: FastifyInstance,
  draining: Draining,
  { names, limits }: { readonly names: Names; readonly limits: Limits },
): void {
  const seconds = Math.ceil(limits.drainingRetryMs / 1_000);
  app.addHook('onRequest', (request, reply, done) => {
    const path = pathOf(request);
    const goesOn = GOES_ON.test(path) && !(path === UPLOAD && request.method === 'POST');
    if (!draining.isOn || goesOn) {
      done();
      return;
    }
    const { status, body } = failure(refusal(), names);
    // answered here: the log is not to tell of each as of a failure
    reply.code(status).headers({ connection: 'close', 'retry-after': seconds, 'content-type': 'application/json' });
    reply.send(body);
  });
}
