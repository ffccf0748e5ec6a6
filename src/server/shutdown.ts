import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { GraphsteadError, type Names } from '../base/index.js';
import { failure } from './envelope.js';
import type { DirectConnections } from './direct/index.js';
import type { AnswerSignals } from './signal.js';

/** Milliseconds between two looks at what is still open. */
const LOOK_MS = 20;

/**
 * How a server that does not listen yet will be stopped: it takes no more connections and lets the requests under way
 * finish; event streams, which never would, are ended at once. What is still running after `ms` is aborted and its connection
 * closed.
 */
export function httpClosing(
  app: FastifyInstance,
  { signals, direct }: { signals: AnswerSignals; direct?: DirectConnections },
  ms: number,
): () => Promise<void> {
  const connections = new Set<Socket>();
  app.server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return async () => {
    const closing = app.close();
    const look = () => {
      signals.stopStreams();
      // a connection that is kept alive behind its last answer would hold the server open
      app.server.closeIdleConnections();
      direct?.closeIdle();
      // so would one that a browser or a pool of clients has opened ahead of a request: the server takes it for one under way
      for (const connection of connections) if (connection.bytesRead === 0) connection.destroy();
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

/**
 * What comes on open connections while the server stops is told so: the framework's own refusal has neither `errors` nor a code,
 * and clients of GraphQL took it for an answer without mistakes.
 */
export function refuseLate(app: FastifyInstance, names: Names): { readonly isStopping: boolean } {
  const state = { isStopping: false };
  app.addHook('preClose', (done) => {
    state.isStopping = true;
    done();
  });
  app.addHook('onRequest', (_request, reply, done) => {
    if (!state.isStopping) {
      done();
      return;
    }
    const late = new GraphsteadError('NOT_READY', 'the service is stopping', { fix: 'ask again' });
    const { status, body } = failure(late, names);
    // answered here: the log is not to tell of each as of a failure
    reply.code(status).header('connection', 'close').header('content-type', 'application/json').send(body);
  });
  return state;
}
