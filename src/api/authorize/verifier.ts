import { createPublicKey, type KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FetchImplementation, JWTPayload, JWTVerifyGetKey } from 'jose';
import { asError, type Clock, GraphsteadError, type Limits, type MaybePromise, parseJson } from '../../base/index.js';
import type { HttpClient } from '../../outbound/index.js';
import type { Authorization, Model } from '../../sdl/index.js';

type Claims = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string | undefined>>;
type Bounds = Pick<Limits, 'tokenSkewMs'>;

/** Finds and verifies the JWT of requests by one `# Service.Authorization` line. Key sets are fetched once and kept. */
export class Verifier {
  readonly #client: HttpClient | undefined;
  readonly #authorization: Authorization;
  readonly #clock: Clock;
  readonly #limits: Bounds;
  readonly #key: Uint8Array | KeyObject | undefined;
  #sets: readonly JWTVerifyGetKey[] | undefined;

  /** @param client fetches key sets as other calls go out: bounded, and to no address that is refused */
  constructor(authorization: Authorization, clock: Clock, limits: Bounds, client?: HttpClient) {
    this.#client = client;
    this.#authorization = authorization;
    this.#clock = clock;
    this.#limits = limits;
    this.#key = keyOf(authorization);
  }

  /** The claims; undefined without a token. Throws UNAUTHENTICATED for one that does not verify, REMOTE_FAILED where a key set cannot be had. */
  async claims(headers: Headers): Promise<Claims | undefined> {
    const { header } = this.#authorization;
    const value = headers[header.toLowerCase()];
    if (value === undefined || value.trim() === '') return undefined;
    const token = bearer(value, header);
    const payload = await this.#verify(token);
    this.#checkAudience(payload);
    return claimsOf(exactly(token, payload), this.#authorization.namespace);
  }

  /** The library loads with the first token. */
  async #verify(token: string): Promise<JWTPayload> {
    const jose = await import('jose');
    const options = { currentDate: new Date(this.#clock.wall()), clockTolerance: this.#limits.tokenSkewMs / 1000 };
    if (this.#key) {
      const algorithms = [this.#authorization.algorithm];
      return await refusing(jose, async () => {
        if (this.#key instanceof Uint8Array) return await jose.jwtVerify(token, this.#key, { ...options, algorithms });
        return await jose.jwtVerify(token, this.#key as KeyObject, { ...options, algorithms });
      });
    }
    const failures: GraphsteadError[] = [];
    const by = this.#client && { [jose.customFetch]: fetchedBy(this.#client) };
    this.#sets ??= this.#authorization.jwkUrls.map((url) => {
      return jose.createRemoteJWKSet(new URL(url), { timeoutDuration: 10_000, ...by });
    });
    for (const set of this.#sets) {
      try {
        return await refusing(jose, () => jose.jwtVerify(token, set, options), true);
      } catch (error) {
        failures.push(asError(error));
      }
    }
    // the token may be one of the set that is away
    const away = failures.find(({ code }) => code === 'REMOTE_FAILED');
    throw away ?? failures.at(-1) ?? unauthenticated('no key is configured to verify it');
  }

  #checkAudience({ aud }: JWTPayload): void {
    const { audience: wanted, demandsAudience } = this.#authorization;
    if (wanted.length === 0 || (aud === undefined && !demandsAudience)) return;
    const given = [aud ?? []].flat();
    if (given.some((each) => wanted.includes(each))) return;
    const reason = aud === undefined ? 'it names no audience' : 'its audience is another service';
    const fix = "Send one whose aud is in the Audience of the type definitions' authorization.";
    throw unauthenticated(reason, { fix });
  }
}

/** The library tells a time-out by the reason of its own signal. */
function fetchedBy(client: HttpClient): FetchImplementation {
  return async (url, { headers, signal }) => {
    const request = { method: 'GET', url, headers: Object.fromEntries(headers), idempotent: true, signal } as const;
    const { status, body } = await client.send(request).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
    // the library reads no other one, and some may have no body
    return new Response(status === 200 ? body : null, { status });
  };
}

function keyOf({ verificationKey, algorithm }: Authorization): Uint8Array | KeyObject | undefined {
  if (!verificationKey) return undefined;
  const text = verificationKey.reveal();
  return algorithm.startsWith('HS') ? new TextEncoder().encode(text) : createPublicKey(text);
}

function bearer(value: string, header: string): string {
  const trimmed = value.trim();
  if (!/^bearer\b/i.test(trimmed)) return trimmed;
  const match = /^bearer\s+(\S+)$/i.exec(trimmed);
  if (match) return match[1];
  throw new GraphsteadError('UNAUTHENTICATED', `invalid Bearer-formatted header value for JWT in ${header}`, {
    fix: `Send ${header}: Bearer <token>.`,
  });
}

function unauthenticated(
  reason: string,
  more: { readonly cause?: unknown; readonly fix?: string } = {},
): GraphsteadError {
  return new GraphsteadError('UNAUTHENTICATED', `unable to parse jwt token: ${reason}`, {
    fix: 'Send a token that is signed with the configured key and has not expired.',
    ...more,
  });
}

async function refusing(
  { errors }: typeof import('jose'),
  verify: () => Promise<{ readonly payload: JWTPayload }>,
  bySet = false,
): Promise<JWTPayload> {
  try {
    return (await verify()).payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw unauthenticated('token is expired', { cause: error });
    const ofTheToken = error instanceof errors.JOSEError && !OF_THE_SET.has(error.code);
    if (!bySet || ofTheToken) throw unauthenticated(reasonOf(error), { cause: error });
    // whoever signs users out at UNAUTHENTICATED must not do so for this
    throw new GraphsteadError('REMOTE_FAILED', `the key set that verifies tokens cannot be had: ${reasonOf(error)}`, {
      cause: error,
      fix: 'Try again. The address is JWKURL of the type definitions.',
    });
  }
}

/** What the library says of a key set that did not come, or is none. */
const OF_THE_SET: ReadonlySet<string> = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC']);

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a verified token says, without the library's rounding: ids of users are numbers past 2^53 where they are counted so. */
function exactly(token: string, payload: JWTPayload): JWTPayload {
  const text = Buffer.from(token.split('.')[1], 'base64url').toString('utf8');
  return (parseJson(text)?.value as JWTPayload | undefined) ?? payload;
}

/**
 * The app's claims lie under the namespace (an object, or JSON text of one); standard claims beside them. When the token expires is
 * what was verified: streams end by it.
 */
export function claimsOf(payload: JWTPayload, namespace: string): Claims {
  const { [namespace]: own, ...standard } = payload;
  const named = typeof own === 'string' ? parseJson(own)?.value : own;
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return standard;
  const { exp } = standard;
  return { ...standard, ...named, ...(exp === undefined ? {} : { exp }) };
}

const verifiers = new WeakMap<Authorization, Verifier>();

/** Claims of the JWT that the model's authorization finds in the headers (lower-case names). */
export function verifyClaims(
  model: Model,
  headers: Headers,
  clock: Clock,
  limits: Bounds,
  client?: HttpClient,
): MaybePromise<Claims | undefined> {
  const { authorization } = model;
  if (!authorization) return undefined;
  const verifier = verifiers.get(authorization) ?? new Verifier(authorization, clock, limits, client);
  verifiers.set(authorization, verifier);
  return verifier.claims(headers);
}

/** Whether tokens of the one are as good under the other. */
export function isSameAuthorization(one: Authorization | undefined, other: Authorization | undefined): boolean {
  return isDeepStrictEqual(plain(one), plain(other));
}

/** A Secret shows nothing of itself to a comparison either. */
function plain(authorization: Authorization | undefined): object | undefined {
  return authorization && { ...authorization, verificationKey: authorization.verificationKey?.reveal() };
}
