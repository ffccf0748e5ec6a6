import { createHash, timingSafeEqual } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { Secret } from '../base/index.js';

/** The API keys of GRAPHSTEAD_API_KEYS: separated by commas or white space. Compared in constant time, never printed. */
export class ApiKeys {
  readonly #digests: readonly Buffer[];

  constructor(keys: readonly Secret[]) {
    this.#digests = keys.map((key) => digest(key.reveal()));
  }

  static fromText(text: string | undefined): ApiKeys {
    return new ApiKeys(
      (text ?? '')
        .split(/[\s,]+/)
        .filter(Boolean)
        .map((key) => new Secret(key)),
    );
  }

  get size(): number {
    return this.#digests.length;
  }

  /** Every key is compared, so that the time tells nothing about which one came close. */
  has(candidate: string | undefined): boolean {
    if (candidate === undefined || candidate === '') return false;
    const given = digest(candidate);
    return this.#digests.reduce((found, key) => timingSafeEqual(key, given) || found, false);
  }

  /** Whether a request carries one of them. */
  admit(headers: Headers): boolean {
    return this.size > 0 && keysOf(headers).some((key) => this.has(key));
  }

  /** The headers without those that carry one of them: what is left goes to the rules of tokens. */
  taken<H extends Headers>(headers: H): H {
    const carriers = this.size === 0 ? [] : CARRIERS.filter((name) => this.has(keyIn(name, headers[name])));
    if (carriers.length === 0) return headers;
    return { ...headers, ...Object.fromEntries(carriers.map((name) => [name, undefined])) };
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Headers that may carry a key. Another of them may carry a token of a user at the same time. */
const CARRIERS = ['x-api-key', 'x-auth-token', 'dg-auth', 'authorization'] as const;

/** The key that a request carries, the first of what may be one: `X-API-Key`, or `Authorization: Bearer`. */
export function keyOf(headers: Headers): string | undefined {
  return keysOf(headers)[0];
}

function keysOf(headers: Headers): readonly string[] {
  return CARRIERS.map((name) => keyIn(name, headers[name])).filter((key) => key !== undefined);
}

function keyIn(name: (typeof CARRIERS)[number], value: Headers[string]): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return name === 'authorization' ? /^Bearer\s+(\S+)\s*$/i.exec(value)?.[1] : value;
}

/** true for an address that only this machine reaches. */
export function isLoopback(address: string): boolean {
  if (address === 'localhost') return true;
  if (isIPv4(address)) return address.startsWith('127.');
  return isIPv6(address) && (address === '::1' || /^::ffff:127\./i.test(address));
}
