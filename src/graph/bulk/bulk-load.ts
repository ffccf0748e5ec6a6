import { randomBytes } from 'node:crypto';
import type { Limits, Names } from '../../base/index.js';
import type { Committer } from '../../commit/index.js';
import { EVERYTHING, predicateKey } from '../conflict.js';
import type { BulkLoad, BulkOptions, BulkProgress, GraphChange } from '../contract.js';
import { predicateRange } from '../key.js';
import { RAISE_END } from '../lease.js';
import { GRAPH } from '../part.js';
import { checkSchemaSize, PLAIN, type PredicateRecord, type SchemaVersion } from '../schema.js';
import type { SchemaCache } from '../schema-store.js';
import { checkName, checkUid } from '../stage.js';
import { type BulkBatches, batchName } from './apply-bulk.js';
import type { BulkPart, LoadedPredicate } from './part.js';
import { PredicateLoad } from './predicate-load.js';
import { PutSink } from './put-sink.js';
import { RunFolder } from './run-file.js';
import { SorterBudget } from './sorter.js';

/** Bytes that sorters hold in memory together unless the caller says otherwise. */
const MEMORY_BYTES = 192 * 1024 * 1024;

interface BulkContext {
  readonly committer: Committer;
  readonly schemas: SchemaCache;
  readonly names: Names;
  readonly limits: Limits;
  readonly batches: BulkBatches;
  /** the load is in the schema, or given up: what it left to build or to sweep can begin */
  over(): Promise<void>;
}

/** Begins a load: finds out which predicates stand empty. */
export async function beginBulk(context: BulkContext, options: BulkOptions): Promise<BulkLoad> {
  const snapshot = context.committer.snapshot();
  try {
    const schema = await context.schemas.read(snapshot);
    const filled = new Set<string>();
    for (const record of schema.predicates) {
      const page = await snapshot.range({ ...predicateRange(record.id), limit: 1, keysOnly: true });
      if (page.keys.length > 0 || !isSettled(record)) filled.add(record.name);
    }
    return new StoreBulkLoad(context, schema, filled, options);
  } finally {
    snapshot.release();
  }
}

/** Nothing is being built for it, and nothing in it waits to be converted. */
function isSettled(record: PredicateRecord): boolean {
  return !record.retyped && record.building.length === 0 && record.indexes.every((index) => index.ready);
}

class StoreBulkLoad implements BulkLoad {
  readonly #context: BulkContext;
  readonly #schema: SchemaVersion;
  readonly #filled: ReadonlySet<string>;
  readonly #folder: RunFolder;
  readonly #budget: SorterBudget;
  readonly #name = randomBytes(8).toString('hex');
  /** undefined for predicates that hold data */
  readonly #loads = new Map<string, PredicateLoad | undefined>();
  readonly #growLists: boolean;
  #highest = 0;
  /** predicates that the load makes */
  #new = 0;

  constructor(
    context: BulkContext,
    schema: SchemaVersion,
    filled: ReadonlySet<string>,
    { folder, memoryBytes = MEMORY_BYTES, growLists = false }: BulkOptions,
  ) {
    this.#context = context;
    this.#schema = schema;
    this.#filled = filled;
    this.#growLists = growLists;
    this.#folder = new RunFolder(folder);
    this.#budget = new SorterBudget(memoryBytes, this.#folder);
  }

