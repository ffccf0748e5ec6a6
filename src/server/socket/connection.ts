import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { asError, GraphsteadError, toWire } from '../../base/index.js';
import type { AccessCheck } from '../authenticate.js';
import type { LargeBodies } from '../bodies.js';
import { CLOSE, reasonOf } from './close.js';
import { Coming } from './coming.js';
import { headersWith } from './headers.js';
import { Operation } from './operation.js';
import { Outlet } from './outlet.js';
import { type ClientMessage, errorMessage, type Protocol, readMessage } from './protocol.js';
import { type Runner, run } from './run.js';

/** milliseconds that a client has to answer the end of its connection when the service stops */
const LEAVING_MS = 1_000;

/** What a connection needs of the service. */
export interface Service extends Runner {
  readonly check: AccessCheck;
  readonly bodies: LargeBodies;
}

/** The request that asked for the connection. */
interface Handshake {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
}

/** One client and its operations. It ends with its socket. */
export class SocketConnection {
  readonly #socket: WebSocket;
  readonly #protocol: Protocol;
  readonly #handshake: Handshake;
  readonly #service: Service;
  readonly #outlet: Outlet;
  readonly #coming: Coming;
  readonly #operations = new Map<string, Operation>();
  readonly #late: NodeJS.Timeout;
  /** Who the client says it is: the headers of all its operations, or undefined where it is not taken. */
  #greeting: Promise<IncomingHttpHeaders | undefined> | undefined;
  #isGreeted = false;
  #isAlive = true;
  #isLeaving = false;

