import { createRequire } from 'node:module';
import type pg from 'pg';
import { codeOf, GraphsteadError, type Limits, tlsAdvice, verifying } from '../../base/index.js';

/** One statement. */
export interface Statement {
  /** its plan is kept under this name */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** By name of column: bytea as bytes, bigint as text. */
export type Row = Readonly<Record<string, unknown>>;

// It loads with the first database, not with every service.
const load = () => createRequire(import.meta.url)('pg') as typeof pg;

const CONNECT_MS = 5_000;
/** of one statement, and of its way there and back: a database that is silent for longer counts as gone */
const SILENT_MS = 30_000;
/** The first look of the system at a connection that rests: balancers and address translators forget those that do for some minutes. */
const KEEP_ALIVE_MS = 10_000;

/** Many reads find at once that they were led astray. */
const RENEW_MS = 1_000;
/** A server that takes no writes has become a replica of another one maybe, to which a new connection leads. */
const READ_ONLY = '25006';

/** The ways to one database: some for reads, and one for what must come in order. */
export class Link {
  readonly #settings: pg.ClientConfig;
  readonly #most: number;
  #pool: pg.Pool;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #writer: Writer | undefined;

  constructor(address: string, limits: Pick<Limits, 'storeConnections'>) {
    this.#settings = {
      connectionString: verifying(address),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: SILENT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: 'graphstead',
    };
    new (load().Client)(this.#settings); // the pool reads the address when it connects, which may be much later
    this.#most = limits.storeConnections;
    this.#pool = this.#newPool();
  }

  #newPool(): pg.Pool {
    const pool = new (load().Pool)({ ...this.#settings, max: this.#most });
    // One that loses its server while it idles must not end the process: the pool opens another.
    return pool.on('error', () => undefined);
  }

  /** Reads go over connections that are opened from now on: the address leads to another server than it did, or will. */
  renew(): void {
    if (performance.now() - this.#renewedAt < RENEW_MS) return;
    this.#renewedAt = performance.now();
    const before = this.#pool;
    this.#pool = this.#newPool();
    // One that ends serves nobody who waits for a connection of it.
    const end = (): void => {
      if (before.waitingCount === 0) before.end().catch(() => undefined);
    };
    before.on('release', end);
    end();
  }

  /** Throws what `databaseFailure` makes of it. */
  async read({ name, text, values = [] }: Statement): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query({ name, text, values: [...values] })).rows as readonly Row[];
    } catch (thrown) {
      throw databaseFailure(thrown, 'the database could not be read');
    }
  }

  /**
   * Throws CONFIG where a pooler gives both kinds of ways one session of the database, or no session for long: a plan that is kept in
   * one is there already, or is not. One that has many sessions may not be found out here; each read is told then.
   */
  async assertSessions(): Promise<void> {
    try {
      await (await this.writer()).keepPlan(SESSION_PROBE);
      await this.read(SESSION_PROBE);
    } catch (thrown) {
      const cause = thrown instanceof GraphsteadError ? thrown.cause : thrown;
      if (SHARED_SESSION.test(codeOf(cause) ?? '')) throw sharedSession('CONFIG', cause);
      throw thrown;
    }
  }

