import type { FastifyReply } from 'fastify';
import { GraphsteadError, type Limits } from '../base/index.js';
import type { Answering } from './signal.js';
import { EventStream } from './sse.js';

/** The open event streams of one service, and what shares one of them: at most limits.streams. */
export class EventStreams {
  readonly #limits: Limits;
  readonly #signalOf: (answering: Answering) => AbortSignal;
  #open = 0;

  constructor(limits: Limits, signalOf: (answering: Answering) => AbortSignal) {
    this.#limits = limits;
    this.#signalOf = signalOf;
  }

  /** Counts one more until the returned function is called. Throws OVERLOADED. */
  enter(): () => void {
    if (this.#open >= this.#limits.streams) {
      throw new GraphsteadError('OVERLOADED', `${this.#open} streams are open (limits.streams)`, {
        fix: 'Come back later.',
      });
    }
    this.#open++;
    return () => {
      this.#open--;
    };
  }

  /**
   * Answers with a stream, which ends with what `run` does. Throws OVERLOADED before anything is sent.
   * @param signal aborts when the reader leaves, and at shutdown
   */
  async answer(
    reply: FastifyReply,
    run: (stream: EventStream) => Promise<void>,
    signal = this.#signalOf(reply.raw),
  ): Promise<FastifyReply> {
    const leave = this.enter();
    const headers = Object.fromEntries(
      Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      ),
    );
    reply.hijack();
    const stream = new EventStream(reply.raw, { headers, heartbeatMs: this.#limits.heartbeatMs, signal });
    try {
      await run(stream);
    } finally {
      stream.end();
      leave();
    }
    return reply;
  }
}
