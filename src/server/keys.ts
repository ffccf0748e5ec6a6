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
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The key that a request carries: `X-API-Key`, or `Authorization: Bearer`. */
export function keyOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const direct = headers['x-api-key'] ?? headers['x-auth-token'] ?? headers['dg-auth'];
  if (typeof direct === 'string') return direct;
  const match = /^Bearer\s+(\S+)\s*$/i.exec(String(headers['authorization'] ?? ''));
  return match?.[1];
}

/** true for an address that only this machine reaches. */
export function isLoopback(address: string): boolean {
  if (address === 'localhost') return true;
  if (isIPv4(address)) return address.startsWith('127.');
  return isIPv6(address) && (address === '::1' || /^::ffff:127\./i.test(address));
}
