import type { RequestContext } from '../../api/index.js';
import type { MaybePromise } from '../../base/index.js';
import type { Core } from '../core.js';
import { callerOf, idempotencyKey } from '../idempotency.js';
import type { Answering } from '../signal.js';

/** A request, as far as it says who asks. */
export interface Asking {
  readonly id: string;
  readonly method: string;
  /** lower-case names */
  readonly headers: object;
}

/** Who asks. Throws (or rejects with) UNAUTHENTICATED when a token is present and does not verify, INVALID_REQUEST. */
export function contextOf(core: Core, request: Asking, answering: Answering): MaybePromise<RequestContext> {
  const claims = core.api.claims(core.keys.taken(request.headers as Headers));
  return claims instanceof Promise
    ? claims.then((verified) => new HttpContext(core, request, answering, verified))
    : new HttpContext(core, request, answering, claims);
}

type Headers = RequestContext['headers'];

/** A class: a getter in an object literal would give each request a hidden class, which keeps the request alive for long. */
class HttpContext implements RequestContext {
  readonly requestId: string;
  readonly headers: Headers;
  readonly claims: RequestContext['claims'];
  readonly idempotencyKey: string | undefined;
  readonly caller: string;
  readonly readOnly: boolean;
  readonly gone: NonNullable<RequestContext['gone']>;
  readonly extensions = {};
  readonly #core: Core;
  readonly #answering: Answering;
  #signal: AbortSignal | undefined;

  constructor(core: Core, request: Asking, answering: Answering, claims: RequestContext['claims']) {
    const headers = request.headers as Headers;
    this.requestId = request.id;
    // forwardHeaders may name `traceparent`: what is passed on names this request, not the one before it
    this.headers = core.trace.on ? { ...headers, ...core.trace.headers() } : headers;
    this.claims = claims;
    this.idempotencyKey = idempotencyKey(headers);
    this.caller = callerOf(headers, claims && { claims, header: core.api.current()?.authHeader });
    // clients of the peer send mutations with GET too
    this.readOnly = request.method !== 'POST' && !core.names.dgraph;
    this.gone = core.goneOf(answering);
    this.#core = core;
    this.#answering = answering;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#core.signalOf(this.#answering);
    return this.#signal;
  }
}
