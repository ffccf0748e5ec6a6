import {
  asError,
  Yielder,
  type Clock,
  DEFAULT_LIMITS,
  GraphsteadError,
  inSteps,
  type Limits,
  type MaybePromise,
  type Names,
  systemClock,
} from '../base/index.js';
import type { Committed, Graph, Transaction } from '../graph/index.js';
import type {
  DqlEngine,
  MutateAnswer,
  MutateRequest,
  QueryAnswer,
  QueryRequest,
  RunOptions,
  RunResult,
  TransactionInfo,
} from './contract.js';
import { DocumentCache } from './engine/document-cache.js';
import { NotingReader } from './engine/noting-reader.js';
import { readMutationSteps } from './engine/mutation-source.js';
import { schemaAnswer } from './engine/schema-answer.js';
import { Stopwatch } from './engine/stopwatch.js';
import { UpsertLane } from './engine/upsert-lane.js';
import { checkTriples, placed, resolveMutation } from './mutate/index.js';
import { parseQuerySteps } from './parse/index.js';
import { Pace, runQuery } from './run/index.js';
import type { MutationRequest, QueryDocument } from './syntax/index.js';
import { writeJsonInSteps, writeRdfInSteps } from './write/index.js';

interface DqlEngineOptions {
  readonly graph: Graph;
  readonly names: Names;
  readonly limits?: Limits;
  readonly clock?: Clock;
  /** whether a request that goes on with a transaction has to bring its hash: timestamps can be guessed */
  readonly needsHash?: boolean;
}

/** What one attempt at a mutation came to. */
interface Attempt {
  readonly queries: Buffer | undefined;
  readonly uids: ReadonlyMap<string, string>;
  readonly numUids: Readonly<Record<string, number>>;
}

/** characters of a text that may take some milliseconds to be parsed */
const LONG_TEXT = 16_384;

const NO_RESULT: RunResult = { roots: [], variables: new Map(), numUids: {}, unknown: [] };

/** The graph language over one graph: queries, mutations, upserts, and transactions over several requests. */
export function createDqlEngine(options: DqlEngineOptions): DqlEngine {
  return new Engine(options);
}

class Engine implements DqlEngine {
  readonly #graph: Graph;
  readonly #names: Names;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #needsHash: boolean;
  readonly #documents: DocumentCache;
  readonly #lane = new UpsertLane();

