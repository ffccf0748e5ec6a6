import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { SubscriptionEvent } from '../../api/index.js';
import { asError, each, GraphsteadError, toWire, type WireError } from '../../base/index.js';
import type { LargeAnswers } from '../answers.js';
import type { AccessCheck } from '../authenticate.js';
import type { Core } from '../core.js';
import { payloadOf } from '../event-payload.js';
import { requestOfObject } from '../route/graphql-request.js';
import { contextOf } from '../route/request-context.js';
import { headersWith } from './headers.js';
import { Operation } from './operation.js';
import { type ClientMessage, type Protocol, readMessage } from './protocol.js';

/** bytes that wait for the client's reading before more is asked of the sources */
const BEHIND_BYTES = 64 * 1024;
/** bytes of the reason that a close frame may carry (RFC 6455, 5.5) */
const REASON_BYTES = 123;

/** Close codes of the protocol; those below 4000 are of RFC 6455. */
const CLOSE = {
  away: 1001,
  invalid: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  silent: 4408,
  repeated: 4409,
  initAgain: 4429,
} as const;

/** What a connection needs of the service. */
export interface Service {
  readonly core: Core;
  readonly check: AccessCheck;
  readonly answers: LargeAnswers;
  nextId(): string;
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
  readonly #operations = new Map<string, Operation>();
  readonly #late: NodeJS.Timeout;
  #hasBegun = false;
  /** of all its operations, once the client has said who it is */
  #headers: IncomingHttpHeaders | undefined;
  #isAlive = true;

  constructor(socket: WebSocket, protocol: Protocol, handshake: Handshake, service: Service) {
    this.#socket = socket;
    this.#protocol = protocol;
    this.#handshake = handshake;
    this.#service = service;
    const { webSocketInitMs } = service.core.limits;
    const late = `connection_init did not come within ${webSocketInitMs} ms (limits.webSocketInitMs)`;
    this.#late = setTimeout(() => this.#close(CLOSE.silent, late), webSocketInitMs).unref();
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('close', () => this.#end());
  }

  /** Ends it where nothing was heard since the last call, which asked for a sign of life. */
  beat(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
    if (this.#protocol.alive !== undefined && this.#headers !== undefined) this.#socket.send(this.#protocol.alive);
  }

  /** The service stops. */
  leave(): void {
    this.#close(CLOSE.away, 'the service is stopping');
  }

  #take(data: Buffer, isBinary: boolean): void {
    // what stood behind a message that ended it
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#isAlive = true;
    let message: ClientMessage;
    try {
      if (isBinary) throw new GraphsteadError('INVALID_REQUEST', 'a message is text, and this one is binary');
      message = readMessage(this.#protocol, data.toString('utf8'));
    } catch (thrown) {
      const { message: why, fix } = thrown as GraphsteadError;
      this.#close(CLOSE.invalid, fix === undefined ? why : `${why}: ${fix}`);
      return;
    }
    this.#do(message);
    // who reads no answers is asked for nothing more, nor for signs of life
    if (this.#isBehind() && !this.#socket.isPaused) {
      this.#socket.pause();
      this.#handshake.socket.once('drain', () => this.#socket.resume());
    }
  }

  #isBehind(more = 0): boolean {
    return this.#socket.bufferedAmount + more >= BEHIND_BYTES;
  }

  #do(message: ClientMessage): void {
    switch (message.kind) {
      case 'init':
        void this.#init(message.payload);
        break;
      case 'ping':
        this.#socket.send('{"type":"pong"}');
        break;
      case 'begin':
        this.#begin(message.id, message.payload);
        break;
      case 'stop':
        this.#stop(message.id);
        break;
      case 'leave':
        this.#close(1000, '');
        break;
    }
  }

  /** The client says who it is: by the headers of its handshake, or here. */
  async #init(payload: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#hasBegun) return this.#close(CLOSE.initAgain, 'connection_init came twice');
    this.#hasBegun = true;
    const { core, check } = this.#service;
    const { url, headers: given } = this.#handshake;
    const headers = headersWith(given, payload);
    try {
      const refusal = check({ method: 'GET', url, headers });
      if (refusal !== undefined) throw refusal;
      await core.api.claims(core.keys.taken(headers as Record<string, string | undefined>));
    } catch (thrown) {
      return this.#close(CLOSE.forbidden, asError(thrown).message);
    }
    clearTimeout(this.#late);
    this.#headers = headers;
    this.#socket.send('{"type":"connection_ack"}');
    if (this.#protocol.alive !== undefined) this.#socket.send(this.#protocol.alive);
  }

  #begin(id: string, payload: Readonly<Record<string, unknown>>): void {
    const headers = this.#headers;
    if (headers === undefined) {
      this.#close(CLOSE.unauthorized, 'connection_init comes first');
      return;
    }
    if (this.#operations.has(id)) {
      this.#close(CLOSE.repeated, `an operation with the id ${JSON.stringify(id)} is under way`);
      return;
    }
    const { webSocketOperations } = this.#service.core.limits;
    if (this.#operations.size >= webSocketOperations) {
      const many = `${webSocketOperations} operations of this connection are under way (limits.webSocketOperations)`;
      const error = new GraphsteadError('OVERLOADED', many, { fix: 'Stop some of them, or open another connection.' });
      this.#tell([this.#errorOf(JSON.stringify(id), [toWire(error)])]);
      return;
    }
    const operation = new Operation(this.#handshake.socket);
    this.#operations.set(id, operation);
    void this.#run(id, operation, headers, payload).finally(() => {
      operation.finish();
      if (this.#operations.get(id) === operation) this.#operations.delete(id);
    });
  }

