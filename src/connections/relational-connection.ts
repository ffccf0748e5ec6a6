import { createRequire } from 'node:module';
import type pg from 'pg';
import {
  assertCallable,
  DEFAULT_LIMITS,
  givenText,
  GraphsteadError,
  type Hide,
  hiding,
  tlsAdvice,
  verifying,
} from '../base/index.js';
import { type CallOptions, callOptions, underWay, until } from './call-options.js';
import type { ConnectionConfig } from './config.js';
import { askToCancel } from './pg-cancel.js';
import { recorded } from './record.js';
import { boundReplies } from './reply-bound.js';
import { callEnded, MAYBE_DONE, TOO_SLOW, tooLarge } from './told.js';

type RelationalConfig = Extract<ConnectionConfig, { type: 'relational' | 'postgresql' }>;

/** Parameterised statements: `$1`, `$2` ... in the text, values beside it. What one brings is at most limits.outboundReplyBytes. */
interface Statements {
  /** rows as objects by column name; one statement, several fail before the first of them runs */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    parameters?: readonly unknown[],
    options?: CallOptions,
  ): Promise<Row[]>;
  /** number of rows changed; without parameters the text may hold several statements */
  execute(text: string, parameters?: readonly unknown[], options?: CallOptions): Promise<number>;
}

/** A relational database that speaks PostgreSQL's protocol. Throws CONNECTION_FAILED naming the connection. */
export interface RelationalConnection extends Statements {
  /** Commits when `work` resolves; rolls back when it throws, when all of it takes longer than timeoutMs, and when a signal aborts. */
  transaction<T>(work: (statements: Statements) => Promise<T>, options?: CallOptions): Promise<T>;
  close(): Promise<void>;
}

// It loads with the first connection that is used, not with every host process.
const load = () => createRequire(import.meta.url)('pg') as typeof pg;

/** `query_timeout` is not in the library's types. */
type Query = pg.QueryConfig & { readonly queryMode?: 'extended'; readonly query_timeout?: number };

const DEFAULT_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;

