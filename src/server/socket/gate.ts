import type { IncomingHttpHeaders } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { asError } from '../../base/index.js';
import type { AccessCheck } from '../authenticate.js';
import { CLOSE } from './close.js';
import { CONTROL, closeFrame, frameAt, OPCODE } from './frame.js';
import { headersWith } from './headers.js';
import { type Protocol, readMessage } from './protocol.js';

interface GateTerms {
  readonly check: AccessCheck;
  /** undefined: none that both know */
  readonly protocol: Protocol | undefined;
  /** of the handshake, which showed no key */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** that a first message may have */
  readonly messageBytes: number;
}

const NO_BYTES: Buffer = Buffer.alloc(0);

/** Why a client is let no further, as it is told. */
class Refused extends Error {
  constructor(
    readonly code: number,
    reason: string,
  ) {
    super(reason);
  }
}

/**
 * Stands before a tunnel whose other end may ask for no key: what a client says waits here until its first message has shown
 * one that this service takes. From then on everything passes as it comes.
 */
export class Gate extends Transform {
  readonly #terms: GateTerms;
  #held: Buffer[] = [];
  #bytes = 0;
  #isOpen = false;
  /** what a client is told that is let no further */
  lastWord = NO_BYTES;

  constructor(terms: GateTerms) {
    super();
    this.#terms = terms;
  }

  override _transform(part: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#isOpen) {
      done(null, part);
      return;
    }
    this.#held.push(part);
    this.#bytes += part.length;
    try {
      if (!this.#isShown()) done();
      else {
        const held = Buffer.concat(this.#held);
        this.#held = [];
        this.#isOpen = true;
        done(null, held);
      }
    } catch (thrown) {
      if (thrown instanceof Refused) this.lastWord = closeFrame(thrown.code, thrown.message);
      done(thrown as Error);
    }
  }

  /** Whether the message that says who asks has come. Throws Refused. */
  #isShown(): boolean {
    const { messageBytes } = this.#terms;
    if (this.#bytes > messageBytes) {
      throw new Refused(CLOSE.tooLarge, `connection_init is longer than ${messageBytes} bytes`);
    }
    const text = firstText(Buffer.concat(this.#held));
    if (text === undefined) return false;
    this.#greet(text);
    return true;
  }

  #greet(text: string): void {
    const { check, protocol, url, headers } = this.#terms;
    if (protocol === undefined)
      throw new Refused(CLOSE.unknownProtocol, 'no subprotocol is offered that is known here');
    const message = said(protocol, text);
    if (message.kind !== 'init') throw new Refused(CLOSE.unauthorized, 'connection_init comes first');
    const refusal = check({ method: 'GET', url, headers: headersWith(headers, message.payload) });
    if (refusal !== undefined) throw new Refused(CLOSE.forbidden, refusal.message);
  }
}

function said(protocol: Protocol, text: string): ReturnType<typeof readMessage> {
  try {
    return readMessage(protocol, text);
  } catch (thrown) {
    throw new Refused(CLOSE.invalid, asError(thrown).message);
  }
}

/** The first message, of one frame or several; undefined where it has not come whole. Throws Refused for one that is no text. */
function firstText(bytes: Buffer): string | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const frame = frameAt(bytes, at);
    if (frame === undefined) return undefined;
    at += frame.length;
    if (frame.opcode >= CONTROL) continue;
    if (frame.opcode !== (parts.length === 0 ? OPCODE.text : OPCODE.continued)) {
      throw new Refused(CLOSE.invalid, 'the first message is text');
    }
    parts.push(frame.payload);
    if (frame.isLast) return Buffer.concat(parts).toString('utf8');
  }
}
