import type { FastifyInstance } from 'fastify';
import type { ServedSchema, StoredDefinitions } from '../api/index.js';
import type { Core } from './core.js';

const BASE_HEADERS = [
  'X-Dgraph-AccessToken',
  'X-Dgraph-AuthToken',
  'X-API-Key',
  'Authorization',
  'Content-Type',
  'Content-Length',
  'Accept-Encoding',
  'Cache-Control',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-CSRF-Token',
  'X-Auth-Token',
  'X-Requested-With',
  'X-Request-Id',
  'X-GraphQL-Event-Stream-Token',
];

type Headers = Readonly<Record<string, string>>;

type Definitions = ServedSchema | StoredDefinitions;

/** What answers say under one served schema; it changes while the server runs. */
interface Allowed {
  readonly definitions: Definitions | undefined;
  /** for every answer: a cache may hand it to a page of another origin later */
  readonly all: Headers;
  /** for those that a page of another origin reads */
  readonly asked: Headers;
  /** for its question before */
  readonly preflight: Headers;
}

/**
 * Cross-origin answers as the served schema says: `# Service.Allow-Origin` lines name the origins, none means all.
 * Headers that custom logic forwards, and the one that carries the JWT, are allowed by themselves. Who names no origin is
 * spared what only browsers read; clients of the graph language expect all of it always.
 */
export class Origins {
  readonly #core: Core;
  #made: Allowed | undefined;

  constructor(core: Core) {
    this.#core = core;
  }

  /** What an answer says to whoever names such an origin. The same object as long as the same schema is served. */
  of(origin: string | undefined, isPreflight = false): Headers {
    const { names } = this.#core;
    const made = this.#allowed();
    if (isPreflight || names.dgraph) return made.preflight;
    return origin === undefined ? made.all : made.asked;
  }

  /** Whether the schema names this origin. */
  isNamed(origin: string): boolean {
    return this.#allowed().definitions?.allowedOrigins.includes(origin) ?? false;
  }

  /**
   * Whether a page of this origin may read answers: browsers ask nobody before they open a WebSocket.
   * @param host what the page asked for: its own host needs no leave
   */
  mayRead(origin: string, host: string | undefined): boolean {
    const named = this.#allowed().definitions?.allowedOrigins ?? [];
    if (named.length === 0 || named.includes(origin)) return true;
    return host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  }

  #allowed(): Allowed {
    const { api, names } = this.#core;
    // those that are refused since they were stored still say whose pages may read: what is no GraphQL is answered as ever
    const definitions = api.current() ?? api.stored();
    if (this.#made === undefined || this.#made.definitions !== definitions)
      this.#made = allowedUnder(definitions, names.dgraph);
    return this.#made;
  }

  /** Says it in the answers of these routes. */
  allow(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      const origin = request.headers['origin'];
      const isPreflight = request.method === 'OPTIONS';
      reply.headers(this.of(origin, isPreflight));
      if (origin !== undefined && this.isNamed(origin)) reply.header('access-control-allow-origin', origin);
      if (isPreflight) reply.code(204).send();
      else done();
    });
  }
}

function allowedUnder(definitions: Allowed['definitions'], dgraph: boolean): Allowed {
  const served = definitions && 'generated' in definitions ? definitions : undefined;
  const extra = [...(served?.forwardedHeaders ?? []), ...(served?.authHeader ? [served.authHeader] : [])];
  const isOpen = (definitions?.allowedOrigins ?? []).length === 0;
  // where some are named, a cache must not give one page what was allowed to another, or to none
  const all: Headers = isOpen ? { 'access-control-allow-origin': '*' } : { vary: 'Origin' };
  const asked = {
    ...all,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'X-Request-Id',
  };
  const preflight = {
    ...asked,
    'access-control-allow-methods': dgraph ? 'POST, OPTIONS' : 'GET, POST, PUT, DELETE, OPTIONS',
    'access-control-allow-headers': [...BASE_HEADERS, ...extra].join(', '),
  };
  return { definitions, all, asked, preflight };
}
