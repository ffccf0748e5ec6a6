import type { FastifyInstance } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { type Environment, GraphsteadError } from '../base/index.js';
import { isOwnName } from './host-name.js';
import { type ApiKeys, isLoopback, keyInAddress, keyOf } from './keys.js';

/** A request, as far as it says who asks for what. */
interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Why a request is refused; undefined: nothing speaks against it. */
export type AccessCheck = (request: Asked) => GraphsteadError | undefined;

/** Paths that answer without a key, so that probes work. */
const OPEN = new Set(['/', '/health', '/health/ready', '/probe/graphql', '/explorer']);
/** The explorer's own files hold nothing of the data: the page asks for the key itself. */
const isOpen = (path: string) => OPEN.has(path) || path.startsWith('/explorer/assets/');

/** As the routes see it, which take a slash at the end for none. */
export const pathOf = ({ url }: Pick<Asked, 'url'>) => url.split('?')[0].replace(/(?<=.)\/$/, '');

/** Who may ask, and under which names. */
export interface Access {
  readonly host: string;
  readonly keys: ApiKeys;
  /** see `ownNames` */
  readonly names: ReadonlySet<string>;
}

/**
 * Closed by default: throws CONFIG for an address other than loopback when no key is set.
 * @param environment where a key may stand that is none of the service
 */
export function assertClosed({ host, keys }: Access, environment: Environment = {}): void {
  if (isLoopback(host) || keys.size > 0) return;
  const ofClient = environment['GRAPHSTEAD_API_KEY'] ? ' (GRAPHSTEAD_API_KEY is the one that clients send)' : '';
  throw new GraphsteadError('CONFIG', `the address ${host} is reachable from outside, and no API key is set`, {
    fix: `set GRAPHSTEAD_API_KEYS${ofClient} to one or more keys separated by commas, or listen on 127.0.0.1`,
  });
}

/**
 * On loopback nothing needs a key. On any other address every path but the probes does: `Authorization: Bearer` or
 * `X-API-Key`. See `assertClosed`, and `ApiKeys` for what a key opens.
 */
export function accessCheck(access: Access): AccessCheck {
  const { host, keys } = access;
  if (isLoopback(host)) {
    const [ofName, ofSite] = [refuseOtherNames(access), refuseOtherSites(access)];
    return (request) => ofName(request) ?? ofSite(request);
  }
  assertClosed(access);
  return (request) => {
    if (request.method === 'OPTIONS' || isOpen(pathOf(request))) return undefined;
    if (keys.open(pathOf(request), request)) return undefined;
    const only = keys.opensOnly(request);
    if (only !== undefined) return keyTooSmall(only);
    const isOther = keyOf(request.headers) !== undefined;
    return !isOther && keyInAddress(request.url) !== undefined ? keyNotForAddresses() : keyMissing(isOther);
  };
}

/** Refuses what the check finds something against; without a promise for each request. */
export function requireAccess(app: FastifyInstance, check: AccessCheck): void {
  app.addHook('onRequest', (request, _reply, done) => done(check(request)));
}

/** Why a request with a key for another path is refused. */
function keyTooSmall(only: readonly string[]): GraphsteadError {
  return new GraphsteadError('FORBIDDEN', `this API key opens ${only.join(' and ')} alone`, {
    fix: 'send one of GRAPHSTEAD_API_KEYS, from a server',
  });
}

/** Why a key in an address is refused, whichever it is. */
function keyNotForAddresses(): GraphsteadError {
  return new GraphsteadError(
    'UNAUTHENTICATED',
    'the apiKey of an address opens /graphql and /mcp, for GRAPHSTEAD_CLIENT_KEYS',
    {
      fix: 'send any other key as Authorization: Bearer <API_KEY>, or X-API-Key: <API_KEY>: addresses are logged',
    },
  );
}

/** Why a request without a valid key is refused. */
export function keyMissing(isOther: boolean): GraphsteadError {
  const why = isOther ? 'what was sent as an API key is none of GRAPHSTEAD_API_KEYS' : 'this address needs an API key';
  const fix = 'send Authorization: Bearer <API_KEY>, or X-API-Key: <API_KEY>';
  return new GraphsteadError('UNAUTHENTICATED', why, {
    fix: isOther ? `${fix}; a token of a user goes beside it, in another header` : fix,
  });
}

/** Where nothing needs a key, a page that was served under another name must not reach the data: see `isOwnName`. */
function refuseOtherNames({ keys, names }: Access): AccessCheck {
  return (request) => {
    const given = request.headers.host;
    // only HTTP/1.0 may leave it out, and no browser speaks that
    if (given === undefined || isOwnName(given, names)) return undefined;
    const path = pathOf(request);
    if (isOpen(path) || keys.open(path, request)) return undefined;
    return new GraphsteadError('HOST_REFUSED', `"${given}" is no name of this service`, {
      fix: 'ask for 127.0.0.1 or localhost, name the host in GRAPHSTEAD_HOST_NAMES, or send an API key',
    });
  };
}

/**
 * Where nothing needs a key, a page of any site that is open in a browser of this machine could ask too. GraphQL is made
 * for pages, and its types say which origins they allow; everything else answers other sites only with a key.
 */
function refuseOtherSites({ keys, names }: Access): AccessCheck {
  return (request) => {
    if (!isOfOtherSite(request.headers, names)) return undefined;
    const path = pathOf(request);
    if (path === '/graphql' || isOpen(path) || keys.open(path, request)) return undefined;
    return new GraphsteadError('FORBIDDEN', `a page of another site may not ask for ${path}`, {
      fix: 'send it from a server, use /graphql, or set GRAPHSTEAD_API_KEYS and send a key',
    });
  };
}

/** As the browser says. Those that do not say it to an address without TLS still name the origin of what is not a GET. */
function isOfOtherSite({ origin, ...headers }: IncomingHttpHeaders, names: Access['names']): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'cross-site';
  return origin !== undefined && !(URL.canParse(origin) && isOwnName(new URL(origin).host, names));
}
