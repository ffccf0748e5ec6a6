import { inSteps, type Limits, Yielder } from '../base/index.js';
import type { Applier, GroupState, GroupWork, Key } from '../commit/index.js';
import { applyAlter } from './alter/apply-alter.js';
import { JobCache, type JobTable } from './alter/job.js';
import { applyStep, type KeySpan } from './alter/step.js';
import { applyBulk, type BulkBatches } from './bulk/apply-bulk.js';
import type { BulkPart } from './bulk/part.js';
import type { ChangesPart } from './delta.js';
import { META, metaKey, namedKey } from './key.js';
import { RAISE_END } from './lease.js';
import { GroupMerge } from './merge/group-merge.js';
import { GRAPH, type GraphPart } from './part.js';
import type { SchemaVersion } from './schema.js';
import { SchemaDraft } from './schema-draft.js';
import type { SchemaCache } from './schema-store.js';
import { putText, readText, textChunks } from './text-record.js';

/** What the applier tells the graph after each group that landed. */
export interface GraphChanged {
  readonly version: number;
  /** names of predicates that the group touched */
  readonly predicates: ReadonlySet<string>;
}

/** What graph and applier share: made first, handed to both. */
export interface GraphShared {
  readonly limits: Limits;
  readonly schemas: SchemaCache;
  /** finished keys of bulk loads on their way into a group */
  readonly bulk: BulkBatches;
  /** called after each group that landed, in order */
  landed: (changed: GraphChanged) => void;
}

/** The graph's applier; register it with the committer before the graph is created on it. */
export function graphApplier(shared: GraphShared): Applier<GraphPart, unknown> {
  const jobs = new JobCache();
  return { name: GRAPH, begin: (state) => new GraphWork(shared, state, jobs) };
}

class GraphWork implements GroupWork<GraphPart, unknown> {
  readonly #shared: GraphShared;
  readonly #state: GroupState;
  readonly #jobCache: JobCache;
  readonly #touched = new Set<string>();
  #ready: Promise<void> | undefined;
  #merge!: GroupMerge;
  #draft!: SchemaDraft;
  #jobs!: JobTable;
  #uids = 1;
  #storedUids = 1;
  #lastTs = 0;
  /** timestamp of the last part that changed the schema: its version */
  #schemaTs = 0;
  #finished: SchemaVersion | undefined;
  readonly #documentChunks = new Map<string, number>();
  readonly #swept: KeySpan[] = [];

  constructor(shared: GraphShared, state: GroupState, jobCache: JobCache) {
    this.#shared = shared;
    this.#jobCache = jobCache;
    this.#state = state;
  }

  async prepare(): Promise<void> {
    this.#ready ??= this.#open();
    await this.#ready;
  }

  async #open(): Promise<void> {
    const { snapshot } = this.#state;
    const uids = await snapshot.get(metaKey(META.uids));
    this.#storedUids = this.#uids = uids ? Number(Buffer.from(uids).toString()) : 1;
    this.#draft = new SchemaDraft(await this.#shared.schemas.readAt(snapshot));
    this.#merge = new GroupMerge(snapshot, this.#draft, this.#shared.limits);
    this.#jobs = await this.#jobCache.table(snapshot);
  }

  async apply(part: GraphPart, commitTs: number): Promise<unknown> {
    await this.prepare();
    const edits = this.#draft.edits;
    const result = await this.#applyPart(part);
    if (this.#draft.edits > edits) this.#schemaTs = commitTs;
    this.#lastTs = commitTs;
    return result;
  }

  async #applyPart(part: GraphPart): Promise<unknown> {
    switch (part.kind) {
      case 'changes':
        await this.#merge.apply(part, true);
        this.#raise(part);
        for (const name of part.names) this.#touched.add(name);
        return undefined;
      case 'lease':
        return { first: this.#leased(part.count) };
      case 'document':
        return await this.#document(part.name, part.text);
      case 'alter': {
        const names = await applyAlter(part, { ...this.#turn, limits: this.#shared.limits });
        for (const name of names) this.#touched.add(name);
        if (part.document) await this.#document(part.document.name, part.document.text);
        return undefined;
      }
      case 'step':
        return await applyStep(part, this.#turn);
      case 'bulk':
        return await this.#bulk(part);
    }
  }

  get #turn() {
    return { state: this.#state, draft: this.#draft, jobs: this.#jobs, merge: this.#merge, swept: this.#swept };
  }

  async #bulk(part: BulkPart): Promise<unknown> {
    const { result, highest, names } = await applyBulk(part, { ...this.#turn, batches: this.#shared.bulk });
    if (highest >= this.#uids) this.#uids = highest + 1;
    for (const name of names) this.#touched.add(name);
    return result;
  }

  #leased(count: number): number {
    const first = this.#uids;
    this.#uids += count;
    return first;
  }

  /** Uids that clients chose themselves are not leased later. */
  #raise(part: ChangesPart): void {
    let highest = 0;
    for (let i = 0; i < part.uids.length; i++) {
      const uid = Math.max(part.uids[i], part.objects[i]);
      if (uid > highest && uid < RAISE_END) highest = uid;
    }
    if (highest >= this.#uids) this.#uids = highest + 1;
  }

  async #document(name: string, text: string): Promise<void> {
    const key = namedKey(META.document, name);
    // an earlier part of this group may have put a longer text: what the store has is what must be covered
    const before = textChunks(await readText(this.#state.snapshot, key));
    const written = this.#documentChunks.get(name) ?? before;
    putText(key, text, Math.max(before, written), (k, v) => this.#state.put(k, v));
    this.#documentChunks.set(name, textChunks(text));
  }

  async flush(): Promise<void> {
    await this.prepare();
    const put = (key: Uint8Array, value: Uint8Array | undefined) => this.#state.put(key, value);
    await this.#merge.flush((key, value) => {
      // a build that comes behind the sweep makes it anew; put here, it would bring back what the sweep takes away
      if (!this.#swept.some((span) => isWithin(key, span))) put(key, value);
    }, this.#lastTs);
    this.#jobs.write(put);
    const yielder = new Yielder(this.#shared.limits.yieldMs);
    await inSteps(this.#draft.write(this.#schemaTs, put), () => yielder.due());
    if (this.#uids !== this.#storedUids) put(metaKey(META.uids), Buffer.from(String(this.#uids)));
    if (this.#draft.changed) this.#finished = this.#draft.finish(this.#schemaTs);
  }

  landed(): void {
    this.#jobCache.landed(this.#jobs);
    if (this.#finished) this.#shared.schemas.publish(this.#finished);
    this.#shared.landed({ version: this.#lastTs, predicates: this.#touched });
  }

  failed(): void {
    this.#jobCache.forget();
  }
}

function isWithin(key: Key, { start, end }: KeySpan): boolean {
  return Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0;
}
