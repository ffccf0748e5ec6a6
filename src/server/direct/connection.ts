import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { COUNTED_BODY } from '../bodies.js';
import { TEXT_BYTES } from '../envelope.js';
import { chunked } from './chunked.js';
import type { DirectAnswer, DirectHandler, DirectRoute } from './contract.js';
import { Exchange } from '../exchange.js';
import { type PlainHead, plainHead } from './head.js';
import { headOf } from './answer-head.js';

const HEAD_END = '\r\n\r\n';
const NO_BYTES: Buffer = Buffer.alloc(0);

/** What a connection needs of those who keep it. */
export interface ConnectionOwner {
  readonly route: DirectRoute;
  /** milliseconds in which the first request must have come, and the body behind a later head */
  readonly firstMs: number;
  /** milliseconds that a connection may rest between two requests */
  readonly idleMs: number;
  /** the id of a request that names none */
  nextId(): string;
  answered(path: string, status: number, seconds: number): void;
  /** The library takes the socket from here on, and first what has come on it. */
  handOver(connection: DirectConnection, socket: Socket, bytes: Buffer): void;
  closed(connection: DirectConnection): void;
  /** nothing was asked for in time, on a connection that is new */
  silent(socket: Socket): void;
  /** nothing that is asked for on it will be begun */
  turnAway(socket: Socket): void;
}

/** A head as it came last, and who answers requests that begin with it. */
interface Known {
  readonly text: string;
  readonly plain?: { readonly head: PlainHead; readonly handle: DirectHandler };
}

/** An answer that is on its way, and since when. */
interface Begun {
  readonly path: string;
  readonly from: number;
  readonly exchange: Exchange;
}

/**
 * A connection whose requests are answered as they come: each in one piece, or its body in a second one, and alone. The
 * first one that is not, or that the route does not take, gives the connection to the library, for good.
 */