  /** The connection for what must come in order, opened anew where it was lost. Throws what the library throws. */
  async writer(): Promise<Writer> {
    if (this.#writer?.lost === false) return this.#writer;
    this.#writer?.cut();
    const client = new (load().Client)(this.#settings);
    const writer = new Writer(client);
    await client.connect();
    this.#writer = writer;
    return writer;
  }

  async close(): Promise<void> {
    this.#writer?.cut();
    await this.#pool.end();
  }
}

/** One connection, whose statements run in their order. It is never another one under the same name: what was begun on it ended with it. */
export class Writer {
  readonly #client: pg.Client;
  #lost = false;

  constructor(client: pg.Client) {
    this.#client = client;
    const gone = () => {
      this.#lost = true;
    };
    client.on('error', gone);
    client.on('end', gone);
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Runs statements, and gives how many rows each changed. Throws what the library throws. */
  async run(text: string): Promise<readonly number[]> {
    const results = (await this.#query(text)) as pg.QueryResult | pg.QueryResult[];
    return (Array.isArray(results) ? results : [results]).map(({ rowCount }) => rowCount ?? 0);
  }

  /** The rows of one statement. */
  async rows(text: string): Promise<readonly Row[]> {
    return (await this.#query(text)).rows as readonly Row[];
  }

  /** Runs a statement, and keeps its plan under its name. */
  async keepPlan({ name, text }: Statement): Promise<void> {
    await this.#client.query({ name, text });
  }

  async #query(text: string): Promise<pg.QueryResult> {
    try {
      return await this.#client.query(text);
    } catch (thrown) {
      // one that was silent for too long may be so for as long as the system keeps it
      if (!isAnswer(thrown) || codeOf(thrown) === READ_ONLY) this.#lost = true;
      throw thrown;
    }
  }

  /** It is not to be used any more. */
  cut(): void {
    this.#lost = true;
    this.#client.end().catch(() => undefined);
  }
}

/** The database has answered: what it refused did not happen, and its connection is good. */
export function isAnswer(thrown: unknown): boolean {
  // a code of five letters alone may be the system's: EPIPE
  const { severity } = Object(thrown) as { readonly severity?: unknown };
  return typeof severity === 'string' && !isAway(thrown);
}

/** Others changed the same at the same moment: nothing of it happened, and the same may succeed now. */
export function isCrossed(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === '40001' || code === '40P01';
}

/** It ends, begins, takes no more connections, or does not know itself what became of it (40003: a cluster that was divided meanwhile). */
function isAway(thrown: unknown): boolean {
  return /^(57P0[1-5]|08|53300|40003)/.test(codeOf(thrown) ?? '');
}

const ROOM = /^(53100|53200)/;
/** A statement's name is unknown where it was given, or was given by somebody else. */
const SHARED_SESSION = /^(26000|42P05)$/;
const SESSION_PROBE: Statement = { name: 'graphstead_session', text: 'SELECT 1' };

function sharedSession(code: 'CONFIG' | 'OVERLOADED', cause: unknown): GraphsteadError {
  const reason = 'a pooler before the database keeps no sessions';
  return new GraphsteadError(code, reasonOf(cause, reason), {
    fix: 'Let it keep them (PgBouncer: pool_mode = session), or name the address of the database itself.',
    cause,
  });
}

/**
 * DISK_FULL, else OVERLOADED: a database that refuses what it took before (it fails over, its rights are being changed) may take it
 * again, and what waits for that must not count as failed.
 */
export function databaseFailure(thrown: unknown, action: string): GraphsteadError {
  if (thrown instanceof GraphsteadError) return thrown;
  const reason = reasonOf(thrown, action);
  if (SHARED_SESSION.test(codeOf(thrown) ?? '')) return sharedSession('OVERLOADED', thrown);
  if (ROOM.test(codeOf(thrown) ?? ''))
    return new GraphsteadError('DISK_FULL', reason, {
      fix: 'Give the database more room, or drop data.',
      cause: thrown,
    });
  return new GraphsteadError('OVERLOADED', reason, {
    fix: 'Try again; look whether the database runs, and takes more connections (limits.storeConnections).',
    cause: thrown,
  });
}

/** The same where it is opened, and CONFIG for what it answers then, or where TLS fails: the address or the rights are wrong. */
export function openingFailure(thrown: unknown): GraphsteadError {
  const action = 'the database could not be opened';
  const reason = reasonOf(thrown, action);
  // a pooler's answer, with the code that it has for whatever goes wrong
  if (/unsupported startup parameter/.test(reason))
    return new GraphsteadError('CONFIG', reason, {
      fix: 'Leave the options out of the address, and set them for its user: ALTER ROLE name SET search_path = name.',
      cause: thrown,
    });
  const tls = tlsAdvice(thrown);
  const isRefusal = isAnswer(thrown) && !isCrossed(thrown) && !ROOM.test(codeOf(thrown) ?? '');
  if (tls === undefined && !isRefusal) return databaseFailure(thrown, action);
  const rights = 'Look at the address (--store, GRAPHSTEAD_STORE), and at what its user may do in the database.';
  return new GraphsteadError('CONFIG', reason, { fix: tls ?? rights, cause: thrown });
}

function reasonOf(thrown: unknown, action: string): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return `${action}: ${message || codeOf(thrown) || 'no reason was told'}`;
}
