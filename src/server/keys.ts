import { createHash, timingSafeEqual } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { GraphsteadError } from '../base/index.js';

/** Keys by the variable that names them, and the only paths each kind opens; absent: everything, gRPC too. */
const KINDS = [
  { variable: 'GRAPHSTEAD_API_KEYS' },
  { variable: 'GRAPHSTEAD_CLIENT_KEYS', paths: ['/graphql', '/mcp'], inAddress: true },
  { variable: 'GRAPHSTEAD_METRICS_KEYS', paths: ['/metrics'] },
] as const;

/** Where a browser's EventSource puts its key, since it sends no headers of its own. Addresses are logged: only a client's key may stand there. */
const IN_ADDRESS = 'apiKey';

interface ApiKey {
  readonly digest: Buffer;
  readonly variable: string;
  readonly paths?: readonly string[];
  /** it may stand in an address, where proxies and histories keep it */
  readonly inAddress?: boolean;
}

/** What a request may show: headers by lower-case names, and its address for what stands behind the question mark. */
export interface Shown {
  readonly headers: Headers;
  readonly url?: string;
}

/** The keys that the service accepts. Compared in constant time, never printed. */
export class ApiKeys {
  readonly #keys: readonly ApiKey[];

  private constructor(keys: readonly ApiKey[]) {
    this.#keys = keys;
  }

  /**
   * Those of the environment, separated by commas or white space.
   * @throws CONFIG where one key is of two kinds: it would open more than one of the lists says
   */
  static of(environment: Readonly<Record<string, string | undefined>>): ApiKeys {
    const keys = KINDS.flatMap(({ variable, ...kind }) =>
      (environment[variable] ?? '')
        .split(/[\s,]+/)
        .filter(Boolean)
        .map((key) => ({ digest: digest(key), variable, ...kind })),
    );
    const variables = new Map<string, string>();
    for (const key of keys) assertOneKind(variables, key);
    return new ApiKeys(keys);
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Whether any of them opens the graph language: clients are told apart there. */
  get openTransactions(): boolean {
    return this.#keys.some(({ paths }) => paths === undefined);
  }

  /** Whether one of the request's keys opens the path; no path is behind no key but those that open everything. */
  open(path: string | undefined, { headers, url = '' }: Shown): boolean {
    if (this.size === 0) return false;
    const opens = (key: ApiKey | undefined) =>
      key !== undefined && (key.paths === undefined || (path !== undefined && key.paths.includes(path)));
    if (keysOf(headers).some((key) => opens(this.#find(key)))) return true;
    const named = keyInAddress(url);
    const found = named === undefined ? undefined : this.#find(named);
    return found?.inAddress === true && opens(found);
  }

  /** A text that stands for the first of the headers' keys that counts; undefined where none does. */
  nameOf(headers: Headers): string | undefined {
    if (this.size === 0) return undefined;
    for (const key of keysOf(headers)) {
      const found = this.#find(key);
      if (found !== undefined) return found.digest.toString('base64url');
    }
    return undefined;
  }

  /** The only paths that a request's keys open, where what was asked for is none of them. */
  opensOnly({ headers }: Shown): readonly string[] | undefined {
    for (const key of keysOf(headers)) {
      const paths = this.#find(key)?.paths;
      if (paths !== undefined) return paths;
    }
    return undefined;
  }

  /** Every key is compared, so that the time tells nothing about which one came close. */
  #find(candidate: string): ApiKey | undefined {
    const given = digest(candidate);
    return this.#keys.reduce<ApiKey | undefined>(
      (found, key) => (timingSafeEqual(key.digest, given) ? key : found),
      undefined,
    );
  }

  /** The headers without those that carry one of them: what is left goes to the rules of tokens. */
  taken<H extends Headers>(headers: H): H {
    if (this.size === 0) return headers;
    const carriers = CARRIERS.filter((name) => {
      const key = keyIn(name, headers[name]);
      return key !== undefined && this.#find(key) !== undefined;
    });
    if (carriers.length === 0) return headers;
    return { ...headers, ...Object.fromEntries(carriers.map((name) => [name, undefined])) };
  }
}

function assertOneKind(variables: Map<string, string>, { digest: bytes, variable }: ApiKey): void {
  const id = bytes.toString('hex');
  const other = variables.get(id) ?? variable;
  variables.set(id, variable);
  if (other === variable) return;
  throw new GraphsteadError('CONFIG', `one key stands in ${other} and in ${variable}`, {
    fix: 'make a key of its own for each: what one of them opens, the other must not',
  });
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

/** What stands behind the question mark as a key. */
export function keyInAddress(url: string): string | undefined {
  const at = url.indexOf('?');
  return at < 0 ? undefined : (new URLSearchParams(url.slice(at + 1)).get(IN_ADDRESS) ?? undefined);
}

/** true for an address that only this machine reaches. */
export function isLoopback(address: string): boolean {
  if (address === 'localhost') return true;
  if (isIPv4(address)) return address.startsWith('127.');
  return isIPv6(address) && (address === '::1' || /^::ffff:127\./i.test(address));
}
