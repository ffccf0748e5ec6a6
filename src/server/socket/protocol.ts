import { GraphsteadError, isRecord, type WireError } from '../../base/index.js';

type Json = Readonly<Record<string, unknown>>;

/** What a client says. */
export type ClientMessage =
  | { readonly kind: 'init'; readonly payload: Json }
  | { readonly kind: 'begin'; readonly id: string; readonly payload: Json }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'ping'; readonly payload?: Json }
  | { readonly kind: 'pong' | 'leave' };

/** A subprotocol: what its messages are called. */
export interface Protocol {
  /** as the handshake names it */
  readonly name: string;
  /** what a client says, by the type of its message */
  readonly said: Readonly<Record<string, ClientMessage['kind']>>;
  /** types of messages to the client */
  readonly next: string;
  readonly complete: string;
  /** a message that is sent as often as `limits.heartbeatMs`, for clients that wait for it */
  readonly alive?: string;
  /** the type of a message that says why a client is not taken, before its connection is closed */
  readonly refused?: string;
  /** whether a client may ask behind its `connection_init` without having heard that it is taken */
  readonly isEager: boolean;
  /** whether the errors of a request are one object, that of the first */
  readonly oneError: boolean;
}

/** https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
const TRANSPORT: Protocol = {
  name: 'graphql-transport-ws',
  said: { connection_init: 'init', subscribe: 'begin', complete: 'stop', ping: 'ping', pong: 'pong' },
  next: 'next',
  complete: 'complete',
  isEager: false,
  oneError: false,
};

/** Its forerunner, which the peer's documentation and older clients speak: https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md */
const FORERUNNER: Protocol = {
  name: 'graphql-ws',
  said: { connection_init: 'init', start: 'begin', stop: 'stop', connection_terminate: 'leave' },
  next: 'data',
  complete: 'complete',
  alive: '{"type":"ka"}',
  refused: 'connection_error',
  isEager: true,
  oneError: true,
};

/** The one that is spoken with a client that offers these; undefined: none. */
export function protocolOf(offered: Iterable<string>): Protocol | undefined {
  const names = new Set(offered);
  return [TRANSPORT, FORERUNNER].find(({ name }) => names.has(name));
}

/** characters of an operation's id */
const ID_LENGTH = 256;

/** Reads what a client sent. Throws INVALID_REQUEST. */
export function readMessage({ said }: Protocol, text: string): ClientMessage {
  const message = objectIn(text);
  const { type, payload } = message;
  const kind = typeof type === 'string' && Object.hasOwn(said, type) ? said[type] : undefined;
  if (kind === undefined) throw invalid(`no message has the type ${JSON.stringify(type)}`, `one of ${names(said)}`);
  if (kind === 'pong' || kind === 'leave') return { kind };
  if (kind === 'init') return { kind, payload: payloadIn(message) ?? {} };
  if (kind === 'ping') return { kind, payload: payloadIn(message) };
  const id = idOf(message);
  if (kind === 'stop') return { kind, id };
  if (!isRecord(payload)) throw invalid(`the message ${type} has no payload`, '{"query": "..."}');
  return { kind, id, payload };
}

function objectIn(text: string): Json {
  try {
    const message: unknown = JSON.parse(text);
    if (isRecord(message)) return message;
  } catch {
    // told below
  }
  throw invalid('this message is no JSON object', '{"type": "connection_init"}');
}

function idOf({ id }: Json): string {
  if (typeof id === 'string' && id !== '' && id.length <= ID_LENGTH) return id;
  throw invalid('an operation has no id', `a text of at most ${ID_LENGTH} characters`);
}

function payloadIn({ type, payload }: Json): Json | undefined {
  if (payload === undefined || payload === null) return undefined;
  if (isRecord(payload)) return payload;
  throw invalid(`the payload of ${type} is no object`, '{"x-auth-token": "..."}');
}

const names = (said: Protocol['said']) => Object.keys(said).join(', ');

/** Tells the client of an operation why it could not begin. */
export function errorMessage({ oneError }: Protocol, id: string, errors: readonly WireError[]): string {
  return JSON.stringify({ id, type: 'error', payload: oneError ? errors[0] : errors });
}

function invalid(what: string, instead: string): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', what, { fix: `send ${instead}` });
}