  constructor(socket: WebSocket, protocol: Protocol, handshake: Handshake, service: Service) {
    this.#socket = socket;
    this.#protocol = protocol;
    this.#handshake = handshake;
    this.#service = service;
    this.#outlet = new Outlet(socket, handshake.socket, service.answers);
    this.#coming = new Coming(service.bodies);
    const { webSocketInitMs, answerStallMs } = service.core.limits;
    const late = `connection_init did not come within ${webSocketInitMs} ms (limits.webSocketInitMs)`;
    this.#late = setTimeout(() => this.#close(CLOSE.silent, late), webSocketInitMs).unref();
    handshake.socket.prependListener('data', (part: Buffer) => this.#count(part.length));
    handshake.socket.setTimeout(answerStallMs).on('timeout', () => this.#stalled());
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    socket.on('ping', (said) => this.#coming.without(said));
    socket.on('pong', (said) => {
      this.#coming.without(said);
      this.#isAlive = true;
    });
    socket.on('close', () => this.#end());
  }

  /** Ends it where nothing was heard since the last call, which asked for a sign of life. */
  beat(): void {
    // it would stand behind what the client has yet to take; see #stalled
    if (this.#outlet.isBehind()) this.#isAlive = true;
    else if (this.#isAlive) this.#askForLife();
    else this.#socket.terminate();
  }

  /** The service stops: what is under way may come to its end. */
  leave(): void {
    this.#isLeaving = true;
    this.#leaveWhenDone();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #askForLife(): void {
    this.#isAlive = false;
    this.#socket.ping();
    if (this.#protocol.alive !== undefined && this.#isGreeted) this.#socket.send(this.#protocol.alive);
  }

  /** Nothing was read or written for `limits.answerStallMs`. */
  #stalled(): void {
    if (this.#outlet.isBehind()) this.#socket.terminate();
  }

  #leaveWhenDone(): void {
    if (!this.#isLeaving || this.#operations.size > 0) return;
    this.#close(CLOSE.away, 'the service is stopping');
    setTimeout(() => this.#socket.terminate(), LEAVING_MS).unref();
  }

  #count(bytes: number): void {
    if (this.#coming.add(bytes)) return;
    this.#close(CLOSE.full, this.#service.bodies.refusal().message);
    this.#coming.end()();
  }

  #take(data: Buffer, isBinary: boolean): void {
    const end = this.#coming.end();
    // what stood behind a message that ended it
    const message = this.#socket.readyState === this.#socket.OPEN ? this.#read(data, isBinary) : undefined;
    const begun = message && this.#do(message);
    if (begun === undefined) end();
    else begun.once('close', end);
    // who reads no answers is asked for nothing more, nor for signs of life
    if (this.#outlet.isBehind() && !this.#socket.isPaused) {
      this.#socket.pause();
      this.#handshake.socket.once('drain', () => this.#socket.resume());
    }
  }

  #read(data: Buffer, isBinary: boolean): ClientMessage | undefined {
    this.#isAlive = true;
    try {
      if (isBinary)
        throw new GraphsteadError('INVALID_REQUEST', 'a message is text, and this one is binary', {
          fix: 'send JSON in a text frame',
        });
      return readMessage(this.#protocol, data.toString('utf8'));
    } catch (thrown) {
      const { message: why, fix } = thrown as GraphsteadError;
      this.#close(CLOSE.invalid, fix === undefined ? why : `${why}: ${fix}`);
      return undefined;
    }
  }

  /** Answers with the operation that it has begun. */
  #do(message: ClientMessage): Operation | undefined {
    switch (message.kind) {
      case 'init':
        this.#init(message.payload);
        break;
      case 'ping':
        this.#socket.send(JSON.stringify({ type: 'pong', payload: message.payload }));
        break;
      case 'begin':
        return this.#begin(message.id, message.payload);
      case 'stop':
        this.#stop(message.id);
        break;
      case 'leave':
        this.#close(1000, '');
        break;
    }
    return undefined;
  }

  #init(payload: Readonly<Record<string, unknown>>): void {
    if (this.#greeting === undefined) this.#greeting = this.#greet(payload);
    else this.#close(CLOSE.initAgain, 'connection_init came twice');
  }

  /** The client says who it is: by the headers of its handshake, or here. */
  async #greet(payload: Readonly<Record<string, unknown>>): Promise<IncomingHttpHeaders | undefined> {
    const { core, check } = this.#service;
    const { url, headers: given } = this.#handshake;
    const headers = headersWith(given, payload);
    try {
      const refusal = check({ method: 'GET', url, headers });
      if (refusal !== undefined) throw refusal;
      await core.api.claims(core.keys.taken(headers as Record<string, string | undefined>));
    } catch (thrown) {
      const { message } = asError(thrown);
      const { refused } = this.#protocol;
      if (refused !== undefined) this.#socket.send(JSON.stringify({ type: refused, payload: { message } }));
      this.#close(CLOSE.forbidden, message);
      return undefined;
    }
    clearTimeout(this.#late);
    this.#isGreeted = true;
    this.#socket.send('{"type":"connection_ack"}');
    if (this.#protocol.alive !== undefined) this.#socket.send(this.#protocol.alive);
    return headers;
  }

  #begin(id: string, payload: Readonly<Record<string, unknown>>): Operation | undefined {
    const headers = this.#isGreeted || this.#protocol.isEager ? this.#greeting : undefined;
    if (headers === undefined) {
      this.#close(CLOSE.unauthorized, 'connection_init comes first');
      return undefined;
    }
    if (this.#operations.has(id)) {
      this.#close(CLOSE.repeated, `an operation with the id ${JSON.stringify(id)} is under way`);
      return undefined;
    }
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      this.#outlet.tell([errorMessage(this.#protocol, id, [toWire(refusal)])]);
      return undefined;
    }
    const operation = new Operation(this.#handshake.socket);
    this.#operations.set(id, operation);
    const asked = { id, payload, headers, protocol: this.#protocol };
    void run(this.#service, asked, operation, this.#outlet).finally(() => {
      operation.finish();
      if (this.#operations.get(id) === operation) this.#operations.delete(id);
      this.#leaveWhenDone();
    });
    return operation;
  }

  /** Why it begins nothing more. */
  #refusal(): GraphsteadError | undefined {
    if (this.#isLeaving) return new GraphsteadError('NOT_READY', 'the service is stopping', { fix: 'ask again' });
    const { webSocketOperations } = this.#service.core.limits;
    if (this.#operations.size < webSocketOperations) return undefined;
    const many = `${webSocketOperations} operations of this connection are under way (limits.webSocketOperations)`;
    return new GraphsteadError('OVERLOADED', many, { fix: 'Stop some of them, or open another connection.' });
  }

  #stop(id: string): void {
    const operation = this.#operations.get(id);
    this.#operations.delete(id);
    operation?.destroy();
  }

  #close(code: number, reason: string): void {
    this.#socket.close(code, reasonOf(reason));
  }

  #end(): void {
    clearTimeout(this.#late);
    this.#coming.end()();
    for (const operation of this.#operations.values()) operation.destroy();
    this.#operations.clear();
  }
}
