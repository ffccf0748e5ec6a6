import { assertCallable, DEFAULT_LIMITS, givenText, GraphsteadError, type Hide, hiding } from '../base/index.js';
import { type CallOptions, underWay } from './call-options.js';
import { type RelationalConfig, RelationalPool } from './relational-pool.js';
import { type Ask, inTransaction } from './relational-transaction.js';

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

export function openRelational(
  name: string,
  config: RelationalConfig,
  hide: Hide = hiding(),
  replyBytes: number = DEFAULT_LIMITS.outboundReplyBytes,
): RelationalConnection {
  const pool = new RelationalPool(name, config, hide, replyBytes);
  const [statement, transaction] = ['statement', 'transaction'].map((what) => `${what} of connection "${name}"`);
  return {
    ...statements(name, (query, options) => underWay(statement, options, (signal) => pool.askAlone(query, signal))),
    transaction: (work, options) =>
      underWay(transaction, options, async (signal) => {
        assertCallable(transaction, work, 'transaction(async (statements) => { ... })');
        return inTransaction(pool, signal, (ask) => work(statements(name, ask)));
      }),
    close: () => pool.close(),
  };
}

function statements(name: string, ask: Ask): Statements {
  const queryOf = (text: string, values: readonly unknown[] | undefined) => ({
    text: statementText(name, text),
    values: valuesOf(name, values),
  });
  return {
    async query<Row>(text: string, parameters?: readonly unknown[], options?: CallOptions) {
      const { rows } = await ask({ ...queryOf(text, parameters), queryMode: 'extended' }, options ?? {});
      return rows as Row[];
    },
    async execute(text, parameters, options) {
      // of several statements, which come without values, the library gives one result each
      const results = [await ask(queryOf(text, parameters), options ?? {})].flat();
      return results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
    },
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
