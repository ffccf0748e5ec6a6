import { hash } from 'node:crypto';
import { GraphsteadError } from '../base/index.js';
import { keyOf } from './keys.js';

interface Claim {
  readonly scope: string;
  readonly key: string;
  readonly bodyHash: string;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The claim of the `Idempotency-Key` of a /mutate, in a scope of its caller. Throws INVALID_REQUEST on a key too long. */
export function mutationClaim(headers: Headers, hash: () => string): Claim | undefined {
  const key = idempotencyKey(headers);
  return key === undefined ? undefined : { scope: `mutate:${callerOf(headers)}`, key, bodyHash: hash() };
}

/** The `Idempotency-Key`, when there is one. Throws INVALID_REQUEST on a key too long. */
export function idempotencyKey(headers: Headers): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return undefined;
  if (key.length > 256) {
    throw new GraphsteadError('INVALID_REQUEST', 'the Idempotency-Key is longer than 256 characters', {
      fix: 'use a UUID',
    });
  }
  return key;
}

/** What a verified token says of who asks. */
interface Bearer {
  readonly claims: Readonly<Record<string, unknown>>;
  /** the header that carried the token, lower case */
  readonly header: string | undefined;
}

/**
 * Who asks, as idempotency keys tell callers apart: a digest of the API key and of the token's subject, as far as there are
 * any; "anyone" otherwise. Users behind one API key are not one caller: what a reply shows may hang on the user.
 */
export function callerOf(headers: Headers, bearer?: Bearer): string {
  // a token is renewed between two tries of one request: only its subject counts
  const key = keyOf(bearer?.header === undefined ? headers : { ...headers, [bearer.header]: undefined });
  if (key === undefined && bearer === undefined) return 'anyone';
  const parts = [
    ...(key === undefined ? [] : [digest(key)]),
    ...(bearer === undefined ? [] : [`jwt-${digest(subjectOf(bearer.claims))}`]),
  ];
  return parts.join('.');
}

/** Claims that differ from one token of a user to the next. */
const OF_THE_TOKEN = new Set(['exp', 'iat', 'nbf', 'jti', 'auth_time']);

/** The subject where the token names one; otherwise all that it says of its user. */
function subjectOf(claims: Bearer['claims']): string {
  const { iss, sub } = claims;
  if (typeof sub === 'string') return JSON.stringify([iss, sub]);
  const lasting = Object.entries(claims).filter(([name]) => !OF_THE_TOKEN.has(name));
  return JSON.stringify(lasting.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16);
}

export function bodyHash(...parts: readonly string[]): string {
  return hash('sha256', parts.map((part) => `${part}\0`).join(''), 'base64url');
}