export function openRelational(
  name: string,
  config: RelationalConfig,
  hide: Hide = hiding(),
  replyBytes: number = DEFAULT_LIMITS.outboundReplyBytes,
): RelationalConnection {
  const timeout = config.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const address = config.connStr ?? config.connString ?? '';
  const failed = (error: unknown) => failure(name, error, (text) => hideAddress(hide(text), address));
  const { Client, Pool } = load();
  const pool = new Pool({
    connectionString: verifying(address),
    max: config.maxConnections ?? 10,
    // to wait for one that others use takes as long as they take, to open one does not
    connectionTimeoutMillis: timeout,
    Client: class extends Client {
      constructor(given?: pg.ClientConfig) {
        super({ ...given, connectionTimeoutMillis: Math.min(timeout, CONNECT_TIMEOUT_MS) });
      }
    },
    statement_timeout: timeout,
    query_timeout: timeout,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  // An idle client that loses its server must not end the process: the pool opens another on the next call.
  pool.on('error', () => undefined);
  const countAnew = new WeakMap<object, () => void>();
  pool.on('connect', (client) =>
    countAnew.set(
      client,
      boundReplies(client, replyBytes, () => cut(name, replyBytes)),
    ),
  );
  pool.on('acquire', (client) => countAnew.get(client)?.());

  /** those whose server did not answer: whatever they are asked next waits as long again */
  const silent = new WeakSet<object>();
  const stopped = (reason: unknown) => callStopped(name, reason, hide);
  const acquired = async (signal: AbortSignal | undefined) => {
    let coming: Promise<pg.PoolClient> | undefined;
    try {
      return await until(signal, stopped, () => {
        coming = pool.connect();
        return coming;
      });
    } catch (error) {
      // one that comes for nobody
      if (signal?.aborted) coming?.then((client) => client.release()).catch(() => undefined);
      throw error instanceof GraphsteadError ? error : failed(error);
    }
  };
  // One that loses its server between two statements tells the next of them.
  const lost = () => undefined;
  const noted = (query: Query, ask: () => Promise<pg.QueryResult>) =>
    recorded({ connection: name, kind: 'relational', what: query.text.trim().slice(0, 80) }, ask);
  const answer = async (client: pg.PoolClient, query: Query, leftMs: number, signal: AbortSignal | undefined) => {
    countAnew.get(client)?.();
    try {
      const inTime: Query = { ...query, query_timeout: Math.max(1, leftMs) };
      return await until(signal, stopped, () => client.query(inTime));
    } catch (error) {
      if (!isAnswer(error)) silent.add(client);
      throw error instanceof GraphsteadError ? error : failed(error);
    }
  };
  /** On a client of its own: that it was waited for counts, too. */
  const runAlone = (query: Query, signal: AbortSignal | undefined) =>
    noted(query, async () => {
      const end = performance.now() + timeout;
      const client = await acquired(signal);
      client.on('error', lost);
      let isGood = false;
      try {
        const result = await answer(client, query, end - performance.now(), signal);
        if (leftOpen(client)) throw openTransaction(name);
        isGood = true;
        return result;
      } finally {
        if (!isGood && signal?.aborted) askToCancel(client);
        const isKept = isGood || (!silent.has(client) && !signal?.aborted && (await isIdle(client, end)));
        client.off('error', lost);
        client.release(!isKept);
      }
    });
  const statement = `statement of connection "${name}"`;
  const statements = (ask: (query: Query, options: CallOptions) => Promise<pg.QueryResult>): Statements => ({
    query: async <Row>(text: string, parameters?: readonly unknown[], options?: CallOptions) =>
      (
        await ask(
          { text: statementText(name, text), values: valuesOf(name, parameters), queryMode: 'extended' },
          options ?? {},
        )
      ).rows as Row[],
    execute: async (text, parameters, options) => {
      // of several statements, which come without values, the library gives one result each
      const results = [
        await ask({ text: statementText(name, text), values: valuesOf(name, parameters) }, options ?? {}),
      ].flat();
      return results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
    },
  });

  return {
    ...statements((query, options) => underWay(statement, options, (signal) => runAlone(query, signal))),
    transaction: (work, options) =>
      underWay(`transaction of connection "${name}"`, options, async (signal) => {
        assertCallable(`transaction of connection "${name}"`, work, 'transaction(async (statements) => { ... })');
        const end = performance.now() + timeout;
        const client = await acquired(signal);
        client.on('error', lost);
        const tooLate = failed(new Error(`timeout: the transaction has not ended within ${timeout} ms`));
        const over = new AbortController();
        const timer = setTimeout(() => over.abort(tooLate), end - performance.now());
        const stop = () => over.abort(stopped(signal?.reason));
        signal?.addEventListener('abort', stop);
        if (signal?.aborted) stop();
        const run = (query: Query, given: CallOptions = {}) =>
          noted(query, async () => {
            over.signal.throwIfAborted();
            const answered = answer(client, query, end - performance.now(), given.signal);
            // what is left of one that was ended may still run: nothing comes behind it
            return answered.catch((error: unknown) => {
              if (given.signal?.aborted) over.abort(error);
              throw error;
            });
          });
        // What comes behind its end would run by itself, or where another has the connection.
        let isOver = false;
        const runInside = async (query: Query, given: CallOptions) => {
          if (isOver && !over.signal.aborted) throw ended(name);
          return run(query, callOptions(statement, given));
        };
        try {
          const result = await until(over.signal, asTold, async () => {
            await run({ text: 'BEGIN' });
            return work(statements(runInside));
          }).finally(() => {
            isOver = true;
          });
          const { command } = await run({ text: 'COMMIT' });
          // The server takes COMMIT for ROLLBACK after a statement that failed, also where `work` went on without it.
          if (command !== 'COMMIT') throw undone(name);
          client.off('error', lost);
          client.release();
          return result;
        } catch (error) {
          // Where it is not asked to, the server rolls back once the connection is closed.
          const asked = !silent.has(client) && !over.signal.aborted;
          if (over.signal.aborted) askToCancel(client);
          const rolledBack =
            asked &&
            (await client.query('ROLLBACK').then(
              () => true,
              () => false,
            ));
          client.off('error', lost);
          client.release(!rolledBack);
          throw error;
        } finally {
          clearTimeout(timer);
          signal?.removeEventListener('abort', stop);
        }
      }),
    close: () => pool.end(),
  };
}

/** Throws INVALID_VALUE. */
function statementText(name: string, text: unknown): string {
  return givenText(`a statement of connection "${name}"`, text, "query('select name from people where id = $1', [7])");
}

/** Throws INVALID_VALUE: a text would be taken for a list of its letters. */
function valuesOf(name: string, parameters: readonly unknown[] | null | undefined): unknown[] {
  if (parameters === undefined || parameters === null) return [];
  if (Array.isArray(parameters)) return [...parameters];
  throw new GraphsteadError('INVALID_VALUE', `the values of a statement of connection "${name}" are no list`, {
    fix: "write ['tea', 2] for $1 and $2, or nothing",
  });
}

const asTold = (reason: unknown) => reason;

function callStopped(name: string, reason: unknown, hide: Hide): GraphsteadError {
  return new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${hide(callEnded(reason))}`, {
    fix: MAYBE_DONE,
    details: { connection: name },
  });
}

function cut(name: string, bytes: number): GraphsteadError {
  return new GraphsteadError(
    'CONNECTION_FAILED',
    `connection "${name}": the answer to a statement is ${tooLarge(bytes)}`,
    {
      fix: 'ask for fewer rows at a time, with LIMIT; what the statement changed may be done all the same',
      details: { connection: name },
    },
  );
}

function ended(name: string): GraphsteadError {
  return new GraphsteadError('CONNECTION_FAILED', `connection "${name}": the transaction has ended`, {
    fix: 'await each statement inside of transaction(async (statements) => ...)',
    details: { connection: name },
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

function undone(name: string): GraphsteadError {
  const message = `connection "${name}": rolled back: a statement of the transaction had failed`;
  return new GraphsteadError('CONNECTION_FAILED', message, {
    fix: 'let what the statement throws leave transaction(async (statements) => ...); what may fail goes into one of its own, or behind a SAVEPOINT',
    details: { connection: name },
  });
}

function openTransaction(name: string): GraphsteadError {
  const message = `connection "${name}": the statement left a transaction open, which is rolled back`;
  return new GraphsteadError('CONNECTION_FAILED', message, {
    fix: 'give what belongs together to transaction(async (statements) => ...): each statement may run on a connection of its own',
    details: { connection: name },
  });
}

/** The server's reason without the address, which holds the password. */
function failure(name: string, error: unknown, hide: Hide): GraphsteadError {
  const { message, code, errors } = error as Error & { code?: string; errors?: Error[] };
  const reason = message || errors?.[0]?.message || code || 'the server did not answer';
  const fix = adviceFor(error, reason);
  return new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${hide(reason)}`, {
    ...(fix === undefined ? {} : { fix }),
    details: { connection: name, ...(isAnswer(error) && code ? { sqlState: code } : {}) },
  });
}

/** The server said so itself; else it could not be reached, was lost, or is silent. */
function isAnswer(error: unknown): boolean {
  return (error as { severity?: unknown }).severity !== undefined;
}

/** SQLSTATE of a server that starts or stops */
const NOT_UP = '57P03';
/** a connection that its server ended */
const ENDED = /^57P0[12]$/;
/** a user, a password or a database that the server does not have */
const NOT_LET_IN = /^(28...|3D000)$/;

function adviceFor(error: unknown, reason: string): string | undefined {
  const { code = '', syscall } = error as { code?: string; syscall?: string };
  const tls = tlsAdvice(error);
  if (tls !== undefined) return tls;
  // the server's words, or those of the library where the server does not answer
  if (/timeout/i.test(reason)) return TOO_SLOW;
  const unreached = syscall === 'connect' || syscall === 'getaddrinfo' || code === NOT_UP;
  if (unreached) return 'check that the server runs and is reached from here; the next call connects anew';
  if (NOT_LET_IN.test(code)) return "correct the user, the password or the database in the connection's address";
  if (isAnswer(error) && !ENDED.test(code)) return undefined;
  return 'the next call connects anew; what was under way may have been done or not';
}

function hideAddress(text: string, address: string): string {
  const password = /:\/\/[^:@/]*:([^/?#]*)@/.exec(address)?.[1];
  const secrets = [address, ...(password ? [password] : [])].filter((secret) => secret.length > 0);
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text);
}
