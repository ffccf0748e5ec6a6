import { deserialize, serialize } from 'node:v8';
import {
  codeOf,
  givenOptions,
  givenText,
  assertCallable,
  GraphsteadError,
  variableTexts,
  type WireError,
} from '../../base/index.js';
import type { GraphMutated } from '../info.js';
import type { Begun } from '../protocol.js';
import { fromFailure, placed } from '../wire-failure.js';
import { mutationText } from './json-text.js';
import { around, inside, placeOfNext } from './standing.js';
import { requireTask, type Task } from './task.js';

/** JSON as it came from the graph. */
export type GraphAnswer = Record<string, unknown>;

/** What `graph.mutate` takes: RDF text of set/delete blocks or an upsert, or the JSON form. */
export type Mutation =
  | string
  | {
      readonly set?: unknown;
      readonly delete?: unknown;
      readonly query?: string;
      readonly cond?: string;
      readonly mutations?: readonly unknown[];
    };

/** What a mutation answers. */
export interface Mutated {
  /** blank-node names to uids */
  readonly uids: Readonly<Record<string, string>>;
  /** results of the upsert's query blocks */
  readonly queries?: GraphAnswer;
}

/** For whom `graph.graphql` asks. */
export interface GraphqlOptions {
  /** `caller`: the rules of @auth hold as for the function's caller. Without it the app asks for itself, and none does */
  readonly as?: 'caller';
}

/** Reads and writes of the graph. */
export interface GraphApi {
  /** Runs a graph-language query; gives its `data` object. A variable that is undefined is not given. Throws INVALID_VALUE for one that is no text. */
  query<T = GraphAnswer>(text: string, variables?: Readonly<Record<string, string>>): Promise<T>;
  /**
   * In a turn or a transaction the change lands with its commit; elsewhere at once. Throws INVALID_VALUE, naming the place,
   * where JSON would give another value than the mutation holds.
   */
  mutate(mutation: Mutation): Promise<Mutated>;
  /**
   * Runs a GraphQL request against the generated API; throws its first error with its code, and `errors` as they came. In a
   * turn or a transaction it sees what was written there, and its changes land with its commit.
   */
  graphql<T = GraphAnswer>(
    text: string,
    variables?: Readonly<Record<string, unknown>>,
    options?: GraphqlOptions,
  ): Promise<T>;
}

class Surface implements GraphApi {
  constructor(
    readonly what: string,
    /** 0 where none is named */
    readonly txn: number,
  ) {}

  async query<T = GraphAnswer>(text: string, variables?: Readonly<Record<string, string>>): Promise<T> {
    const task = requireTask(`${this.what}.query`);
    const call = `${this.what}.query`;
    givenText(call, text, `${call}('{ people(func: has(name)) { name } }')`);
    const args = callArgs(this.txn, text, variables && variableTexts(call, variablesOf(call, variables)));
    return JSON.parse((await task.call('graph.query', args)) as string) as T;
  }

  async mutate(mutation: Mutation): Promise<Mutated> {
    const task = requireTask(`${this.what}.mutate`);
    task.turn?.assertWrites(`${this.what}.mutate`);
    const request =
      typeof mutation === 'string'
        ? { body: mutation, contentType: 'rdf' }
        : { body: mutationText(`${this.what}.mutate`, mutation), contentType: 'json' };
    const { uids, queries } = (await task.call('graph.mutate', [this.txn, request])) as GraphMutated;
    return { uids, ...(queries === undefined ? {} : { queries: JSON.parse(queries) as GraphAnswer }) };
  }

  async graphql<T = GraphAnswer>(
    text: string,
    variables?: Readonly<Record<string, unknown>>,
    options: GraphqlOptions = {},
  ): Promise<T> {
    const call = `${this.what}.graphql`;
    const task = requireTask(call);
    givenText(call, text, `${call}('{ queryPerson { name } }')`);
    const args = callArgs(this.txn, text, variables && variablesOf(call, variables));
    if (isForCaller(task, givenOptions(call, options, "{ as: 'caller' }")))
      args.push(...(variables === undefined ? [null] : []), 'caller');
    const answer = (await task.call('graph.graphql', args)) as string;
    const { data, errors } = JSON.parse(answer) as { data?: T | null; errors?: readonly WireError[] };
    if (errors?.[0] !== undefined) throw Object.assign(thrownFor(errors[0]), { errors });
    return data as T;
  }
}

