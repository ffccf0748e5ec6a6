import { GraphsteadError, type Limits, TYPE_PREDICATE } from '../base/index.js';
import type { NodeType, Predicate, Schema } from './contract.js';
import { LayeredMap } from './layered-map.js';

/** A predicate as it is stored: with what the store must know beside what the user declared. */
export interface PredicateRecord extends Predicate {
  /** some value has, or had, a language tag */
  readonly hasLang: boolean;
  /** some edge or value has, or had, facets */
  readonly hasFacets: boolean;
  /** its type was changed over data: values lie as they were written and are converted when they are read */
  readonly retyped: boolean;
  /** what a build has not finished yet, beside its indexes; of a list, that not all values are members of its type */
  readonly building: readonly ('reverse' | 'count' | 'list')[];
}

/** Some values of the list may still lie as single values, or as members of another type: an alter made it what it is. */
export function isSettling({ list, building }: PredicateRecord): boolean {
  return list && building.includes('list');
}

/** Records by name that are new or changed, undefined for those that are gone. */
type SchemaEdits<T> = ReadonlyMap<string, T | undefined>;

/** The schema at one commit timestamp. */
export class SchemaVersion implements Schema {
  readonly #byName: LayeredMap<string, PredicateRecord>;
  readonly #byId: LayeredMap<number, PredicateRecord>;
  readonly #types: LayeredMap<string, NodeType>;

  private constructor(
    readonly version: number,
    /** in the order of their names, as the types are */
    readonly predicates: readonly PredicateRecord[],
    readonly types: readonly NodeType[],
    /** the id that the next new predicate gets */
    readonly nextId: number,
    maps: readonly [
      LayeredMap<string, PredicateRecord>,
      LayeredMap<number, PredicateRecord>,
      LayeredMap<string, NodeType>,
    ],
  ) {
    [this.#byName, this.#byId, this.#types] = maps;
  }

  static of(version: number, predicates: Iterable<PredicateRecord>, types: Iterable<NodeType>, nextId: number) {
    const [records, nodeTypes] = [sorted(predicates), sorted(types)];
    return new SchemaVersion(version, records, nodeTypes, nextId, [
      LayeredMap.of(records.map((record) => [record.name, record])),
      LayeredMap.of(records.map((record) => [record.id, record])),
      LayeredMap.of(nodeTypes.map((type) => [type.name, type])),
    ]);
  }

  /** The schema that comes after this one. */
  with(
    version: number,
    predicates: SchemaEdits<PredicateRecord>,
    types: SchemaEdits<NodeType>,
    nextId: number,
  ): SchemaVersion {
    return new SchemaVersion(version, edited(this.predicates, predicates), edited(this.types, types), nextId, [
      this.#byName.with(predicates),
      this.#byId.with(this.#editsById(predicates)),
      this.#types.with(types),
    ]);
  }

  #editsById(edits: SchemaEdits<PredicateRecord>): Map<number, PredicateRecord | undefined> {
    const byId = new Map<number, PredicateRecord | undefined>();
    for (const name of edits.keys()) {
      const before = this.predicate(name);
      if (before) byId.set(before.id, undefined);
    }
    for (const record of edits.values()) if (record) byId.set(record.id, record);
    return byId;
  }

  predicate(name: string): PredicateRecord | undefined {
    return this.#byName.get(name);
  }

  predicateById(id: number): PredicateRecord | undefined {
    return this.#byId.get(id);
  }

  type(name: string): NodeType | undefined {
    return this.#types.get(name);
  }
}

function sorted<T extends { readonly name: string }>(records: Iterable<T>): T[] {
  return [...records].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Records in the order of their names, with the edits in their places. */
function edited<T extends { readonly name: string }>(records: readonly T[], edits: SchemaEdits<T>): readonly T[] {
  if (edits.size === 0) return records;
  const all: T[] = [];
  let at = 0;
  for (const name of [...edits.keys()].sort((a, b) => (a < b ? -1 : 1))) {
    while (at < records.length && records[at].name < name) all.push(records[at++]);
    if (records[at]?.name === name) at++;
    const record = edits.get(name);
    if (record) all.push(record);
  }
  while (at < records.length) all.push(records[at++]);
  return all;
}

/** Throws LIMIT_EXCEEDED. */
export function checkSchemaSize(
  what: 'predicates' | 'types' | 'fields in a type',
  count: number,
  limits: Limits,
): void {
  if (count <= limits.predicates) return;
  throw new GraphsteadError(
    'LIMIT_EXCEEDED',
    `the schema would have more than ${limits.predicates} ${what} (limits.predicates)`,
    {
      fix: 'Give nodes of one kind the same predicates, and keep what tells them apart in values; drop what is not used.',
    },
  );
}

/** What a new predicate has unless it says otherwise. */
export const PLAIN: Omit<PredicateRecord, 'id' | 'name'> = {
  type: 'default',
  list: false,
  indexes: [],
  reverse: false,
  count: false,
  lang: false,
  upsert: false,
  unique: false,
  noconflict: false,
  hasLang: false,
  hasFacets: false,
  retyped: false,
  building: [],
};

/** Values of these types come one at a time. */
const ALONE: ReadonlySet<string> = new Set(['bool', 'password', 'float32vector', 'uid']);

/** Whether a predicate that nobody declared may hold lists of values of a type. */
export function growsIntoList(type: string): boolean {
  return !ALONE.has(type);
}

/** Whether @lang may stand at a predicate: what has it holds one text for each language. */
export function mayHaveLanguages({ type, list }: Pick<Predicate, 'type' | 'list'>): boolean {
  return (type === 'string' || type === 'default') && !list;
}

/** `service.type: [string] @index(exact)`, which every graph has; its id moves when its data is dropped. */
export const TYPE_PREDICATE_RECORD: PredicateRecord = {
  ...PLAIN,
  id: 1,
  name: TYPE_PREDICATE,
  type: 'string',
  list: true,
  indexes: [{ kind: 'exact', options: {}, ready: true }],
};

/** The schema of an empty graph. */
export const EMPTY_SCHEMA = SchemaVersion.of(0, [TYPE_PREDICATE_RECORD], [], TYPE_PREDICATE_RECORD.id + 1);
