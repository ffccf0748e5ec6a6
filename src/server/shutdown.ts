import type { FastifyInstance } from 'fastify';
import type { ResponseSignals } from './signal.js';

/** Milliseconds between two looks at what is still open. */
const LOOK_MS = 20;

/**
 * Stops listening and lets the requests under way finish; event streams, which never would, are ended at once. What is
 * still running after `ms` is aborted and its connection closed.
 */
export async function closeHttp(app: FastifyInstance, signals: ResponseSignals, ms: number): Promise<void> {
  const closing = app.close();
  const look = () => {
    signals.stopStreams();
    // a connection that is kept alive behind its last answer would hold the server open
    app.server.closeIdleConnections();
  };
  const looking = setInterval(look, LOOK_MS);
  const force = setTimeout(() => {
    signals.stop();
    app.server.closeAllConnections();
  }, ms);
  try {
    look();
    await closing;
  } finally {
    clearInterval(looking);
    clearTimeout(force);
    signals.stop();
  }
}
