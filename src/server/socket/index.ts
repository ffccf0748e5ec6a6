import { type IncomingMessage, maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { asError, GraphsteadError, type Names } from '../../base/index.js';
import { pathOf } from '../authenticate.js';
import type { Origins } from '../cors.js';
import { failure } from '../envelope.js';
import { type Received, wasForwarded } from '../forward/index.js';
import type { Turns } from '../in-turn.js';
import { malformed } from '../malformed.js';
import { refuseSocket } from '../refuse-socket.js';
import { CLOSE } from './close.js';
import { type Service, SocketConnection } from './connection.js';
import { Gate } from './gate.js';
import { protocolOf } from './protocol.js';

interface SocketOptions extends Service {
  readonly origins: Origins;
  readonly late: { readonly isStopping: boolean };
  readonly turns: Turns;
}

/** milliseconds that is waited for those whose operations are not known here when the service stops */
const LEAVING_MS = 1_000;

/**
 * GraphQL over WebSocket at /graphql, beside event streams: what most clients subscribe by. Queries and mutations may come by it
 * too. Other requests that ask for another protocol are answered as if they did not.
 */
export function serveSockets(app: FastifyInstance, options: SocketOptions): void {
  const { core } = options;
  const open = new Set<SocketConnection>();
  /** All others that asked for one: the server, which hears of none of them any more, waits for their end when it closes. */
  const sockets = new Set<Socket>();
  const library = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: core.limits.webSocketMessageBytes,
    handleProtocols: (offered) => protocolOf(offered)?.name ?? false,
  });
  const begin = (socket: WebSocket, request: IncomingMessage) => {
    // what is no WebSocket, or too large a message: the library closes with the code that says so
    socket.on('error', () => undefined);
    const protocol = protocolOf([socket.protocol]);
    if (protocol === undefined) {
      socket.close(CLOSE.unknownProtocol, 'offer the subprotocol graphql-transport-ws, or graphql-ws');
      return;
    }
    const { url = '', headers } = request;
    const connection = new SocketConnection(socket, protocol, { url, headers, socket: request.socket }, options);
    sockets.delete(request.socket);
    open.add(connection);
    socket.once('close', () => open.delete(connection));
  };
  const take = (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const refused = (thrown: unknown) => refuse(socket, thrown, core.names);
    const wrong = malformed(request);
    if (wrong !== undefined) {
      refuseSocket(socket, wrong.status, failure(wrong.refusal, core.names).body);
      return;
    }
    try {
      const isToShow = assertTaken(request, options);
      if (core.forwarder !== undefined && !wasForwarded(request)) {
        const gate = isToShow ? gateOf(request, options) : undefined;
        core.forwarder.tunnel(receivedAs(request, options.nextId()), { socket, head, gate, refused });
        return;
      }
      socket.once('close', core.streams.enter());
      library.handleUpgrade(request, socket, head, begin);
    } catch (thrown) {
      refused(thrown);
    }
  };
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const lost = () => socket.destroy();
    socket.on('error', lost);
    options.turns.last(socket, () => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket') {
        take(request, socket, head);
        return;
      }
      socket.off('error', lost);
      answerPlain(app, request, socket, head);
    });
  });
  const beat = () => {
    for (const connection of open) connection.beat();
  };
  // behind what has come: a service that was held up hears first what was said meanwhile
  const beating = setInterval(() => setImmediate(beat), core.limits.heartbeatMs).unref();
  app.addHook('preClose', (done) => {
    clearInterval(beating);
    for (const connection of open) connection.leave();
    setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, LEAVING_MS).unref();
    // what does not end when it is told to at shutdownMs, a function of an app, say
    setTimeout(() => {
      for (const connection of open) connection.terminate();
    }, core.limits.shutdownMs + LEAVING_MS).unref();
    done();
  });
}

/**
 * Throws why the service opens no WebSocket for it. True where a key has to come in the first message, where browsers send it.
 */
function assertTaken(request: IncomingMessage, { core, check, origins, late }: SocketOptions): boolean {
  const { method = '', url = '', headers } = request;
  if (late.isStopping) throw new GraphsteadError('NOT_READY', 'the service is stopping', { fix: 'ask again' });
  const refusal = check({ method, url, headers });
  if (refusal !== undefined && refusal.code !== 'UNAUTHENTICATED') throw refusal;
  core.draining.refuse();
  const path = pathOf({ url });
  if (path !== '/graphql') {
    throw new GraphsteadError('NOT_FOUND', `${path} opens no WebSocket`, { fix: 'open it at /graphql' });
  }
  const { origin, host } = headers;
  if (origin === undefined || origins.mayRead(origin, host)) return refusal !== undefined;
  throw new GraphsteadError('FORBIDDEN', `a page of ${origin} may not ask here`, {
    fix: 'name its origin in the type definitions: # Service.Allow-Origin "https://app.example.com"',
  });
}

/** What its first message says is taken for headers, and so bounded as they are. */
function gateOf({ url = '', headers }: IncomingMessage, { core, check }: SocketOptions): Gate {
  const protocol = protocolOf((headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim()));
  return new Gate({
    check,
    protocol,
    url,
    headers,
    messageBytes: Math.min(core.limits.webSocketMessageBytes, maxHeaderSize),
  });
}

function receivedAs({ method = '', url = '', headers }: IncomingMessage, id: string): Received {
  return { id, method, url, headers };
}

/** A status of its own also where the peer's would be 200: it would be no answer to a handshake. */
function refuse(socket: Socket, thrown: unknown, names: Names): void {
  refuseSocket(socket, asError(thrown).status, failure(thrown, names).body);
}

/**
 * What asks for a protocol that is not spoken here (h2c, say, which some clients ask for with each first request) is answered as if it
 * had not asked (RFC 9110, 7.8). Once somebody listens for upgrades, Node takes all of them for one; so the request comes once more.
 */
function answerPlain({ server }: FastifyInstance, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i].toLowerCase();
    if (name !== 'upgrade' && name !== 'connection') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  if (/\bclose\b/i.test(request.headers.connection ?? '')) lines.push('Connection: close');
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket);
}
