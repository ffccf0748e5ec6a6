import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, request } from 'undici';
import {
  asError,
  basicAuthorization,
  cancelled,
  type Clock,
  codeOf,
  GraphsteadError,
  type Limits,
  Secret,
} from '../base/index.js';
import { checkHost, guardedLookup } from './address.js';
import { Circuits } from './circuit.js';
import { decoded, LARGER } from './decode.js';
import type { HttpClient, OutboundReply, OutboundRequest } from './contract.js';

export interface HttpClientOptions {
  readonly limits: Pick<Limits, 'outboundMs' | 'outboundReplyBytes' | 'circuitFailures' | 'circuitOpenMs'>;
  readonly clock: Clock;
  /** host names and addresses that may be called although they are link-local or a metadata service */
  readonly allowedHosts?: readonly string[];
  /** where a request is sent in place of its address, which it is told by all the same: tests put scripts there */
  readonly outgoing?: (url: string) => string;
}

const CONNECTIONS_PER_ORIGIN = 128;
const KEEP_ALIVE_MS = 30_000;
/** waits before the second and the third try, in milliseconds */
const RETRY_AFTER = [50, 250];
/** answers of a proxy before a server that is away for a moment */
const MOMENTARY = new Set([502, 503, 504]);

/** A client with pools of kept connections; close it when done. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const allowed = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
  const circuits = new Circuits(options.limits, options.clock);
  let opened: Promise<Pools> | undefined;
  return {
    send: (request) => {
      opened ??= openPools(allowed, options.limits.outboundMs);
      return new Call(request, options, opened, circuits, allowed).run();
    },
    // waits for nothing: a call that is under way fails
    close: async () => (await opened)?.agent.destroy(),
  };
}

interface Pools {
  readonly agent: Agent;
  readonly send: typeof request;
}

/** The library loads with the first call: most services start without one. */
async function openPools(allowed: ReadonlySet<string>, connectMs: number): Promise<Pools> {
  const { Agent, request } = await import('undici');
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { lookup: guardedLookup(allowed), timeout: connectMs },
  });
  return { agent, send: request };
}

class Call {
  readonly limits: HttpClientOptions['limits'];
  readonly #url: URL;
  readonly #target: URL;
  readonly #deadline: AbortSignal;
  readonly #signal: AbortSignal;

  constructor(
    readonly request: OutboundRequest,
    { limits, outgoing }: HttpClientOptions,
    readonly pools: Promise<Pools>,
    readonly circuits: Circuits,
    readonly allowed: ReadonlySet<string>,
  ) {
    this.#url = this.#parse(request.url);
    const target = outgoing?.(request.url) ?? request.url;
    this.#target = target === request.url ? this.#url : new URL(target);
    this.limits = limits;
    this.#deadline = AbortSignal.timeout(limits.outboundMs);
    this.#signal = request.signal ? AbortSignal.any([request.signal, this.#deadline]) : this.#deadline;
  }

  #parse(url: string): URL {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed && /^https?:$/.test(parsed.protocol)) return parsed;
    throw new GraphsteadError('REMOTE_REFUSED', 'the address of an outgoing call is not an http or https url', {
      fix: 'Begin it with http:// or https:// and a host; a parameter may stand for neither.',
    });
  }

  /** What the call may be named in messages: neither parameters nor credentials. */
  get #name(): string {
    return `${this.request.method} ${this.#url.origin}${this.#url.pathname}`;
  }

  async run(): Promise<OutboundReply> {
    const remote = this.#url.origin;
    checkHost(this.#url.hostname, this.allowed);
    this.circuits.enter(remote);
    try {
      const reply = await this.#tries();
      if (reply.status >= 500) this.circuits.failed(remote);
      else this.circuits.succeeded(remote);
      return reply;
    } catch (error) {
      const failure = this.#failure(error);
      if (failure.code === 'CANCELLED' || failure.code === 'REMOTE_REFUSED') this.circuits.dropped(remote);
      else this.circuits.failed(remote);
      throw failure;
    }
  }

  async #tries(): Promise<OutboundReply> {
    // each reply of a script is that of a call
    const waits = this.request.idempotent && this.#target === this.#url ? RETRY_AFTER : [];
    for (const wait of waits) {
      const reply = await this.#once().catch((error: unknown) => {
        if (this.#signal.aborted || error instanceof GraphsteadError) throw error;
        return undefined;
      });
      if (reply && !MOMENTARY.has(reply.status)) return reply;
      await sleep(wait, undefined, { signal: this.#signal });
    }
    return this.#once();
  }

  async #once(): Promise<OutboundReply> {
    const { method, headers, body } = this.request;
    const own = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    const sent = Object.entries(own ? headers : { ...basicAuthorization(this.#url), ...headers }).map(
      ([name, value]): [string, string] => [name, value instanceof Secret ? value.reveal() : value],
    );
    const { agent, send } = await this.pools;
    const {
      statusCode,
      headers: told,
      body: stream,
    } = await send(this.#target, {
      dispatcher: agent,
      method,
      headers: Object.fromEntries(sent),
      body,
      signal: this.#signal,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > this.limits.outboundReplyBytes) {
        stream.destroy();
        throw new GraphsteadError(
          'REMOTE_REPLY',
          `${this.#name}: the reply is larger than ${this.limits.outboundReplyBytes} bytes (limits.outboundReplyBytes)`,
          { fix: LARGER },
        );
      }
      chunks.push(chunk);
    }
    return { status: statusCode, body: await this.#decoded(Buffer.concat(chunks), told) };
  }

  #decoded(body: Buffer, headers: Parameters<typeof decoded>[1]): Promise<Buffer> {
    return decoded(body, headers, this.limits.outboundReplyBytes).catch((error: unknown) => {
      const { code, message, fix } = asError(error);
      throw new GraphsteadError(code, `${this.#name}: ${message}`, { fix });
    });
  }

  #failure(error: unknown): GraphsteadError {
    if (error instanceof GraphsteadError) return error;
    if (this.request.signal?.aborted) return cancelled(`${this.#name}: the request was cancelled`);
    if (this.#deadline.aborted) {
      return new GraphsteadError(
        'REMOTE_TIMEOUT',
        `${this.#name}: no answer within ${this.limits.outboundMs} ms (limits.outboundMs)`,
        { fix: 'Look why the server is slow, or raise the limit.' },
      );
    }
    return new GraphsteadError('REMOTE_FAILED', `${this.#name}: ${reason(error)}`, {
      fix: 'Check that the server runs and is reached from here, and that its address is right.',
    });
  }
}

/** Why a connection failed, from errors that may hold several others (one for each address that was tried). */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return 'the call failed';
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  const told = error.message || (first instanceof Error ? first.message : '');
  return told || (codeOf(error) ?? error.name);
}
