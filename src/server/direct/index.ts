import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { DirectRoute } from './contract.js';
import { DirectConnection, type ConnectionOwner } from './connection.js';

export type { DirectAnswer, DirectHandler, DirectRequest, DirectRoute } from './contract.js';
export type { PlainHead } from './head.js';

interface DirectOptions {
  readonly route: DirectRoute;
  nextId(): string;
  answered(path: string, status: number, seconds: number): void;
  /** tells a connection on which nothing has come why nothing will be begun, and ends it */
  turnAway(socket: Socket): void;
}

/** The connections that are not the library's (yet). */
export interface DirectConnections {
  /** ends those without a request under way; one that has not had any yet outlives some calls of this, and is turned away */
  closeIdle(freshCalls: number): void;
  closeAll(): void;
}

/**
 * Answers plain requests to one route past the HTTP library: framework and library take several times as long for a request as
 * the rest of it (docs/decisions/0064-plain-requests.md). Connections begin here; the first request that is not plain
 * goes to the library with its connection, byte by byte as it came, so that there is one place that refuses.
 */
export function serveDirectly(server: Server, options: DirectOptions): DirectConnections {
  const open = new Set<DirectConnection>();
  // a server of TLS has HTTP begin behind the handshake
  const event = server instanceof TlsServer ? 'secureConnection' : 'connection';
  const library = server.listeners(event) as ((socket: Socket) => void)[];
  const give = (socket: Socket) => {
    for (const listener of library) listener.call(server, socket);
  };
  const owner: ConnectionOwner = {
    route: options.route,
    get firstMs() {
      return Math.min(server.headersTimeout, server.requestTimeout);
    },
    get idleMs() {
      return server.keepAliveTimeout;
    },
    nextId: options.nextId,
    answered: options.answered,
    turnAway: options.turnAway,
    handOver(connection, socket, bytes) {
      open.delete(connection);
      give(socket);
      // the library listens to the socket's data, though it reads past them
      socket.emit('data', bytes);
      socket.resume();
    },
    closed: (connection) => void open.delete(connection),
    silent: (socket) => {
      if (!server.emit('clientError', tooLate(), socket)) socket.destroy();
    },
  };
  server.removeAllListeners(event);
  server.on(event, (socket: Socket) => void open.add(new DirectConnection(socket, owner)));
  return {
    closeIdle(freshCalls) {
      for (const connection of open) connection.closeIdle(freshCalls);
    },
    closeAll() {
      for (const connection of open) connection.destroy();
    },
  };
}

/** As the library calls it. */
function tooLate(): Error {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
