import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Begins a request once the one before it on its connection is answered, and that answer has gone out. A client may send many at
 * once (RFC 9112, 9.3.2); all of them used to run beside each other, changes too, and their answers waited here for whoever did
 * not read the first: a thousand of 55 bytes each took a gigabyte and everybody's time.
 */
export class Turns {
  readonly #newest = new WeakMap<Socket, Turn>();

  /** Holds the requests of these routes to it. */
  keep(app: FastifyInstance): void {
    app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
      const before = this.#newest.get(socket)?.response;
      this.#newest.set(socket, { response: reply.raw, before });
      behind(before, socket, done);
    });
  }

  /** Begins what is no request of a route, and takes the connection. */
  last(socket: Socket, begin: () => void): void {
    behind(this.#newest.get(socket)?.response, socket, begin);
  }

  /**
   * Refuses what came last on a connection, once all that has come whole is answered. It may be the newest request itself, which does
   * not come to its end: where that is answered already, a refusal would be one answer too many, and the connection just ends.
   */
  refuseLast(socket: Socket, refuse: () => void): void {
    const { response, before } = this.#newest.get(socket) ?? {};
    if (response === undefined || response.req.complete) behind(response, socket, refuse);
    else if (response.headersSent) behind(response, socket, () => socket.destroySoon());
    else behind(before, socket, refuse);
  }
}

interface Turn {
  readonly response: ServerResponse;
  readonly before: ServerResponse | undefined;
}

function behind(before: ServerResponse | undefined, socket: Socket, begin: () => void): void {
  if (before === undefined || before.closed) {
    begin();
    return;
  }
  before.once('close', () => {
    // on a connection that has ended, or is about to, nobody would read the answer
    if (socket.writable) begin();
  });
}
