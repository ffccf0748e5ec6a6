import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GraphsteadError, type Limits } from '../base/index.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** its answers may be large: it is refused while those of others take all the memory that there is for them */
    readonly isLarge?: boolean;
  }
}

/** Options of routes whose answers may be large. */
export const LARGE_ANSWERS = { isLarge: true } as const;

/** smaller ones are not counted: that would cost each request, and many of them are little */
const LARGE_BYTES = 1024 * 1024;

/**
 * Bounds what clients hold that ask for much and read slowly: a request for more is refused, before anything is done for it,
 * while unread answers take more than `limits.largeAnswersBytes`, and a connection that takes nothing of a large answer for
 * `limits.answerStallMs` is closed.
 */
export function boundAnswers(
  app: FastifyInstance,
  { largeAnswersBytes, answerStallMs }: Pick<Limits, 'largeAnswersBytes' | 'answerStallMs'>,
): void {
  let held = 0;
  app.addHook('onRequest', (request, _reply, done) => {
    if (held > largeAnswersBytes && mayBeLarge(request)) done(tooManyBytes(largeAnswersBytes));
    else done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    const length = Buffer.isBuffer(payload) ? payload.length : 0;
    if (length >= LARGE_BYTES) {
      held += length;
      reply.raw.once('close', () => {
        held -= length;
      });
      reply.raw.setTimeout(answerStallMs);
    }
    done(null, payload);
  });
}

function mayBeLarge({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.isLarge === true;
}

function tooManyBytes(limit: number): GraphsteadError {
  return new GraphsteadError(
    'OVERLOADED',
    'answers that nobody has read yet take all the memory that there is for them',
    {
      fix: `limits.largeAnswersBytes is ${limit}: read answers faster, or ask for less at a time`,
    },
  );
}
