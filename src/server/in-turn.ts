import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Begins a request once the one before it on its connection is answered, and that answer has gone out. A client may send many at
 * once (RFC 9112, 9.3.2); all of them used to run beside each other, changes too, and their answers waited here for whoever did
 * not read the first: a thousand of 55 bytes each took a gigabyte and everybody's time.
 */
export function answerInTurn(app: FastifyInstance): void {
  const newest = new WeakMap<Socket, ServerResponse>();
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    const before = newest.get(socket);
    newest.set(socket, reply.raw);
    if (before === undefined || before.closed) {
      done();
      return;
    }
    before.once('close', () => {
      // on a connection that has ended, or is about to, nobody would read the answer
      if (socket.writable) done();
    });
  });
}
