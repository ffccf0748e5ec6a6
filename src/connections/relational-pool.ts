import { createRequire } from 'node:module';
import type pg from 'pg';
import { GraphsteadError, type Hide, verifying } from '../base/index.js';
import { until } from './call-options.js';
import type { ConnectionConfig } from './config.js';
import { askToCancel } from './pg-cancel.js';
import { recorded } from './record.js';
import { callStopped, cut, failure, hideAddress, isAnswer, openTransaction } from './relational-failure.js';
import { boundReplies } from './reply-bound.js';

export type RelationalConfig = Extract<ConnectionConfig, { type: 'relational' | 'postgresql' }>;

/** `query_timeout` is not in the library's types. */
export type Query = pg.QueryConfig & { readonly queryMode?: 'extended'; readonly query_timeout?: number };

// It loads with the first connection that is used, not with every host process.
const load = () => createRequire(import.meta.url)('pg') as typeof pg;

const DEFAULT_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** The clients of one connection, and the time that whoever uses one has. */
export class RelationalPool {
  readonly name: string;
  readonly timeoutMs: number;
  readonly #pool: pg.Pool;
  readonly #hide: Hide;
  readonly #address: string;
  /** begins to count the bytes of a client's reply anew */
  readonly #countAnew = new WeakMap<object, () => void>();
  /** those whose server did not answer: whatever they are asked next waits as long again */
  readonly #silent = new WeakSet<object>();

  constructor(name: string, config: RelationalConfig, hide: Hide, replyBytes: number) {
    this.name = name;
    this.timeoutMs = config.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#hide = hide;
    this.#address = config.connStr ?? config.connString ?? '';
    this.#pool = poolOf(this.#address, this.timeoutMs, config.maxConnections ?? 10);
    // An idle client that loses its server must not end the process: the pool opens another on the next call.
    this.#pool.on('error', () => undefined);
    const tooMuch = () => cut(name, replyBytes);
    this.#pool.on('connect', (client) => this.#countAnew.set(client, boundReplies(client, replyBytes, tooMuch)));
    this.#pool.on('acquire', (client) => this.#countAnew.get(client)?.());
  }

  failed(error: unknown): GraphsteadError {
    return failure(this.name, error, (text) => hideAddress(this.#hide(text), this.#address));
  }

  readonly stopped = (reason: unknown): GraphsteadError => callStopped(this.name, reason, this.#hide);

  async acquire(signal: AbortSignal | undefined): Promise<pg.PoolClient> {
    let coming: Promise<pg.PoolClient> | undefined;
    try {
      const client = await until(signal, this.stopped, () => {
        coming = this.#pool.connect();
        return coming;
      });
      client.on('error', lost);
      return client;
    } catch (error) {
      // one that comes for nobody
      if (signal?.aborted) coming?.then((client) => client.release()).catch(() => undefined);
      throw error instanceof GraphsteadError ? error : this.failed(error);
    }
  }

  release(client: pg.PoolClient, isKept: boolean): void {
    client.off('error', lost);
    client.release(!isKept);
  }

  answers(client: pg.PoolClient): boolean {
    return !this.#silent.has(client);
  }

  note(query: Query, ask: () => Promise<pg.QueryResult>): Promise<pg.QueryResult> {
    return recorded({ connection: this.name, kind: 'relational', what: query.text.trim().slice(0, 80) }, ask);
  }

  async ask(
    client: pg.PoolClient,
    query: Query,
    leftMs: number,
    signal: AbortSignal | undefined,
  ): Promise<pg.QueryResult> {
    this.#countAnew.get(client)?.();
    try {
      const inTime: Query = { ...query, query_timeout: Math.max(1, leftMs) };
      return await until(signal, this.stopped, () => client.query(inTime));
    } catch (error) {
      if (!isAnswer(error)) this.#silent.add(client);
      throw error instanceof GraphsteadError ? error : this.failed(error);
    }
  }

  /** On a client of its own: that it was waited for counts, too. */
  askAlone(query: Query, signal: AbortSignal | undefined): Promise<pg.QueryResult> {
    return this.note(query, async () => {
      const end = performance.now() + this.timeoutMs;
      const client = await this.acquire(signal);
      let isGood = false;
      try {
        const result = await this.ask(client, query, end - performance.now(), signal);
        if (leftOpen(client)) throw openTransaction(this.name);
        isGood = true;
        return result;
      } finally {
        if (!isGood && signal?.aborted) askToCancel(client);
        const isKept = isGood || (this.answers(client) && !signal?.aborted && (await isIdle(client, end)));
        this.release(client, isKept);
      }
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** A client that loses its server between two statements tells the next of them. */
const lost = () => undefined;

function poolOf(address: string, timeoutMs: number, max: number): pg.Pool {
  const { Client, Pool } = load();
  return new Pool({
    connectionString: verifying(address),
    max,
    // to wait for one that others use takes as long as they take, to open one does not
    connectionTimeoutMillis: timeoutMs,
    Client: class extends Client {
      constructor(given?: pg.ClientConfig) {
        super({ ...given, connectionTimeoutMillis: Math.min(timeoutMs, CONNECT_TIMEOUT_MS) });
      }
    },
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
}

/** A transaction that was begun by hand. What comes next on the connection, whose it may be, would be part of it. */
function leftOpen(client: pg.PoolClient): boolean {
  // it is not in the library's types
  const { getTransactionStatus } = client as pg.PoolClient & { getTransactionStatus(): string | null };
  return getTransactionStatus.call(client) !== 'I';
}

/** An error comes before the server says whether a transaction is open: it has said so once it answers the next text, which is empty. */
async function isIdle(client: pg.PoolClient, end: number): Promise<boolean> {
  const empty: Query = { text: '', query_timeout: Math.max(1, end - performance.now()) };
  return client.query(empty).then(
    () => !leftOpen(client),
    () => false,
  );
}
