import {
  type Clock,
  defaultNames,
  GraphsteadError,
  GraphsteadErrors,
  type Limits,
  makeLimits,
  type Names,
  systemClock,
  inSteps,
  Yielder,
} from '../base/index.js';
import type { Committer } from '../commit/index.js';
import type { AlterPart, Declaration } from './alter/part.js';
import { verifyShape } from './alter/apply-alter.js';
import { type AlterPlan, planAlter } from './alter/request.js';
import { JobRunner } from './alter/runner.js';
import { indexesTexts, isVerified, TOLD, verifyData } from './alter/verify.js';
import type { GraphChanged, GraphShared } from './applier.js';
import { beginBulk } from './bulk/bulk-load.js';
import { ChangedAt } from './changed-at.js';
import type {
  AlterRequest,
  BeginOptions,
  BulkLoad,
  BulkOptions,
  Graph,
  IndexProgress,
  PredicateSize,
  RangeSize,
  Schema,
  Transaction,
} from './contract.js';
import { IndexCache } from './hnsw/cache.js';
import { META, metaKey, namedKey } from './key.js';
import { UidLease } from './lease.js';
import { GRAPH, type GraphPart } from './part.js';
import { SourceReader } from './reader.js';
import { SchemaCache } from './schema-store.js';
import { ShownVersions } from './shown-versions.js';
import { measure, rangesOf } from './size.js';
import { readText } from './text-record.js';
import { GraphTransaction, type TransactionContext } from './transaction.js';
import { TransactionTable } from './transactions.js';

interface GraphOptions {
  /** made with `graphApplier(shared)` among its appliers */
  readonly committer: Committer;
  /** the same that the applier was made with */
  readonly shared: GraphShared;
  readonly clock?: Clock;
  readonly names?: Names;
}

/** What a graph and its applier have in common; make it first. */
export function graphShared(limits: Limits = makeLimits()): GraphShared {
  return { limits, schemas: new SchemaCache(), bulk: new Map(), landed: () => undefined };
}

/** Opens the graph of a committer: reads the schema, goes on with index builds that a restart interrupted. */
export async function createGraph(options: GraphOptions): Promise<Graph> {
  const graph = new StoreGraph(options);
  await graph.start();
  return graph;
}

/**
 * Tries of an alter that look at stored values with pauses. Whoever writes to the predicate in one of them undoes what was
 * looked at; so a later one leaves him no time, where the store is at hand.
 */
const PATIENT = 2;

/** Reasons for which what a cut load has left stays until the next start. */
const HARMLESS: ReadonlySet<string> = new Set(['READ_ONLY_STORE', 'DISK_FULL']);

class StoreGraph implements Graph {
  readonly #committer: Committer;
  readonly #shared: GraphShared;
  readonly #names: Names;
  readonly #lease: UidLease;
  readonly #table: TransactionTable;
  /** where another process writes */
  readonly #shown: ShownVersions;
  readonly #runner: JobRunner;
  readonly #context: TransactionContext;
  readonly #changedAt: ChangedAt;
  #altering: Promise<unknown> = Promise.resolve();

  constructor({ committer, shared, clock = systemClock, names = defaultNames }: GraphOptions) {
    this.#committer = committer;
    this.#shared = shared;
    this.#names = names;
    const { limits, schemas } = shared;
    this.#lease = new UidLease(committer, limits, (from, to) => this.#table.highestNamed(from, to));
    this.#table = new TransactionTable(clock, limits);
    this.#shown = new ShownVersions(clock, limits);
    this.#runner = new JobRunner(committer, schemas);
    this.#changedAt = new ChangedAt((predicate) => schemas.newest.predicate(predicate) !== undefined);
    shared.landed = (changed) => this.#landed(changed);
    this.#context = {
      committer,
      schemas,
      clock,
      limits,
      names,
      lease: this.#lease,
      indexes: new IndexCache(limits.vectorCacheBytes),
      changedAt: (predicate) => this.#changedAt.get(predicate),
      assertRoomFor: (transaction) => this.#table.assertRoomFor(transaction),
      closed: (transaction) => (committer.readOnly ? this.#shown : this.#table).closed(transaction),
    };
  }