export class DirectConnection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  /** clients send the same head again and again */
  #known: Known = { text: '' };
  #exchange: Exchange | undefined;
  /** came while an answer was under way */
  #early: Buffer = NO_BYTES;
  /** a request whose body is to come: many clients send their heads alone */
  #begun: Buffer | undefined;
  #isNew = true;
  /** calls of `closeIdle` while it was new */
  #outlived = 0;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.setTimeout(owner.firstMs);
    socket.on('data', this.#take).on('end', this.#end).on('close', this.#close);
    socket.on('timeout', this.#late).on('error', ignore);
  }

  /** Ends it where no request is under way; while none has come yet, after so many calls, and told why. */
  closeIdle(freshCalls: number): void {
    if (this.#exchange !== undefined || this.#begun !== undefined) return;
    if (!this.#isNew) this.destroy();
    else if (this.#outlived++ === freshCalls) {
      this.#socket.off('data', this.#take).resume();
      this.#owner.turnAway(this.#socket);
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #take = (part: Buffer): void => {
    if (this.#exchange !== undefined) {
      this.#early = this.#early.length === 0 ? part : Buffer.concat([this.#early, part]);
      this.#socket.pause();
      return;
    }
    const isFirst = this.#begun === undefined;
    const bytes = this.#begun === undefined ? part : Buffer.concat([this.#begun, part]);
    this.#begun = undefined;
    const end = bytes.indexOf(HEAD_END);
    const plain = end < 0 ? undefined : this.#knownAs(bytes.toString('latin1', 0, end)).plain;
    const from = end + HEAD_END.length;
    const whole = plain === undefined ? 0 : from + plain.head.length;
    // bodies that wait for their rest are the library's to count from this size on
    if (isFirst && bytes.length < whole && whole < COUNTED_BODY) {
      this.#begun = bytes;
      if (!this.#isNew) this.#socket.setTimeout(this.#owner.firstMs);
      return;
    }
    if (plain === undefined || bytes.length !== whole || !this.#owner.route.isOpen) {
      this.#leave(bytes);
      return;
    }
    if (this.#isNew || !isFirst) this.#socket.setTimeout(this.#owner.idleMs);
    this.#isNew = false;
    this.#answer(plain, bytes.subarray(from));
  };

  #knownAs(text: string): Known {
    if (text !== this.#known.text) {
      const head = plainHead(text);
      const handle = head && this.#owner.route.handlerOf(head);
      this.#known = head && handle ? { text, plain: { head, handle } } : { text };
    }
    return this.#known;
  }

  #answer({ head, handle }: NonNullable<Known['plain']>, body: Buffer): void {
    const { path, url, query, headers } = head;
    const exchange = new Exchange(this.#socket);
    this.#exchange = exchange;
    const begun = { path, from: performance.now(), exchange };
    const id = headers['x-request-id'] || this.#owner.nextId();
    void handle({ id, method: 'POST', url, query, headers, body }, exchange).then((answer) =>
      this.#answered(answer, id, begun),
    );
  }

  #answered(answer: DirectAnswer, id: string, begun: Begun): void {
    const { path, from, exchange } = begun;
    if (exchange.destroyed) return;
    const owner = this.#owner;
    exchange.headersSent = true;
    if (answer.rest !== undefined) {
      void this.#stream(answer, answer.rest, id, begun);
      return;
    }
    // whoever is told that the connection ends asks for nothing on it any more
    const isKept = owner.route.isOpen;
    const isTaken = this.#write(answer, id, isKept ? owner.idleMs : undefined);
    owner.answered(path, answer.status, (performance.now() - from) / 1_000);
    if (!isKept) this.#last(exchange);
    else if (isTaken) this.#next(exchange);
    else this.#socket.once('drain', () => this.#next(exchange));
  }

  /** Hands on what comes, at the pace of whoever reads it. */
  async #stream(answer: DirectAnswer, rest: Readable, id: string, { path, from, exchange }: Begun): Promise<void> {
    const owner = this.#owner;
    const isKept = owner.route.isOpen;
    const socket = this.#socket;
    socket.write(headOf(answer, id, isKept ? owner.idleMs : undefined), 'latin1');
    try {
      await pipeline(rest, chunked, socket, { end: false });
    } catch {
      // whose answer breaks off is to see that it did; `close` follows
      socket.destroy();
      return;
    }
    owner.answered(path, answer.status, (performance.now() - from) / 1_000);
    if (isKept) this.#next(exchange);
    else this.#last(exchange);
  }

  /** false where the client has to read some of it first */
  #write(answer: DirectAnswer, id: string, keptMs: number | undefined): boolean {
    const socket = this.#socket;
    const { body } = answer;
    const head = headOf(answer, id, keptMs);
    // as one text, bytes go out with their head in one call, and nothing of them is kept
    if (body.length <= TEXT_BYTES) return socket.write(head + body.toString('latin1'), 'latin1');
    socket.cork();
    socket.write(head, 'latin1');
    const isTaken = socket.write(body);
    socket.uncork();
    return isTaken;
  }

  #next(exchange: Exchange): void {
    if (exchange.stallMs !== undefined) this.#socket.setTimeout(this.#owner.idleMs);
    exchange.finish();
    this.#exchange = undefined;
    if (this.#early.length === 0) return;
    const bytes = this.#early;
    this.#early = NO_BYTES;
    this.#socket.resume();
    this.#take(bytes);
  }

  /** Nothing is read any more; the connection ends once the answer has gone out. */
  #last(exchange: Exchange): void {
    this.#socket.off('data', this.#take).resume();
    this.#socket.end(() => {
      exchange.finish();
      this.#exchange = undefined;
    });
  }

  /** As the library does it: who ends his half has left, and nobody reads what is under way. */
  readonly #end = (): void => {
    this.#socket.end();
  };

  readonly #close = (): void => {
    this.#owner.closed(this);
    this.#exchange?.destroy();
  };

  readonly #late = (): void => {
    if (this.#exchange !== undefined && this.#exchange.stallMs === undefined) return;
    // the library knows how long a request may take to come
    if (this.#begun !== undefined) this.#leave(this.#begun);
    else if (this.#isNew) this.#owner.silent(this.#socket);
    else this.#socket.destroy();
  };

  /** The library takes the socket, and first what has come on it; nothing here hears of it any more. */
  #leave(bytes: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#take).off('end', this.#end).off('close', this.#close);
    socket.off('timeout', this.#late).off('error', ignore);
    socket.setTimeout(0);
    this.#owner.handOver(this, socket, bytes);
  }
}

/** `close` follows */
function ignore(): void {}