/** With its code, so that app code can tell one from another, and whoever called it is told the same. */
function thrownFor({ message, locations, extensions }: WireError): Error {
  const { code, fix, ...details } = extensions as Record<string, unknown> & { fix?: string };
  // a field that fails has a path
  const place = code === 'INVALID_GRAPHQL' || code === 'SYNTAX' ? locations?.[0] : undefined;
  return fromFailure({ message: placed(message, place), code: String(code), fix, details }, 'INTERNAL');
}

/** Throws INVALID_REQUEST in a turn, INVALID_VALUE for what is not known. */
function isForCaller(task: Task, { as }: GraphqlOptions): boolean {
  if (as === undefined) return false;
  if (as !== 'caller') {
    throw new GraphsteadError('INVALID_VALUE', `graphql knows nobody called ${JSON.stringify(as)}`, {
      fix: 'write { as: "caller" }, or leave it out to ask as the app itself',
    });
  }
  if (task.caller !== undefined) return true;
  throw new GraphsteadError('INVALID_REQUEST', "an agent's turn has no caller to ask as", {
    fix: 'ask in the function that sends the message, or leave `as` out to ask as the app itself; a message that a client sends by itself has one',
  });
}

function variablesOf(call: string, variables: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return givenOptions(call, variables, "{ name: 'tea' }", 'variables');
}

function callArgs(txn: number, text: string, variables: unknown): unknown[] {
  return variables === undefined ? [txn, text] : [txn, text, variables];
}

/** Tries of a transaction that lost to another one before the caller is told. */
const TRIES = 12;

class Root extends Surface {
  constructor() {
    super('graph', 0);
  }

  /**
   * Runs work on one transaction and commits it; runs it again when another commit touched what it read or wrote. Agents that
   * work starts and stops, and messages that it leaves, are part of it; one whose reply it would wait for is refused: INVALID_REQUEST.
   * In a turn it is a part of the turn's own transaction, and commits with the turn; when it fails, what it wrote is taken back, and so is
   * what transactions inside it wrote. Throws INVALID_VALUE for work that is no function.
   */
  async transaction<T>(work: (transaction: GraphApi) => Promise<T>): Promise<T> {
    const task = requireTask('graph.transaction');
    assertCallable('graph.transaction', work, 'graph.transaction(async (transaction) => { ... })');
    if (task.turn !== undefined) return partOfTurn(task, work);
    const place = placeOfNext(task);
    for (let lost = 0; ; ) {
      const result = await attempt(task, lost === 0 ? [place] : [place, lost], work);
      if (result.ok) return result.value;
      if (++lost === TRIES) throw result.error;
    }
  }
}

async function partOfTurn<T>(task: Task, work: (transaction: GraphApi) => Promise<T>): Promise<T> {
  const id = task.nextTransaction();
  const outer = around();
  if (outer !== undefined) await task.call('graph.begin', [id, outer.id]);
  try {
    return await inside(id, '', () => work(new Surface('transaction', id)));
  } catch (error) {
    // where the turn is over by now nothing of it lands
    await task.call('graph.abort', [id]).catch(() => undefined);
    throw error;
  }
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** @param begins what `graph.begin` is told: where the transaction stands, and how often it has lost */
async function attempt<T>(
  task: Task,
  begins: readonly [place: string, lost?: number],
  work: (transaction: GraphApi) => Promise<T>,
): Promise<Attempt<T>> {
  const begun = (await task.call('graph.begin', begins)) as Begun;
  if ('gave' in begun) return { ok: true, value: fromKept(begun.gave) as T };
  const { id, keeps } = begun;
  try {
    const value = await inside(id, begins[0], () => work(new Surface('transaction', id)));
    const gave = await task.call('graph.commit', keeps ? [id, toKept(value)] : [id]);
    return { ok: true, value: gave === undefined ? value : (fromKept(gave as string) as T) };
  } catch (error) {
    // where its commit was refused it is over by now; a conflict that its work met has left it open
    await task.call('graph.abort', [id]).catch(() => undefined);
    if (codeOf(error) === 'TXN_ABORTED') return { ok: false, error };
    throw error;
  }
}

/** What a transaction gives, for a request that repeats this one. Throws INVALID_VALUE for what is no data. */
function toKept(value: unknown): string {
  try {
    return serialize(value).toString('base64');
  } catch (error) {
    throw new GraphsteadError(
      'INVALID_VALUE',
      `what graph.transaction gives cannot be kept for a repeated request: ${(error as Error).message}`,
      { fix: 'give plain data from its work: a request with an Idempotency-Key gets it again' },
    );
  }
}

function fromKept(text: string): unknown {
  return deserialize(Buffer.from(text, 'base64'));
}

/** The service's graph, as app code reaches it. */
export const graph = new Root();