  async #run(
    id: string,
    operation: Operation,
    headers: IncomingHttpHeaders,
    payload: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { core, nextId } = this.#service;
    const name = JSON.stringify(id);
    try {
      operation.once('close', core.streams.enter());
      this.#service.answers.refuse();
      const graphql = requestOfObject(payload);
      core.draining.refuse();
      await core.caughtUp?.();
      const context = await contextOf(core, { id: nextId(), method: 'POST', headers }, operation);
      let isRefused = false;
      const take = (events: readonly SubscriptionEvent[]) => {
        if (operation.destroyed) return undefined;
        const [first] = events;
        const errors = first && refusalIn(first);
        if (errors === undefined)
          return this.#held(events, this.#tell(events.map((event) => this.#nextOf(name, event))));
        isRefused = true;
        return this.#tell([this.#errorOf(name, errors)]);
      };
      await each(core.api.subscribe(graphql, context, { allowMutation: true }), take, context.signal);
      if (!isRefused && !context.signal.aborted) this.#tell([`{"id":${name},"type":"${this.#protocol.complete}"}`]);
    } catch (thrown) {
      if (!operation.destroyed) this.#tell([this.#errorOf(name, [toWire(asError(thrown))])]);
    }
  }

  /** Where the event has an id, its `extensions` say it: a subscription goes on `after` it. */
  #nextOf(name: string, event: SubscriptionEvent): string {
    const text = payloadOf(event);
    // an answer ends with its extensions, which are never empty
    const payload = event.id === undefined ? text : `${text.slice(0, -2)},"eventId":${JSON.stringify(event.id)}}}`;
    return `{"id":${name},"type":"${this.#protocol.next}","payload":${payload}}`;
  }

  #errorOf(name: string, errors: readonly WireError[]): string {
    const payload = JSON.stringify(this.#protocol.oneError ? errors[0] : errors);
    return `{"id":${name},"type":"error","payload":${payload}}`;
  }

  /** What its client is behind with counts as other answers do that nobody has read yet. */
  #held(events: readonly SubscriptionEvent[], told: Promise<void> | undefined): Promise<void> | undefined {
    if (told === undefined) return undefined;
    const waiting = new Operation(this.#handshake.socket);
    const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
    this.#service.answers.add(bytes, waiting);
    return told.then(() => waiting.finish());
  }

  /** Sends in order, in one write; the promise, where there is one, resolves when the client has taken enough to be sent more. */
  #tell(messages: readonly string[]): Promise<void> | undefined {
    const { socket } = this.#handshake;
    const last = messages.length - 1;
    if (last < 0) return undefined;
    socket.cork();
    try {
      for (let i = 0; i < last; i++) this.#socket.send(messages[i]);
      if (this.#isBehind(messages[last].length)) {
        return new Promise((resolve) => this.#socket.send(messages[last], () => resolve()));
      }
      this.#socket.send(messages[last]);
      return undefined;
    } finally {
      socket.uncork();
    }
  }

  #stop(id: string): void {
    const operation = this.#operations.get(id);
    this.#operations.delete(id);
    operation?.destroy();
  }

  #close(code: number, reason: string): void {
    this.#socket.close(
      code,
      Buffer.from(reason)
        .subarray(0, REASON_BYTES)
        .toString('utf8')
        .replace(/\ufffd$/, ''),
    );
  }

  #end(): void {
    clearTimeout(this.#late);
    for (const operation of this.#operations.values()) operation.destroy();
    this.#operations.clear();
  }
}

/** The errors of a request that could not begin: its answer has nothing beside them. */
function refusalIn({ body }: SubscriptionEvent): readonly WireError[] | undefined {
  if (!body.subarray(0, REFUSAL.length).equals(REFUSAL)) return undefined;
  const answer = JSON.parse(body.toString('utf8')) as {
    readonly errors: readonly WireError[];
    readonly data?: unknown;
  };
  return 'data' in answer ? undefined : answer.errors;
}

const REFUSAL = Buffer.from('{"errors":');
