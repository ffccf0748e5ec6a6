import type pg from 'pg';
import { type CallOptions, callOptions, until } from './call-options.js';
import { askToCancel } from './pg-cancel.js';
import { ended, undone } from './relational-failure.js';
import type { Query, RelationalPool } from './relational-pool.js';

/** Runs one statement; without it the call of which it is part says how long. */
export type Ask = (query: Query, options: CallOptions) => Promise<pg.QueryResult>;

/** Commits when `work` resolves; rolls back when it throws, when all of it takes longer than timeoutMs, and when the signal aborts. */
export async function inTransaction<T>(
  pool: RelationalPool,
  signal: AbortSignal | undefined,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const end = performance.now() + pool.timeoutMs;
  const transaction = new Transaction(pool, await pool.acquire(signal), end);
  const stop = () => transaction.end(pool.stopped(signal?.reason));
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    return await transaction.run(work);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

class Transaction {
  readonly #pool: RelationalPool;
  readonly #client: pg.PoolClient;
  readonly #end: number;
  readonly #over = new AbortController();
  /** What comes behind its end would run by itself, or where another has the connection. */
  #isOver = false;

  constructor(pool: RelationalPool, client: pg.PoolClient, end: number) {
    this.#pool = pool;
    this.#client = client;
    this.#end = end;
  }

  end(reason: unknown): void {
    this.#over.abort(reason);
  }

  async run<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    const tooLate = `timeout: the transaction has not ended within ${this.#pool.timeoutMs} ms`;
    const late = () => this.end(this.#pool.failed(new Error(tooLate)));
    const timer = setTimeout(late, this.#end - performance.now());
    try {
      const result = await until(this.#over.signal, asTold, async () => {
        await this.#ask({ text: 'BEGIN' });
        return work(this.#askInside);
      }).finally(() => {
        this.#isOver = true;
      });
      const { command } = await this.#ask({ text: 'COMMIT' });
      // The server takes COMMIT for ROLLBACK after a statement that failed, also where `work` went on without it.
      if (command !== 'COMMIT') throw undone(this.#pool.name);
      this.#pool.release(this.#client, true);
      return result;
    } catch (error) {
      this.#pool.release(this.#client, await this.#rolledBack());
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  readonly #askInside: Ask = async (query, options) => {
    if (this.#isOver && !this.#over.signal.aborted) throw ended(this.#pool.name);
    return this.#ask(query, callOptions(`statement of connection "${this.#pool.name}"`, options));
  };

  #ask(query: Query, { signal }: CallOptions = {}): Promise<pg.QueryResult> {
    return this.#pool.note(query, async () => {
      this.#over.signal.throwIfAborted();
      const answered = this.#pool.ask(this.#client, query, this.#end - performance.now(), signal);
      // what is left of one that was ended may still run: nothing comes behind it
      return answered.catch((error: unknown) => {
        if (signal?.aborted) this.end(error);
        throw error;
      });
    });
  }

  /** Where it is not asked to, the server rolls back once the connection is closed. */
  async #rolledBack(): Promise<boolean> {
    const isOver = this.#over.signal.aborted;
    if (isOver) askToCancel(this.#client);
    if (isOver || !this.#pool.answers(this.#client)) return false;
    return this.#client.query('ROLLBACK').then(
      () => true,
      () => false,
    );
  }
}

const asTold = (reason: unknown) => reason;
