import { request as overHttp, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Socket } from 'node:net';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { urlToHttpOptions } from 'node:url';
import type { GraphsteadError, Limits, Trace } from '../../base/index.js';
import { serviceAddress } from './address.js';
import { clientLeft, outcomeUnknown, writerAway } from './failure.js';
import { FORWARDED, headersBack, headersOn, STOPPING } from './headers.js';
import type { Places } from './places.js';

/** A request as it came. */
export interface Received {
  readonly id: string;
  readonly method: string;
  /** path and query */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** What the service that writes answered. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** the whole of it where that is little, and else as it comes */
  readonly body: Buffer | Readable;
}

/** Where a client waits for the answer. */
interface Waiting {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** Lets through what a client says, or fails; the client is told its last word then. */
interface TunnelGate extends Duplex {
  readonly lastWord: Buffer;
}

/** Who asks for a connection that lasts. */
interface TunnelClient {
  readonly socket: Socket;
  /** what came on it behind the request */
  readonly head: Buffer;
  /** what it says goes through this */
  readonly gate: TunnelGate | undefined;
  /** told why nobody could be asked */
  refused(thrown: unknown): void;
}

/** What is common to all that is sent there. */
export interface ForwardTerms {
  readonly limits: Limits;
  readonly trace: Trace;
  readonly places: Places;
}

/** Sends what only the service that writes can answer there, in the client's name. */
export interface Forwarder {
  /** of that service, as people are told */
  readonly address: string;
  /** Hands its answer on as it comes. Rejects as `ask` does, before anything was answered. */
  pipe(received: Received, body: Buffer | Readable, answer: ServerResponse): Promise<void>;
  /**
   * Answers with it. Throws READ_ONLY_STORE where that service cannot be reached, OUTCOME_UNKNOWN where it may have done
   * what was asked and did not say so, OVERLOADED.
   */
  ask(received: Received, body: Buffer, waiting: Waiting): Promise<Answered>;
  /** Connects a client that asks for a WebSocket with that service. */
  tunnel(received: Received, client: TunnelClient): void;
}

/** @param url of the service that writes, as `http://10.0.0.1:8686`. Throws CONFIG */
export function createForwarder(url: string, terms: ForwardTerms): Forwarder {
  return new WriterForwarder(serviceAddress(url, 8686), terms);
}

/** Whether another service has sent it on: sent on again it would go in circles. */
export function wasForwarded({ headers }: Pick<Received, 'headers'>): boolean {
  return headers[FORWARDED] !== undefined;
}

/** for which nothing is sent to a service that says it stops: until it does not listen any more */
const STOPPING_MS = 500;

/** of an answer that is waited for whole: what is larger is not held */
const WHOLE_BYTES = 64 * 1024;

class WriterForwarder implements Forwarder {
  readonly #address: URL;
  readonly #limits: Limits;
  readonly #trace: Trace;
  readonly #places: Places;
  /** monotonic milliseconds until which it has said that it stops */
  #stopsUntil = 0;

  constructor(address: URL, { limits, trace, places }: ForwardTerms) {
    this.#address = address;
    this.#limits = limits;
    this.#trace = trace;
    this.#places = places;
  }

  get address(): string {
    return this.#address.origin;
  }

  async pipe(received: Received, body: Buffer | Readable, answer: ServerResponse): Promise<void> {
    this.#holdPlace(answer);
    const from = await this.#send(received, body, answer);
    answer.writeHead(from.statusCode ?? 502, headersBack(from.headers));
    // a client that reads no further ends it there, and one whose answer breaks off is to see that it did
    pipeline(from, answer, () => undefined);
  }

  async ask(received: Received, body: Buffer, waiting: Waiting): Promise<Answered> {
    this.#holdPlace(waiting);
    const from = await this.#send(received, body, waiting);
    const { statusCode: status = 502 } = from;
    const headers = headersBack(from.headers);
    if (!(Number(from.headers['content-length']) <= WHOLE_BYTES)) return { status, headers, body: from };
    try {
      return { status, headers, body: await buffer(from) };
    } catch (thrown) {
      throw this.#unknown(thrown);
    }
  }