  async start(): Promise<void> {
    const snapshot = this.#committer.snapshot();
    try {
      await this.#shared.schemas.read(snapshot);
      if (await snapshot.get(metaKey(META.bulk))) await this.#abandonBulk();
    } finally {
      snapshot.release();
    }
    await this.#runner.wake();
  }

  /** A bulk load that a crash has cut short goes; where nothing can be written it does no harm. */
  async #abandonBulk(): Promise<void> {
    const part: GraphPart = { kind: 'bulk', step: 'abandon' };
    const intent = { startTs: 0, parts: { [GRAPH]: part }, conflicts: [], reclaim: true };
    await this.#committer.commit(intent).catch((thrown: unknown) => {
      if (!(thrown instanceof GraphsteadError) || !HARMLESS.has(thrown.code)) throw thrown;
    });
  }

  #landed({ version, predicates }: GraphChanged): void {
    this.#changedAt.set(predicates, version);
  }

  schema(): Schema {
    return this.#shared.schemas.newest;
  }

  async begin(options: BeginOptions = {}): Promise<Transaction> {
    const readOnly = (options.readOnly ?? false) || (options.bestEffort ?? false);
    if (options.bestEffort || this.#committer.readOnly) {
      const snapshot = this.#committer.snapshot();
      if (options.held && this.#committer.readOnly) this.#shown.keep(snapshot);
      // not in the table: its timestamp is that of a commit, and others may read at the same one
      return new GraphTransaction(this.#context, snapshot.version, true, undefined, snapshot);
    }
    const { held } = options;
    const { startTs, snapshot } = await this.#committer.begin();
    // behind the wait: of many that begin together each finds what those before it took
    const isHeld = held !== undefined && this.#table.makeRoom(held.client);
    if (held !== undefined && !isHeld && !held.ifRoom) {
      snapshot.release();
      throw this.#table.tooMany();
    }
    const client = isHeld ? held.client : undefined;
    const transaction = new GraphTransaction(this.#context, startTs, readOnly, client, snapshot);
    this.#table.add(transaction);
    return transaction;
  }

  open(startTs: number, hash?: string): Transaction {
    if (!this.#committer.readOnly) return this.#table.get(startTs, hash);
    return this.#shown.begin(
      startTs,
      (snapshot) => new GraphTransaction(this.#context, startTs, true, undefined, snapshot),
    );
  }

  bulk(options: BulkOptions): Promise<BulkLoad> {
    const { schemas, limits, bulk: batches } = this.#shared;
    const over = () => this.#runner.built();
    return beginBulk({ committer: this.#committer, schemas, names: this.#names, limits, batches, over }, options);
  }

  leaseUids(count: number): Promise<number> {
    return this.#lease.lease(count);
  }

  alter(request: AlterRequest, options: { readonly runInBackground?: boolean } = {}): Promise<void> {
    const run = this.#altering.then(() => this.#alter(request));
    this.#altering = run.catch(() => undefined);
    return run.then((declared) => (options.runInBackground ? undefined : this.#built(declared)));
  }

  /** Returns the names of the predicates that it declares. Again where what it looked at was written before it landed. */
  async #alter(request: AlterRequest): Promise<readonly string[]> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#alterOnce(
          request,
          attempt < PATIENT ? this.#shared.limits.yieldMs : Number.POSITIVE_INFINITY,
        );
      } catch (error) {
        if (!(error instanceof GraphsteadError && error.code === 'TXN_ABORTED')) throw error;
        if (attempt === this.#shared.limits.upsertRetries) throw writtenMeanwhile(error);
      }
    }
  }

  async #alterOnce(request: AlterRequest, yieldMs: number): Promise<readonly string[]> {
    const { part, conflicts, declared } = await this.#plan(request);
    if (!part) return declared;
    await this.#committer.commit({
      startTs: await this.#verify(part, yieldMs),
      parts: { [GRAPH]: part },
      conflicts,
      reclaim: request.kind !== 'schema',
    });
    await this.#runner.wake();
    return declared;
  }

  #plan(request: AlterRequest): Promise<AlterPlan> {
    const { schemas, limits } = this.#shared;
    const yielder = new Yielder(limits.yieldMs);
    return inSteps(planAlter(request, schemas.newest, this.#names, limits), () => yielder.due());
  }

  async checkAlter(request: AlterRequest): Promise<void> {
    const { part } = await this.#plan(request);
    if (!part) return;
    await this.#verify(part, this.#shared.limits.yieldMs);
    const snapshot = this.#committer.snapshot();
    try {
      const schema = await this.#shared.schemas.read(snapshot);
      for (const declaration of part.declare) {
        const before = schema.predicate(declaration.name);
        if (before) await verifyShape(before, declaration, snapshot);
      }
    } finally {
      snapshot.release();
    }
  }

  /** Builds of other predicates are not waited for: they may take hours, or stand still for want of room. */
  #built(names: readonly string[]): Promise<void> | undefined {
    if (names.length === 0) return undefined;
    const { newest } = this.#shared.schemas;
    return this.#runner.built(new Set(names.map((name) => newest.predicate(name)?.id)));
  }

  /**
   * Answers the start timestamp from which on what it looked at must stand; 0 where nothing of it has to, or nothing that is stored
   * could refuse the declarations. Throws INVALID_SCHEMA, or GraphsteadErrors of several predicates whose data refuses them.
   * @param yieldMs of work between two pauses
   */
  async #verify(part: AlterPart, yieldMs: number): Promise<number> {
    const { newest } = this.#shared.schemas;
    const { dgraph: loose } = this.#names;
    const mustStand = (declaration: Declaration): boolean => {
      const before = newest.predicate(declaration.name);
      return before !== undefined && isVerified(before, declaration, loose);
    };
    const mayRefuse = (declaration: Declaration): boolean => {
      const before = newest.predicate(declaration.name);
      return before !== undefined && (isVerified(before, declaration, loose) || indexesTexts(before, declaration));
    };
    if (!part.declare.some(mayRefuse)) return 0;
    const { startTs, snapshot } = await this.#committer.begin();
    try {
      const schema = await this.#shared.schemas.read(snapshot);
      const reader = new SourceReader(snapshot, schema, snapshot.version);
      const looking = { reader, source: snapshot, yieldMs };
      const errors: GraphsteadError[] = [];
      for (const declaration of part.declare) {
        const before = schema.predicate(declaration.name);
        // the peer leaves it to the client: what cannot become the new type is not shown
        const error = before && (await verifyData(looking, before, declaration, loose));
        if (error && errors.push(error) === TOLD) break;
      }
      if (errors.length > 0) throw errors.length === 1 ? errors[0] : new GraphsteadErrors(errors);
      return part.declare.some(mustStand) ? startTs : 0;
    } finally {
      snapshot.release();
    }
  }

  async document(name: string): Promise<string | undefined> {
    const snapshot = this.#committer.snapshot();
    try {
      return await readText(snapshot, namedKey(META.document, name));
    } finally {
      snapshot.release();
    }
  }

  async setDocument(name: string, text: string): Promise<void> {
    const part: GraphPart = { kind: 'document', name, text };
    await this.#committer.commit({ startTs: 0, parts: { [GRAPH]: part }, conflicts: [] });
  }

  indexing(): readonly IndexProgress[] {
    return this.#runner.progress(this.#shared.schemas.newest);
  }

  async sizes(most: number): Promise<readonly PredicateSize[]> {
    const open = () => this.#committer.snapshot();
    const sizes: PredicateSize[] = [];
    for (const predicate of this.#shared.schemas.newest.predicates) {
      const parts: Record<string, RangeSize> = {};
      for (const { what, range } of rangesOf(predicate)) parts[what] = await measure(open, range, most);
      sizes.push({ predicate: predicate.name, parts });
    }
    return sizes;
  }

  async close(): Promise<void> {
    this.#table.close();
    this.#shown.close();
    await this.#runner.close();
  }
}

function writtenMeanwhile(cause: GraphsteadError): GraphsteadError {
  return new GraphsteadError('TXN_ABORTED', 'values that the alter has to look at were written all the while', {
    fix: 'Send it again while fewer are written.',
    cause,
  });
}