  add(change: GraphChange): boolean {
    if (change.op !== 'setValue' && change.op !== 'setEdge') return false;
    const { uid, predicate } = change;
    let load = this.#loads.get(predicate);
    if (!load) {
      load = this.#begin(change);
      if (!load) return false;
    }
    checkUid(uid);
    if (uid > this.#highest && uid < RAISE_END) this.#highest = uid;
    if (change.op === 'setValue') load.setValue(change);
    else {
      const { object } = change;
      checkUid(object);
      if (object > this.#highest && object < RAISE_END) this.#highest = object;
      load.setEdge(change);
    }
    return true;
  }

  /** The first change of a predicate, which decides about the type of one that does not exist. */
  #begin(change: Extract<GraphChange, { op: 'setValue' | 'setEdge' }>): PredicateLoad | undefined {
    const { predicate } = change;
    if (this.#loads.has(predicate) || this.#filled.has(predicate)) return undefined;
    checkName(predicate, this.#context.names);
    const record = this.#schema.predicate(predicate) ?? this.#created(change);
    const load = new PredicateLoad(record, this.#context, this.#budget, this.#growLists);
    this.#loads.set(predicate, load);
    return load;
  }

  #created(change: Parameters<typeof newRecord>[0]): PredicateRecord {
    this.#new++;
    checkSchemaSize('predicates', this.#schema.predicates.length + this.#new, this.#context.limits);
    return newRecord(change);
  }

  async finish(progress: (at: BulkProgress) => void = () => undefined): Promise<void> {
    const loads = [...this.#loads.values()].filter((load) => load !== undefined);
    if (loads.length === 0) return;
    const first = Number(await this.#commit({ kind: 'bulk', step: 'begin', predicates: loads.length }, []));
    try {
      await this.#write(loads, first, progress);
      const loaded = loads.map(({ record }, i) => ({ record: published(record, first + i), replaces: record.id }));
      await this.#publish(loaded);
    } catch (thrown) {
      await this.#commit({ kind: 'bulk', step: 'abandon' }, []).catch(() => undefined);
      throw thrown;
    } finally {
      this.abandon();
      await this.#context.over();
    }
  }

  async #write(loads: readonly PredicateLoad[], first: number, progress: (at: BulkProgress) => void): Promise<void> {
    const works = loads.map(({ work }) => work);
    const all = works.reduce((sum, work) => sum + work, 0);
    let [done, predicate] = [0, ''];
    const tell = () => progress({ predicate, share: done / all, keys: sink.count });
    const sink = this.#sink(tell);
    for (const [i, load] of loads.entries()) {
      predicate = load.record.name;
      tell();
      await load.write(first + i, sink);
      done += works[i];
    }
    await sink.finish();
  }

  #sink(onBatch: () => void): PutSink {
    const { batches } = this.#context;
    let batch = 0;
    return new PutSink(async (puts) => {
      onBatch();
      const part: BulkPart = { kind: 'bulk', step: 'write', load: this.#name, batch: batch++ };
      const name = batchName(part.load, part.batch);
      batches.set(name, puts);
      try {
        await this.#commit(part, []);
      } finally {
        batches.delete(name);
      }
    });
  }

  async #publish(loaded: readonly LoadedPredicate[]): Promise<void> {
    const part: BulkPart = { kind: 'bulk', step: 'finish', loaded, highest: this.#highest };
    await this.#commit(part, [
      { key: EVERYTHING, exclusive: false },
      ...loaded.map(({ record }) => ({ key: predicateKey(record.name), exclusive: true })),
    ]);
  }

  async #commit(part: BulkPart, conflicts: Parameters<Committer['commit']>[0]['conflicts']): Promise<unknown> {
    const reclaim = part.step === 'abandon';
    const committed = await this.#context.committer.commit({
      startTs: 0,
      parts: { [GRAPH]: part },
      conflicts,
      reclaim,
    });
    return committed.results[GRAPH];
  }

  abandon(): void {
    this.#loads.clear();
    this.#folder.remove();
  }
}

function newRecord(change: Extract<GraphChange, { op: 'setValue' | 'setEdge' }>): PredicateRecord {
  const { predicate: name } = change;
  if (change.op === 'setEdge') return { ...PLAIN, id: 0, name, type: 'uid', list: true };
  return { ...PLAIN, id: 0, name, type: change.value.type, lang: change.lang !== '' };
}

/** The record under its new id; neighbours are looked for afterwards, vector by vector. */
function published(record: PredicateRecord, id: number): PredicateRecord {
  const indexes = record.indexes.map((index) => (index.kind === 'hnsw' ? { ...index, ready: false } : index));
  return { ...record, id, indexes };
}