  constructor(options: DqlEngineOptions) {
    const { graph, names, limits = DEFAULT_LIMITS, clock = systemClock, needsHash = false } = options;
    this.#graph = graph;
    this.#names = names;
    this.#limits = limits;
    this.#clock = clock;
    this.#needsHash = needsHash;
    this.#documents = new DocumentCache(limits);
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    const watch = new Stopwatch(this.#clock);
    const run = this.#runOptions(request);
    const document = await this.#parse(request, run);
    watch.lap('parsing_ns');
    const { client = '', bestEffort = false } = request;
    const own = request.startTs === undefined;
    const readOnly = request.readOnly === true || bestEffort;
    const transaction = own
      ? await this.#graph.begin({ readOnly, bestEffort, held: { client, ifRoom: true } })
      : this.#opened(request.startTs, request.hash);
    watch.lap('assign_timestamp_ns');
    try {
      const { data, ...read } = await this.#read(document, transaction, request, run, watch);
      const opened = this.#open(transaction);
      const txn = opened instanceof Promise ? await opened : opened;
      return { data, txn, latency: watch.latency(), ...read };
    } catch (thrown) {
      if (own) transaction.abort();
      throw thrown;
    } finally {
      // nobody can go on with it, as with a best-effort read
      if (own && !transaction.held) transaction.abort();
    }
  }

  async #parse({ text, variables }: QueryRequest, run: RunOptions): Promise<QueryDocument> {
    const options = { variables, names: this.#names, limits: this.#limits };
    // most texts are known, or short; the first step of a long one may have taken longer than a pause has to wait
    let pace = text.length > LONG_TEXT ? new Pace(run) : undefined;
    const pause = () => (pace ??= new Pace(run)).pause();
    const document = await this.#documents.get(text, variables, () => parseQuerySteps(text, options), pause);
    if (document.blocks.length > 0 || document.schema) return document;
    throw new GraphsteadError('INVALID_REQUEST', 'empty request: the text holds no query', {
      fix: 'Send a query such as { people(func: has(name)) { name } }.',
    });
  }

  async #read(
    document: QueryDocument,
    transaction: Transaction,
    request: QueryRequest,
    run: RunOptions,
    watch: Stopwatch,
  ): Promise<Pick<QueryAnswer, 'data' | 'metrics' | 'keysRead' | 'unknown'>> {
    const reader = new NotingReader(await transaction.reader());
    try {
      if (document.schema) {
        const data = schemaAnswer(document.schema, reader.schema, this.#names);
        watch.lap('encoding_ns');
        return { data, metrics: {}, keysRead: reader.metrics.keysRead, unknown: [] };
      }
      const result = await runQuery(document, reader, run);
      transaction.noteRead(transaction.readOnly ? [] : reader.keys, reader.absent);
      watch.lap('processing_ns');
      const data = await this.#write(result, request, run);
      watch.lap('encoding_ns');
      const { numUids: metrics, unknown } = result;
      return { data, metrics, keysRead: reader.metrics.keysRead, unknown };
    } finally {
      reader.release();
    }
  }

  async #write(
    result: RunResult,
    { format, debug }: Pick<QueryRequest, 'format' | 'debug'>,
    run: RunOptions,
  ): Promise<Buffer> {
    const limit = this.#limits.answerBytes;
    const options = { names: this.#names, debug: debug === true, limit };
    try {
      const pace = new Pace(run);
      const write = format === 'rdf' ? writeRdfInSteps : writeJsonInSteps;
      return await write(result, options, () => pace.pause());
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      throw new GraphsteadError('LIMIT_EXCEEDED', `the answer is larger than ${limit} bytes (limit answerBytes)`, {
        fix: 'Ask for fewer nodes with first and after, or for fewer fields.',
      });
    }
  }

  #runOptions({ timeoutMs, signal }: Pick<QueryRequest, 'timeoutMs' | 'signal'>): RunOptions {
    const ms = Math.min(timeoutMs ?? this.#limits.queryMs, this.#limits.queryMs);
    return {
      deadline: this.#clock.monotonic() + ms,
      clock: this.#clock,
      limits: this.#limits,
      names: this.#names,
      ...(signal ? { signal } : {}),
    };
  }

  async mutate(request: MutateRequest): Promise<MutateAnswer> {
    const watch = new Stopwatch(this.#clock);
    const options = { names: this.#names, limits: this.#limits, variables: request.variables };
    const pace = new Pace({ clock: this.#clock, limits: this.#limits, signal: request.signal });
    const pause = () => pace.pause();
    const mutation = await inSteps(readMutationSteps(request, options), pause);
    await inSteps(checkTriples(mutation.mutations, this.#names), pause);
    watch.lap('parsing_ns');
    const run = this.#runOptions(request);
    if (request.startTs !== undefined) {
      return await this.#mutateIn(this.#opened(request.startTs, request.hash), mutation, request, run, watch);
    }
    if (!request.commitNow) {
      const transaction = await this.#graph.begin({ held: { client: request.client ?? '' } });
      watch.lap('assign_timestamp_ns');
      return await abortOnFailure(transaction, () => this.#mutateIn(transaction, mutation, request, run, watch));
    }
    return await this.#mutateAlone(mutation, request, run, watch);
  }

  /** A request that is its own transaction runs again after a conflict: nobody has seen what it read. */
  async #mutateAlone(
    mutation: MutationRequest,
    request: MutateRequest,
    run: RunOptions,
    watch: Stopwatch,
  ): Promise<MutateAnswer> {
    let answer: MutateAnswer | undefined;
    const attempt = async (n: number): Promise<boolean> => {
      const transaction = await this.#graph.begin();
      watch.lap('assign_timestamp_ns');
      try {
        answer = await abortOnFailure(transaction, () => this.#mutateIn(transaction, mutation, request, run, watch));
        return true;
      } catch (thrown) {
        const again = asError(thrown).code === 'TXN_ABORTED' && n < this.#limits.upsertRetries;
        if (!again || isOver(run, this.#clock)) throw thrown;
        return false;
      }
    };
    if (mutation.query) await this.#lane.run(attempt);
    else for (let n = 0; !(await attempt(n)); n++);
    return answer as MutateAnswer;
  }

  async #mutateIn(
    transaction: Transaction,
    mutation: MutationRequest,
    request: MutateRequest,
    run: RunOptions,
    watch: Stopwatch,
  ): Promise<MutateAnswer> {
    const { queries, uids, numUids } = await this.#stage(transaction, mutation, run, watch);
    const answer = (txn: TransactionInfo, kept?: Uint8Array): MutateAnswer => {
      return { queries, uids, txn, latency: watch.latency(), metrics: numUids, kept };
    };
    if (!request.commitNow) return answer(await this.#open(transaction));
    const info = this.#closing(transaction);
    const reply = request.idempotency && (await (request.reply ?? defaultReply)(answer(info)));
    const committed = await transaction.commit(
      request.idempotency && reply ? { idempotency: { ...request.idempotency, reply } } : {},
    );
    watch.lap('processing_ns');
    const { commitTs, replayed } = committed;
    const { startTs, hash, keys, preds } = info;
    return answer({ startTs, hash, keys, preds, commitTs }, replayed ?? reply);
  }

  /** Runs the query on the state before, then puts the changes into the transaction. */
  async #stage(
    transaction: Transaction,
    mutation: MutationRequest,
    run: RunOptions,
    watch: Stopwatch,
  ): Promise<Attempt> {
    const reader = await transaction.reader();
    try {
      // what the mutation itself looks at is no part of what the query has found
      const noting = new NotingReader(reader);
      const result = mutation.query ? await runQuery(mutation.query, noting, run) : NO_RESULT;
      transaction.noteRead(noting.keys, noting.absent);
      const pace = new Pace(run);
      const { changes, positions, uids } = await resolveMutation(mutation, {
        variables: result.variables,
        reader,
        lease: (count) => this.#graph.leaseUids(count),
        names: this.#names,
        limits: this.#limits,
        pause: () => pace.pause(),
      });
      watch.lap('processing_ns');
      const queries = mutation.query ? await this.#write(result, {}, run) : undefined;
      watch.lap('encoding_ns');
      if (changes.length > 0) {
        await transaction.stage(changes, undefined, (thrown, at) => placed(thrown, positions[at]));
      }
      watch.lap('processing_ns');
      return { queries, uids, numUids: result.numUids };
    } finally {
      reader.release();
    }
  }

  async commit(startTs: number, hash?: string): Promise<TransactionInfo> {
    const transaction = this.#opened(startTs, hash);
    const info = this.#closing(transaction);
    const committed: Committed = await transaction.commit();
    return { ...info, commitTs: committed.commitTs };
  }

  async abort(startTs: number, hash?: string): Promise<TransactionInfo> {
    const transaction = this.#opened(startTs, hash);
    if (transaction.committing) {
      throw new GraphsteadError('TXN_FINISHED', `transaction ${startTs} was committed: an abort comes too late`, {
        fix: 'Undo its changes in a new transaction.',
      });
    }
    transaction.abort();
    return this.#closing(transaction);
  }

  /** A transaction that another request began. */
  #opened(startTs: number, hash?: string): Transaction {
    if (this.#needsHash && !hash) throw hashMissing(startTs);
    return this.#graph.open(startTs, hash);
  }

  /** What a client needs to go on with a transaction. */
  #open(transaction: Transaction): MaybePromise<TransactionInfo> {
    const info = this.#closing(transaction);
    if (info.preds.length === 0) return info;
    // no deadline ends it: what is staged stays, and must be told
    const yielder = new Yielder(this.#limits.yieldMs);
    return inSteps(transaction.exclusiveKeys(), () => yielder.due()).then((keys) => ({ ...info, keys }));
  }

  /** A transaction that ends has no use for its keys, which may be many. */
  #closing({ startTs, hash, predicates }: Transaction): TransactionInfo {
    return { startTs, hash, keys: [], preds: predicates.map((name) => this.#names.shown(name)) };
  }
}

/** A transaction that failed in the request that began it is not the client's to end. */
async function abortOnFailure<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    transaction.abort();
    throw thrown;
  }
}

function isOver(run: RunOptions, clock: Clock): boolean {
  return run.signal?.aborted === true || clock.monotonic() > (run.deadline ?? Number.POSITIVE_INFINITY);
}

/** What is stored for a repeated request when its sender says nothing else. */
function defaultReply({ queries, uids }: MutateAnswer): Uint8Array {
  const shown = queries ? queries.toString('utf8') : 'null';
  return Buffer.from(
    `{"data":{"code":"Success","message":"Done","queries":${shown},"uids":${JSON.stringify(Object.fromEntries(uids))}},"extensions":{}}`,
  );
}

function hashMissing(startTs: number): GraphsteadError {
  return new GraphsteadError('FORBIDDEN', `transaction ${startTs} is asked for without its hash`, {
    fix: 'Send the hash that came with the start timestamp: where the service has keys, nobody lands in the transaction of another.',
  });
}
