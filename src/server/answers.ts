import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GraphsteadError, type Limits } from '../base/index.js';
import type { Answering } from './signal.js';

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
export class LargeAnswers {
  readonly #limits: Pick<Limits, 'largeAnswersBytes' | 'answerStallMs'>;
  #held = 0;

  constructor(limits: Pick<Limits, 'largeAnswersBytes' | 'answerStallMs'>) {
    this.#limits = limits;
  }

  /** What may be large is refused. */
  get isFull(): boolean {
    return this.#held > this.#limits.largeAnswersBytes;
  }

  /** Throws OVERLOADED where what may be large is refused. */
  refuse(): void {
    if (this.isFull) throw tooManyBytes(this.#limits.largeAnswersBytes);
  }

  /** Counts an answer of so many bytes until it has gone out. */
  add(length: number, answering: Pick<Answering, 'once' | 'setTimeout'>): void {
    if (length < LARGE_BYTES) return;
    this.#held += length;
    answering.once('close', () => {
      this.#held -= length;
    });
    answering.setTimeout(this.#limits.answerStallMs);
  }

  /** An answer that is handed on as it comes: nobody holds it, and its client may stall no longer than others. */
  addStreamed(answering: Answering): void {
    answering.setTimeout(this.#limits.answerStallMs);
  }

  /** Bounds the answers of these routes. */
  bound(app: FastifyInstance): void {
    app.addHook('onRequest', (request, _reply, done) => {
      if (this.isFull && mayBeLarge(request)) done(tooManyBytes(this.#limits.largeAnswersBytes));
      else done();
    });
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (Buffer.isBuffer(payload)) this.add(payload.length, reply.raw);
      done(null, payload);
    });
  }
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
