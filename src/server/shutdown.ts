import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { GraphsteadError, type Names } from '../base/index.js';
import { failure } from './envelope.js';
import { refuseSocket } from './refuse-socket.js';
import { STOPPING, wasForwarded } from './forward/index.js';
import type { DirectConnections } from './direct/index.js';
import type { AnswerSignals } from './signal.js';

/** Milliseconds between two looks at what is still open. */
const LOOK_MS = 20;
/** Looks that a connection on which nothing has come yet outlives: its request may be under way. Then it is told that it comes too late. */
const FRESH_LOOKS = 5;

/** How long ago a service that sends requests on has sent the last, where it may send the next at any moment. */
const FORWARDED_MS = 10_000;
/** How long it is told then that this one stops, behind the last that it sends. */
const TOLD_MS = 100;
/** How long it may go on sending: one that is busy hears of it late. */
const DEAF_MS = 2_000;

interface Closed {
  readonly signals: AnswerSignals;
  readonly direct?: DirectConnections;
  /** see `refuseLate` */
  readonly late: Late;
}

/**
 * How a server that does not listen yet will be stopped: it takes no more connections and lets the requests under way
 * finish; event streams, which never would, are ended at once. What is still running after `ms` is aborted and its connection
 * closed.
 */
export function httpClosing(app: FastifyInstance, { signals, direct, late }: Closed, ms: number): () => Promise<void> {
  const isTls = app.server instanceof TlsServer;
  /** With the looks that each has seen without a request. Those of `direct` are looked at there. */
  const connections = new Map<Socket, number>();
  app.server.on('connection', (socket) => {
    // one that is given back has begun before
    if ((direct !== undefined && !isTls) || connections.has(socket)) return;
    connections.set(socket, 0);
    socket.once('close', () => connections.delete(socket));
  });
  return async () => {
    const closing = app.close();
    const look = () => {
      signals.stopStreams();
      // a connection that is kept alive behind its last answer would hold the server open
      app.server.closeIdleConnections();
      direct?.closeIdle(FRESH_LOOKS);
      // so would one that a browser or a pool of clients has opened ahead of a request: the server takes it for one under way
      for (const [connection, looks] of connections) {
        if (connection.bytesRead > 0) continue;
        connections.set(connection, looks + 1);
        if (looks < FRESH_LOOKS) continue;
        // within a handshake nothing can be told
        if (isTls) connection.destroy();
        else if (looks === FRESH_LOOKS) late.turnAway(connection);
      }
    };
    const looking = setInterval(look, LOOK_MS);
    const force = setTimeout(() => {
      signals.stop();
      app.server.closeAllConnections();
      direct?.closeAll();
    }, ms);
    try {
      look();
      await closing;
    } finally {
      clearInterval(looking);
      clearTimeout(force);
      signals.stop();
    }
  };
}

/** A server that may be stopping. */
export interface Late {
  readonly isStopping: boolean;
  /** Tells a connection on which nothing has come that nothing will be begun, and ends it. */
  turnAway(socket: Socket): void;
}

/**
 * What comes on open connections while the server stops is told so: the framework's own refusal has neither `errors` nor a code,
 * and clients of GraphQL took it for an answer without mistakes.
 */
export function refuseLate(app: FastifyInstance, names: Names): Late {
  const tooLate = () => new GraphsteadError('NOT_READY', 'the service is stopping', { fix: 'ask again' });
  const state = {
    isStopping: false,
    turnAway(socket: Socket) {
      const { status, body } = failure(tooLate(), names);
      refuseSocket(socket, status, body, [`${STOPPING}: 1`]);
    },
  };
  /** monotonic milliseconds of the last request that a service that only reads sent on */
  let forwardedAt = Number.NEGATIVE_INFINITY;
  app.addHook('preClose', (done) => {
    state.isStopping = true;
    const from = performance.now();
    // The end of listening breaks off whoever is not taken from the system yet, and a service that has sent something on could
    // not say whether it was done: it is told first, and sends nothing more.
    const listen = () => {
      const isTold = performance.now() - forwardedAt >= TOLD_MS || performance.now() - from >= DEAF_MS;
      if (isTold) setImmediate(done);
      else setTimeout(listen, TOLD_MS);
    };
    if (from - forwardedAt < FORWARDED_MS) setTimeout(listen, TOLD_MS);
    else done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (wasForwarded(request)) forwardedAt = performance.now();
    if (!state.isStopping) {
      done();
      return;
    }
    const { status, body } = failure(tooLate(), names);
    // answered here: the log is not to tell of each as of a failure
    reply
      .code(status)
      .headers({ connection: 'close', 'content-type': 'application/json', [STOPPING]: '1' })
      .send(body);
  });
  return state;
}
