import { createRequire } from 'node:module';
import type { ReadableStreamDefaultReader } from 'node:stream/web';
import type Undici from 'undici';
import { basicAuthorization, GraphsteadError, type Hide } from '../base/index.js';
import { REFUSAL_BYTES, textUpTo } from './body.js';
import { callOptions, followed } from './call-options.js';
import type { ConnectionConfig } from './config.js';
import { baseOf, isBelow, joined } from './http-address.js';
import { currentTraceHeaders, recorded } from './record.js';
import { callEnded, fixOfStatus, MAYBE_DONE, TOO_SLOW, tooLarge } from './told.js';

type HttpConfig = Extract<ConnectionConfig, { type: 'http' }>;

// It loads with the first connection that is used, not with every host process.
const load = () => createRequire(import.meta.url)('undici') as typeof Undici;

const MAX_REDIRECTS = 5;
/** Fetch standard: "redirect status", "request-body-header name" */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const REDIRECT_FIX = 'leave redirect: "error" out to follow it';
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type'];
const DEFAULT_TIMEOUT_MS = 30_000;
/** the highest that a Response can be made with */
const LAST_STATUS = 599;

/** What the app's own fetch takes. A body that is made while it is sent needs `duplex: 'half'`, which types of browsers lack. */
type CallInit = RequestInit & { readonly duplex?: 'half' };

/** An HTTP API of the app: calls are relative to its baseUrl, carry its headers, and never leave it. */
export interface HttpConnection {
  /**
   * `path` is joined to baseUrl; redirects are followed below it unless `init.redirect` says otherwise. Throws CONNECTION_FAILED
   * (network, time-out, a path or redirect outside baseUrl), also where the reply's body is read; an HTTP status is the
   * caller's to judge.
   */
  fetch(path: string, init?: CallInit): Promise<Response>;
  /** fetch, a 2xx status demanded, the JSON parsed: at most limits.outboundReplyBytes, unpacked. */
  json<T = unknown>(path: string, init?: CallInit): Promise<T>;
  close(): Promise<void>;
}

/** The library's, whose types and classes are others than those of the app's own fetch. */
type Reply = Undici.Response;
type Init = Undici.RequestInit;

type Came = Pick<Response, 'status' | 'statusText' | 'url' | 'redirected'>;

/** For those who tell by a name of their own what breaks off. */
export interface BareHttp extends HttpConnection {
  /** fetch; what breaks off while its body is read fails as the library has it. */
  bare(path: string, init?: CallInit): Promise<Reply>;
}

