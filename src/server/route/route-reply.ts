import type { Readable } from 'node:stream';
import type { DirectRequest } from '../direct/index.js';
import type { Answering } from '../signal.js';

/** What a route answers to a request that opens no stream, by whichever way it came. */
export interface RouteReply {
  readonly status: number;
  /** of the body */
  readonly type: string;
  /** besides the type; lower-case names */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** what follows it, as it comes */
  readonly rest?: Readable;
}

/** Answers a request that came past the library. Rejects as the library's routes do. */
export type RunDirectly = (request: DirectRequest, answering: Answering) => Promise<RouteReply>;
