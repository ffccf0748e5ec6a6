import { GraphsteadError, type Limits, TYPE_PREDICATE } from '../base/index.js';
import type { NodeType, Predicate, Schema } from './contract.js';

/** A predicate as it is stored: with what the store must know beside what the user declared. */
export interface PredicateRecord extends Predicate {
  /** some value has, or had, a language tag */
  readonly hasLang: boolean;
  /** some edge or value has, or had, facets */
  readonly hasFacets: boolean;
  /** its type was changed over data: values lie as they were written and are converted when they are read */
  readonly retyped: boolean;
  /** what a build has not finished yet, beside its indexes */
  readonly building: readonly ('reverse' | 'count')[];
}

/** The schema at one commit timestamp. */
export class SchemaVersion implements Schema {
  readonly #byName: ReadonlyMap<string, PredicateRecord>;
  readonly #byId: ReadonlyMap<number, PredicateRecord>;
  readonly #types: ReadonlyMap<string, NodeType>;
  readonly predicates: readonly PredicateRecord[];
  readonly types: readonly NodeType[];

  /** @param nextId the id that the next new predicate gets */
  constructor(
    readonly version: number,
    predicates: Iterable<PredicateRecord>,
    types: Iterable<NodeType>,
    readonly nextId: number,
  ) {
    this.predicates = [...predicates].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.types = [...types].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#byName = new Map(this.predicates.map((predicate) => [predicate.name, predicate]));
    this.#byId = new Map(this.predicates.map((predicate) => [predicate.id, predicate]));
    this.#types = new Map(this.types.map((type) => [type.name, type]));
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
export const EMPTY_SCHEMA = new SchemaVersion(0, [TYPE_PREDICATE_RECORD], [], TYPE_PREDICATE_RECORD.id + 1);
