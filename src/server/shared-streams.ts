import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { SubscriptionEvent } from '../api/index.js';
import { asError, GraphsteadError, type Limits, mapped } from '../base/index.js';
import { payloadOf } from './event-payload.js';
import type { EventStreams } from './event-streams.js';
import { encodeFrame, type EventStream } from './sse.js';

type Events = AsyncIterable<readonly SubscriptionEvent[]>;

const TOKEN_BYTES = 24;

/**
 * One event stream for many operations: a browser opens six connections to a host, and each stream takes one of them for as
 * long as it lives. A stream is reserved, then read once, by the token of its reservation; operations are posted with
 * it and answered there, each under the id that its client gave it. See the single connection mode of the GraphQL over SSE
 * protocol (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md).
 */
export class SharedStreams {
  readonly #streams = new Map<string, SharedStream>();
  readonly #counted: EventStreams;
  readonly #limits: Limits;

  constructor(counted: EventStreams, limits: Limits) {
    this.#counted = counted;
    this.#limits = limits;
  }

  /** Gives the token. A reservation that nobody comes for is forgotten after limits.reservationMs. Throws OVERLOADED. */
  reserve(): string {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const leave = this.#counted.enter();
    const stream = new SharedStream(this.#counted, () => {
      clearTimeout(late);
      leave();
      this.#streams.delete(token);
    });
    const late = setTimeout(() => stream.late(), this.#limits.reservationMs).unref();
    this.#streams.set(token, stream);
    return token;
  }

  /** Throws NOT_FOUND. */
  of(token: string): SharedStream {
    const stream = this.#streams.get(token);
    if (stream !== undefined) return stream;
    throw new GraphsteadError('NOT_FOUND', 'there is no event stream with this token', {
      fix: `reserve one by PUT, and read it by GET within ${this.#limits.reservationMs} ms (limits.reservationMs)`,
    });
  }
}

/** From its reservation to the end of its answer. */
class SharedStream {
  readonly #operations = new Map<string, AbortController>();
  readonly #counted: EventStreams;
  readonly #closed: () => void;
  #open!: (stream: EventStream) => void;
  /** operations that were posted before it is read wait for it */
  readonly #opened = new Promise<EventStream>((resolve) => {
    this.#open = resolve;
  });
  #isRead = false;
  #isClosed = false;

  constructor(counted: EventStreams, closed: () => void) {
    this.#counted = counted;
    this.#closed = closed;
  }

  /** Answers with the stream, until its reader leaves. Throws INVALID_REQUEST where another reads it. */
  async answer(reply: FastifyReply): Promise<FastifyReply> {
    if (this.#isRead) {
      throw new GraphsteadError('INVALID_REQUEST', 'this event stream is being read', {
        fix: 'reserve another one by PUT',
      });
    }
    this.#isRead = true;
    try {
      return await this.#counted.answer(reply, async (stream) => {
        this.#open(stream);
        await aborted(stream.signal);
      });
    } finally {
      this.#close();
    }
  }

  /**
   * Begins an operation; what comes of it goes to the stream. `open` gets a signal that aborts when the operation is stopped
   * or the stream ends. Throws INVALID_REQUEST for an id that an operation under way has, OVERLOADED.
   */
  begin(id: string, open: (signal: AbortSignal) => Events): void {
    if (this.#operations.has(id)) {
      throw new GraphsteadError('INVALID_REQUEST', `an operation with the id ${JSON.stringify(id)} is under way`, {
        fix: 'give each operation of a stream an id of its own',
      });
    }
    const leave = this.#counted.enter();
    const operation = new AbortController();
    this.#operations.set(id, operation);
    void this.#run(id, open, operation.signal).finally(() => {
      leave();
      if (this.#operations.get(id) === operation) this.#operations.delete(id);
    });
  }

  async #run(id: string, open: (signal: AbortSignal) => Events, signal: AbortSignal): Promise<void> {
    const stream = await Promise.race([this.#opened, aborted(signal)]);
    if (stream === undefined || signal.aborted) return;
    const name = JSON.stringify(id);
    try {
      await stream.send(
        mapped(open(signal), (events) => events.map((event) => nextOf(name, event)).join('')),
        signal,
      );
    } catch (thrown) {
      if (signal.aborted) return;
      process.emitWarning(asError(thrown).message, 'SubscriptionWarning');
    }
    if (!signal.aborted) stream.add({ event: 'complete', data: `{"id":${name}}` });
  }

  /** Stops an operation. Throws NOT_FOUND. */
  stop(id: string): void {
    const operation = this.#operations.get(id);
    if (operation === undefined) {
      throw new GraphsteadError('NOT_FOUND', `no operation with the id ${JSON.stringify(id)} is under way`, {
        fix: 'it may have ended by itself; otherwise name the operationId that it was begun with',
      });
    }
    this.#operations.delete(id);
    operation.abort();
  }

  /** Forgotten, if nobody has come for it by now. */
  late(): void {
    if (!this.#isRead) this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closed();
    for (const operation of this.#operations.values()) operation.abort();
    this.#operations.clear();
  }
}

function nextOf(name: string, event: SubscriptionEvent): string {
  const data = `{"id":${name},"payload":${payloadOf(event)}}`;
  return encodeFrame({ event: 'next', data, ...(event.id ? { id: event.id } : {}) });
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
