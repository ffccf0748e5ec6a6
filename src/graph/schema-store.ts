import { chain, type MaybePromise, TYPE_PREDICATE } from '../base/index.js';
import type { Snapshot } from '../store/index.js';
import type { NodeType } from './contract.js';
import { META, metaKey } from './key.js';
import { EMPTY_SCHEMA, type PredicateRecord, SchemaVersion, TYPE_PREDICATE_RECORD } from './schema.js';
import type { Source } from './source.js';
import { readTexts } from './text-record.js';

/** Versions of the schema that are kept for snapshots still open. */
const KEPT = 8;

function numberOf(bytes: Uint8Array | undefined): number {
  return bytes ? Number(Buffer.from(bytes).toString()) : 0;
}

/** Reads schemas through snapshots, each version once. */
export class SchemaCache {
  readonly #versions = new Map<number, SchemaVersion>([[0, EMPTY_SCHEMA]]);
  #newest: SchemaVersion = EMPTY_SCHEMA;
  /** version of the snapshot that was read last, and what it had */
  #at = -1;
  #atSchema: SchemaVersion | undefined;

  /** The newest schema that was read or landed. */
  get newest(): SchemaVersion {
    return this.#newest;
  }

  /** A schema that a group has just made durable. */
  publish(schema: SchemaVersion): void {
    this.#versions.set(schema.version, schema);
    if (schema.version >= this.#newest.version) this.#newest = schema;
    for (const version of this.#versions.keys()) {
      if (this.#versions.size <= KEPT) break;
      if (version !== 0) this.#versions.delete(version);
    }
  }

  /** The schema of a snapshot; asked of the snapshots of one version, the store is read once. */
  readAt(snapshot: Snapshot): MaybePromise<SchemaVersion> {
    if (this.#at === snapshot.version && this.#atSchema) return this.#atSchema;
    return chain(this.read(snapshot), (schema) => {
      this.#at = snapshot.version;
      this.#atSchema = schema;
      return schema;
    });
  }

  /** The schema as the source has it. */
  read(source: Source): MaybePromise<SchemaVersion> {
    return chain(source.getMany([metaKey(META.version), metaKey(META.nextPredicate)]), ([bytes, next]) => {
      const version = numberOf(bytes);
      const known = this.#versions.get(version);
      if (known) return known;
      const nextId = numberOf(next);
      return chain(readTexts(source, META.predicate), (predicates) =>
        chain(readTexts(source, META.type), (types) => {
          const records = predicates.map((text) => JSON.parse(text) as PredicateRecord);
          if (!records.some((record) => record.name === TYPE_PREDICATE)) records.push(TYPE_PREDICATE_RECORD);
          const nodeTypes = types.map((text) => JSON.parse(text) as NodeType);
          const schema = SchemaVersion.of(version, records, nodeTypes, nextId);
          this.publish(schema);
          return schema;
        }),
      );
    });
  }
}
