import type { Readable } from 'node:stream';
import type { Answering } from '../signal.js';
import type { PlainHead } from './head.js';

/** A request of a known length that has come whole. */
export interface DirectRequest {
  readonly id: string;
  readonly method: 'POST';
  readonly url: PlainHead['url'];
  readonly query: PlainHead['query'];
  readonly headers: PlainHead['headers'];
  readonly body: Buffer;
}

export interface DirectAnswer {
  readonly status: number;
  /** headers by lower-case names, without those that say how the body is sent; the same object for many answers */
  readonly shared: Readonly<Record<string, string>>;
  /** those of this answer besides */
  readonly own: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** what follows it, as it comes; the connection ends where it breaks off */
  readonly rest?: Readable;
}

/** Answers requests whose heads are alike. Never rejects. */
export type DirectHandler = (request: DirectRequest, answering: Answering) => Promise<DirectAnswer>;

/** What is answered directly. */
export interface DirectRoute {
  /** Who answers requests with this head; undefined leaves them to the library. Asked once for all that are alike. */
  handlerOf(head: PlainHead): DirectHandler | undefined;
  /** false leaves everything to the library for now, which tells why */
  readonly isOpen: boolean;
}