export function openHttp(name: string, config: HttpConfig, hide: Hide, replyBytes: number): BareHttp {
  const { base, authorization } = addressOf(config);
  const timeoutMs = config.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const { Agent, fetch } = load();
  const dispatcher = new Agent({ connections: config.maxConnections ?? 64, keepAliveTimeout: 30_000 });
  // No cause goes along: what a library or the other side says may repeat a header, and a log shows causes as they are.
  const fail = (message: string, fix: string, told?: { readonly remoteStatus: number }) =>
    new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${hide(message)}`, {
      fix,
      details: { connection: name, ...told },
    });

  function inside(url: URL): URL {
    if (isBelow(url, base)) return url;
    throw fail(
      `${url.origin}${url.pathname} is outside its baseUrl`,
      'use a path below baseUrl, or a connection of its own',
    );
  }

  async function follow(url: URL, init: Init, left: number): Promise<Reply> {
    const response = await fetch(url, { ...init, dispatcher, redirect: 'manual' });
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null || init.redirect === 'manual') return response;
    await response.body?.cancel();
    if (init.redirect === 'error') throw fail(`status ${response.status} is a redirect`, REDIRECT_FIX);
    if (left === 0)
      throw fail(`more than ${MAX_REDIRECTS} redirects`, 'call the address that they lead to; a circle has none');
    const next = inside(new URL(location, url));
    const last = await follow(next, redirected(init, response.status), left - 1);
    // the library saw no redirect: it was told to follow none
    return Object.defineProperty(last, 'redirected', { value: true });
  }

  /** Ends the call and the reading of its body, whose reader gets the same error: past its time, and where `own` or its task says so. */
  function ending(own: AbortSignal | null | undefined): AbortSignal {
    const controller = new AbortController();
    const { signal, unlink } = followed(own);
    const stop = () => controller.abort(fail(callEnded(signal?.reason), MAYBE_DONE));
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    const late = () => {
      controller.abort(fail(`no answer within ${timeoutMs} ms`, TOO_SLOW));
      signal?.removeEventListener('abort', stop);
      unlink();
    };
    setTimeout(late, timeoutMs).unref();
    return controller.signal;
  }

  function headersFor(init: Init): Record<string, string> {
    const headers = new Headers(authorization);
    for (const [key, value] of Object.entries(config.headers ?? {})) headers.set(key, value);
    for (const [key, value] of new Headers(init.headers as Record<string, string>)) headers.set(key, value);
    if (config.traceContext) for (const [key, value] of Object.entries(currentTraceHeaders())) headers.set(key, value);
    return Object.fromEntries(headers);
  }

  function failed(error: unknown): GraphsteadError {
    if (error instanceof GraphsteadError) return error;
    // a body that the app streams fails with a reason of any kind
    if (!(error instanceof Error))
      return fail(callEnded(error), `look at the body that is streamed to it; ${MAYBE_DONE}`);
    const { message, cause } = error;
    if (!(cause instanceof Error) || !cause.message)
      return fail(message, 'correct the method, the headers or the body of the call');
    // what the network or the other side failed with
    return fail(cause.message, 'check that the server runs and that baseUrl of the connection is its address');
  }

  async function request(path: string, given: CallInit | null | undefined): Promise<Reply> {
    try {
      const init = callOptions(`a call of connection "${name}"`, given) as Init;
      const url = joined(path, base);
      if (url === undefined) throw fail(`the path "${path}" makes no address`, 'use a path below baseUrl');
      const signal = ending(init.signal);
      const sent = await withBytes(init);
      const method = init.method?.toUpperCase();
      return await follow(inside(url), { ...sent, method, headers: headersFor(sent), signal }, MAX_REDIRECTS);
    } catch (error) {
      throw failed(error);
    }
  }

  /** The same reply as `fetch` of Node.js would give it, whose body fails as a call does. */
  function toResponse(reply: Reply): Response {
    const { body, status, statusText, url, redirected } = reply;
    const told = body === null ? null : bodyOf(reply);
    const headers = [...reply.headers] as [string, string][];
    const named = new Response(told, { status: Math.min(status, LAST_STATUS), headers });
    return asCame(named, { status, statusText, url, redirected });
  }

  function bodyOf(reply: Reply): ReadableStream<Uint8Array> {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    return new ReadableStream({
      type: 'bytes',
      async pull(controller) {
        // no sooner than it is asked for, and from the reply itself: one that nobody reads is freed with what it holds
        reader ??= reply.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
        const part = await reader.read().catch((error: unknown) => {
          throw failed(error);
        });
        if (part.value !== undefined) return controller.enqueue(part.value);
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel: (reason) => (reader ?? reply.body)?.cancel(reason),
    });
  }

  /** Nothing can be made with a status of 999, with words in letters of another language, or with an address. */
  function asCame(made: Response, came: Came): Response {
    const clone = () => asCame(Response.prototype.clone.call(made), came);
    const own = Object.entries({ ...came, clone }).map(([key, value]) => [key, { value }]);
    return Object.defineProperties(made, Object.fromEntries(own));
  }

  const bare = (path: string, init?: CallInit) =>
    recorded({ connection: name, kind: 'http', what: `${init?.method ?? 'GET'} ${path.split('?')[0]}` }, () =>
      request(path, init),
    );

  return {
    bare,
    fetch: async (path, init) => toResponse(await bare(path, init)),
    async json<T>(path: string, init?: CallInit): Promise<T> {
      const response = await bare(path, init);
      const { text, whole } = await textUpTo(response.body, response.ok ? replyBytes : REFUSAL_BYTES).catch(
        (error: unknown) => {
          throw failed(error);
        },
      );
      const asked = path.split('?')[0] || '/';
      if (!response.ok) {
        const { status: remoteStatus } = response;
        const told = `status ${remoteStatus} for ${asked}: ${hide(text).slice(0, 200)}`;
        throw fail(told, `${fixOfStatus(remoteStatus)}; fetch gives answers of any status`, { remoteStatus });
      }
      if (!whole) {
        throw fail(
          `the answer for ${asked} is ${tooLarge(replyBytes)}`,
          'ask for less, or read it piece by piece with fetch',
        );
      }
      try {
        return JSON.parse(text) as T;
      } catch {
        throw fail(`the answer for ${asked} is not JSON`, 'read it with fetch, or check the path');
      }
    },
    close: () => dispatcher.close(),
  };
}

/** What goes to the next address, by the Fetch standard's "HTTP-redirect fetch": a body that stays behind takes its headers along. */
function redirected(init: Init, status: number): Init {
  const { method = 'GET' } = init;
  const becomesGet = status === 303 ? !['GET', 'HEAD'].includes(method) : status < 303 && method === 'POST';
  if (!becomesGet) return init;
  const headers = new Headers(init.headers as Record<string, string>);
  for (const name of BODY_HEADERS) headers.delete(name);
  return { ...init, method: 'GET', body: null, headers: Object.fromEntries(headers) };
}

/** A form of Node's own is an unknown object to the library, which would send its name: it goes as the bytes it makes. */
async function withBytes(init: Init): Promise<Init> {
  const body: unknown = init.body;
  if (!(body instanceof FormData)) return init;
  const packed = new globalThis.Response(body);
  const headers = new Headers(init.headers as Record<string, string>);
  headers.set('content-type', packed.headers.get('content-type') ?? '');
  return { ...init, body: await packed.arrayBuffer(), headers: Object.fromEntries(headers) };
}

/** The address without a user in it, which fetch refuses, and the header that says the same. */
function addressOf({ baseUrl }: HttpConfig): { base: URL; authorization: Record<string, string> } {
  const base = baseOf(baseUrl);
  const authorization = basicAuthorization(base);
  base.username = base.password = '';
  return { base, authorization };
}
