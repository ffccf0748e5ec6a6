import { STEP, type Steps } from '../base/index.js';
import type { NodeType } from './contract.js';
import { META, metaKey, namedKey } from './key.js';
import { PLAIN, type PredicateRecord, type SchemaVersion } from './schema.js';
import type { PutKey } from './source.js';
import { putText, textChunks } from './text-record.js';

/** Changes to a schema on their way into one group. */
export class SchemaDraft {
  readonly #base: SchemaVersion;
  #predicates = new Map<string, PredicateRecord | undefined>();
  #types = new Map<string, NodeType | undefined>();
  #nextId: number;
  #edits = 0;

  constructor(base: SchemaVersion) {
    this.#base = base;
    this.#nextId = base.nextId;
  }

  /** Grows with every change. */
  get edits(): number {
    return this.#edits;
  }

  get changed(): boolean {
    return this.#predicates.size > 0 || this.#types.size > 0 || this.#nextId !== this.#base.nextId;
  }

  predicate(name: string): PredicateRecord | undefined {
    return this.#predicates.has(name) ? this.#predicates.get(name) : this.#base.predicate(name);
  }

  predicateById(id: number): PredicateRecord | undefined {
    for (const record of this.#predicates.values()) if (record?.id === id) return record;
    const record = this.#base.predicateById(id);
    return record && this.predicate(record.name)?.id === id ? this.predicate(record.name) : undefined;
  }

  /** Names of all predicates. */
  names(): string[] {
    const all = new Set([...this.#base.predicates.map((record) => record.name), ...this.#predicates.keys()]);
    return [...all].filter((name) => this.predicate(name) !== undefined);
  }

  /** Names of all types. */
  typeNames(): string[] {
    const all = new Set([...this.#base.types.map((type) => type.name), ...this.#types.keys()]);
    return [...all].filter((name) => this.type(name) !== undefined);
  }

  type(name: string): NodeType | undefined {
    return this.#types.has(name) ? this.#types.get(name) : this.#base.type(name);
  }

  /** A predicate that did not exist; it gets the next id. */
  create(name: string, draft: Partial<PredicateRecord>): PredicateRecord {
    const record: PredicateRecord = { ...PLAIN, ...draft, id: this.#nextId++, name };
    this.#edits++;
    this.#predicates.set(name, record);
    return record;
  }

  /** First of so many ids that no predicate gets unless it is given one of them. */
  reserveIds(count: number): number {
    const first = this.#nextId;
    this.#nextId += count;
    this.#edits++;
    return first;
  }

  update(record: PredicateRecord): void {
    this.#edits++;
    this.#predicates.set(record.name, record);
  }

  /** The predicate goes on, empty, under a new id; answers the old id. */
  renew(record: PredicateRecord): number {
    this.#edits++;
    this.#predicates.set(record.name, {
      ...record,
      id: this.#nextId++,
      hasLang: false,
      hasFacets: false,
      retyped: false,
      building: [],
    });
    return record.id;
  }

  removePredicate(name: string): void {
    this.#edits++;
    this.#predicates.set(name, undefined);
  }

  setType(type: NodeType): void {
    this.#edits++;
    this.#types.set(type.name, type);
  }

  removeType(name: string): void {
    this.#edits++;
    this.#types.set(name, undefined);
  }

  /** A way back to how the draft is now. */
  mark(): () => void {
    const predicates = new Map(this.#predicates);
    const types = new Map(this.#types);
    const nextId = this.#nextId;
    return () => {
      this.#predicates = predicates;
      this.#types = types;
      this.#nextId = nextId;
    };
  }

  /** The schema with the changes; the base itself when there are none. */
  finish(version: number): SchemaVersion {
    if (!this.changed) return this.#base;
    return this.#base.with(version, this.#predicates, this.#types, this.#nextId);
  }

  /** Writes the records that changed. */
  *write(version: number, put: PutKey): Steps<void> {
    if (!this.changed) return;
    let count = 0;
    for (const [name, record] of this.#predicates) {
      if (++count % STEP === 0) yield;
      const before = this.#base.predicate(name);
      if (before && before.id !== record?.id) putPredicate(before.id, undefined, before, put);
      if (record) putPredicate(record.id, record, before, put);
    }
    for (const [name, type] of this.#types) {
      if (++count % STEP === 0) yield;
      const before = this.#base.type(name);
      putText(namedKey(META.type, name), textOf(type), textChunks(textOf(before)), put);
    }
    put(metaKey(META.version), Buffer.from(String(version)));
    put(metaKey(META.nextPredicate), Buffer.from(String(this.#nextId)));
  }
}

function textOf(record: unknown): string | undefined {
  return record === undefined ? undefined : JSON.stringify(record);
}

function putPredicate(
  id: number,
  record: PredicateRecord | undefined,
  before: PredicateRecord | undefined,
  put: PutKey,
): void {
  const chunks = before?.id === id ? textChunks(textOf(before)) : 0;
  putText(metaKey(META.predicate, id), textOf(record), chunks, put);
}
