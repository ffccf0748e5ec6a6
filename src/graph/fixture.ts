import { type Clock, defaultNames, type Limits, makeLimits, type Names, systemClock } from '../base/index.js';
import { type Committer, createCommitter } from '../commit/index.js';
import { createMemoryStore, MemoryDisk, type Store } from '../store/index.js';
import { decodeValue, type Value, valueText } from '../values/index.js';
import { graphApplier } from './applier.js';
import type { Graph, GraphChange, GraphReader } from './contract.js';
import { createGraph, graphShared } from './graph.js';

/** A graph over a store in memory, for tests. */
export interface GraphFixture {
  readonly graph: Graph;
  readonly committer: Committer;
  readonly store: Store;
  readonly disk: MemoryDisk;
  close(): Promise<void>;
}

interface FixtureOptions {
  readonly disk?: MemoryDisk;
  readonly store?: Store;
  readonly clock?: Clock;
  readonly names?: Names;
  readonly limits?: Partial<Record<keyof Limits, number>>;
}

export async function openFixture(options: FixtureOptions = {}): Promise<GraphFixture> {
  const limits = makeLimits(options.limits);
  const disk = options.disk ?? new MemoryDisk();
  const store = options.store ?? createMemoryStore({ disk });
  const clock = options.clock ?? systemClock;
  const shared = graphShared(limits);
  const committer = await createCommitter({ store, appliers: [graphApplier(shared)], clock, limits });
  const graph = await createGraph({ committer, shared, clock, names: options.names ?? defaultNames });
  const close = async () => {
    await graph.close();
    await committer.close();
    await store.close();
  };
  return { graph, committer, store, disk, close };
}

export function text(value: string): Value {
  return { type: 'default', value };
}

export function setValue(uid: number, predicate: string, value: Value | string, lang = ''): GraphChange {
  return { op: 'setValue', uid, predicate, value: typeof value === 'string' ? text(value) : value, lang };
}

export function setEdge(uid: number, predicate: string, object: number): GraphChange {
  return { op: 'setEdge', uid, predicate, object };
}

/** Stages and commits changes in a transaction of their own. */
export async function write(graph: Graph, ...changes: readonly GraphChange[]): Promise<number> {
  const transaction = await graph.begin();
  try {
    await transaction.stage(changes);
    return (await transaction.commit()).commitTs;
  } finally {
    transaction.abort();
  }
}

/** Runs a function on a reader of the newest state. */
export async function read<T>(graph: Graph, run: (reader: GraphReader) => Promise<T> | T): Promise<T> {
  const transaction = await graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  try {
    return await run(reader);
  } finally {
    reader.release();
    transaction.abort();
  }
}

/** Values of a uid as text, all languages and members: "lang:text". */
export async function valuesOf(reader: GraphReader, predicate: string, uid: number): Promise<string[]> {
  const record = reader.schema.predicate(predicate);
  if (!record) return [];
  const [values] = await reader.allValues(record, Float64Array.of(uid));
  return values.map(({ lang, value }) => `${lang}:${valueText(decodeValue(value))}`);
}

/** Edges of a uid. */
export async function edgesOf(reader: GraphReader, predicate: string, uid: number, reverse = false): Promise<number[]> {
  const record = reader.schema.predicate(predicate);
  if (!record) return [];
  const { rows } = await reader.edges(record, Float64Array.of(uid), { reverse });
  return [...rows[0]];
}

/** Uids under the tokens of an index for a text or number. */
export async function found(reader: GraphReader, predicate: string, kind: string, token: string): Promise<number[]> {
  const record = reader.schema.predicate(predicate);
  if (!record) return [];
  const [uids] = await reader.postings(record, kind as never, [Buffer.from(token)]);
  return [...uids];
}

/** Everything that a paged answer holds. */
export async function collect(pages: AsyncIterable<Iterable<number>>): Promise<number[]> {
  const all: number[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

/** A clock that stands where a test sets it, in milliseconds. */
export class FakeClock implements Clock {
  now = 1_000;
  wall(): number {
    return this.now;
  }
  monotonic(): number {
    return this.now;
  }
}