  tunnel(received: Received, { socket: client, head, gate, refused }: TunnelClient): void {
    this.#holdPlace(client);
    const { sent } = this.#begin(received, undefined, UPGRADE);
    const late = setTimeout(() => sent.destroy(new Error('it has not answered')), this.#limits.forwardMs);
    client.once('close', () => sent.destroy());
    let isAnswered = false;
    const answered = () => {
      clearTimeout(late);
      isAnswered = true;
    };
    sent.on('error', (error) => {
      clearTimeout(late);
      if (isAnswered || client.destroyed) client.destroy();
      else refused(this.#away(error));
    });
    sent.once('upgrade', (answer, writer, first) => {
      answered();
      client.write(headOf(answer, answer.headers));
      client.write(first);
      connect(client, head, writer, gate);
      writer.on('error', () => writer.destroy());
      client.once('close', () => writer.destroy());
      writer.once('close', () => client.destroy());
    });
    sent.once('response', (answer) => {
      answered();
      client.write(headOf(answer, { ...headersBack(answer.headers), connection: 'close' }));
      pipeline(answer, client, () => undefined);
    });
    sent.end();
  }

  /** Until the answer is over. Throws CANCELLED where it is already: nobody would tell of it any more. */
  #holdPlace(waiting: Waiting): void {
    if (waiting.destroyed) throw clientLeft();
    waiting.once('close', this.#places.take());
  }

  #send(received: Received, body: Buffer | Readable, waiting: Waiting): Promise<IncomingMessage> {
    const facts = { 'http.request.method': received.method, 'server.address': this.#address.hostname };
    return this.#trace.step(`forward ${received.method}`, { kind: 'client', facts }, async (step) => {
      if (performance.now() < this.#stopsUntil) throw this.#away(new Error('it said that it stops'));
      const from = await this.#sent(received, body, waiting);
      step.tell({ 'http.response.status_code': from.statusCode ?? 0 });
      return from;
    });
  }

  #sent(received: Received, body: Buffer | Readable, waiting: Waiting): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { sent, isTaken } = this.#begin(received, Buffer.isBuffer(body) ? body.length : undefined);
      const late = setTimeout(() => sent.destroy(new Error('it has not answered')), this.#limits.forwardMs);
      waiting.once('close', () => sent.destroy());
      sent.once('response', (answer) => {
        clearTimeout(late);
        if (answer.headers[STOPPING] !== undefined) this.#stopsUntil = performance.now() + STOPPING_MS;
        resolve(answer);
      });
      // also behind the answer, where nobody has to hear of it any more
      sent.on('error', (error) => {
        clearTimeout(late);
        if (waiting.destroyed) reject(clientLeft());
        else reject(isTaken() && received.method !== 'GET' ? this.#unknown(error) : this.#away(error));
      });
      if (Buffer.isBuffer(body)) sent.end(body);
      // no pipeline: it would end the connection of a client whose large body is refused early
      else body.on('data', () => late.refresh()).pipe(sent);
      if (waiting.destroyed) sent.destroy();
    });
  }

  /** Over a connection of its own: one that idled may end under a change, and nobody could say whether it was made. */
  #begin(
    { id, method, url, headers }: Received,
    length: number | undefined,
    more: Readonly<Record<string, string>> = {},
  ) {
    const isTls = this.#address.protocol === 'https:';
    const sent = (isTls ? overHttps : overHttp)({
      ...urlToHttpOptions(this.#address),
      method,
      path: url,
      agent: false,
      headers: { ...headersOn(headers, { id, host: this.#address.host, length }), ...this.#trace.headers(), ...more },
    });
    let isTaken = false;
    sent.once('socket', (socket) =>
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        isTaken = true;
      }),
    );
    // whether the other end may have got something of it
    return { sent, isTaken: () => isTaken };
  }

  #away(cause: unknown): GraphsteadError {
    return writerAway(this.#address.host, '--writer', cause);
  }

  #unknown(cause: unknown): GraphsteadError {
    return outcomeUnknown('Look whether it was done; with an Idempotency-Key it can be sent again.', cause);
  }
}

/** Both ways; what the client says, `head` first, through the gate. */
function connect(client: Socket, head: Buffer, writer: Socket, gate: TunnelGate | undefined): void {
  writer.pipe(client);
  const through = gate ?? writer;
  through.write(head);
  client.pipe(through);
  gate?.pipe(writer);
  gate?.once('error', () => {
    writer.unpipe(client);
    client.end(gate.lastWord, () => writer.destroy());
  });
}

/** What a WebSocket's handshake says of its connection (RFC 6455, 4.1). */
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' };

function headOf(answer: IncomingMessage, headers: IncomingHttpHeaders): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${lines.join('')}\r\n`;
}
