import type { Secret } from '../base/index.js';

/** One HTTP request to somewhere else. Header names are compared without case; a Secret is revealed only when it is sent. */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** absolute http or https address */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body?: string;
  /** the call changes nothing when it is made twice, so a failed one may be tried again */
  readonly idempotent: boolean;
  readonly signal?: AbortSignal;
}

export interface OutboundReply {
  readonly status: number;
  /** decompressed, in UTF-8 */
  readonly body: Buffer;
}

/**
 * Calls other services, within a time, a reply size and a number of connections; refuses addresses that nothing of ours
 * should reach; stops calling a remote that keeps failing.
 */
export interface HttpClient {
  /**
   * Any status is an answer. Throws REMOTE_FAILED (network), REMOTE_TIMEOUT, REMOTE_REPLY (too large, or
   * compressed so that it cannot be read), REMOTE_REFUSED
   * (address), CIRCUIT_OPEN, CANCELLED (`signal`). Messages name method, origin and path; never headers or parameters.
   */
  send(request: OutboundRequest): Promise<OutboundReply>;
  close(): Promise<void>;
}

/** A piece of a url template. */
export type UrlPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string };

/** A parsed url template, as the definitions' room gives it. */
export interface UrlTemplate {
  readonly path: readonly UrlPart[];
  /** without a value: a bare `name` */
  readonly query: readonly { readonly name: string; readonly value?: UrlPart }[];
}

/** A node of a parsed body template. */
export type BodyNode =
  | { readonly kind: 'object'; readonly fields: readonly { readonly key: string; readonly value: BodyNode }[] }
  | { readonly kind: 'list'; readonly items: readonly BodyNode[] }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: string | number | boolean | null };

/** Values of a template's variables: no key is absent, null is null. */
export type TemplateValues = Readonly<Record<string, unknown>>;

/** A header that is sent as `remote` with the value found under `local`. */
export interface HeaderRule {
  readonly remote: string;
  readonly local: string;
}

/** An error that a remote told about. */
export interface RemoteError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** What a remote answered, read. */
export interface RemoteAnswer {
  readonly value: unknown;
  readonly errors: readonly RemoteError[];
}
