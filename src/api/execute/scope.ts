import {
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  getNamedType,
} from 'graphql';
import { assert, GraphsteadError, type Limits, type Names } from '../../base/index.js';
import type { Block, Filter } from '../../dql/index.js';
import type { Schema } from '../../graph/index.js';
import type { Field, Model, NamedType, ObjectType, Storage } from '../../sdl/index.js';
import type { CollectScope } from './collect.js';

export type Claims = Readonly<Record<string, unknown>>;

/** Variable blocks that filters need, and fresh names for variables; one for each plan that is run. */
export class PlanParts {
  readonly blocks: Block[] = [];
  readonly #maxFilterParts: number;
  #count = 0;
  #asked = 0;
  #filterParts = 0;

  constructor({ filterParts }: Pick<Limits, 'filterParts'>) {
    this.#maxFilterParts = filterParts;
  }

  /** A variable name that no other variable of this plan has. */
  fresh(): string {
    this.#count++;
    return `v${this.#count}`;
  }

  add(block: Block): void {
    this.blocks.push(block);
  }

  /** An object of a filter. Throws LIMIT_EXCEEDED past limits.filterParts. */
  filterPart(): void {
    if (++this.#filterParts <= this.#maxFilterParts) return;
    throw new GraphsteadError(
      'LIMIT_EXCEEDED',
      `the filters of one field have more than filterParts (${this.#maxFilterParts}) parts`,
      { fix: 'Ask for many values by a list ("in", or a list of ids), or for fewer in one request.' },
    );
  }

  /** What is compiled hangs on who asks. */
  noteCaller(): void {
    this.#asked++;
  }

  /** Grows with everything that makes a plan good for one request only. */
  get notes(): number {
    return this.#count + this.blocks.length + this.#asked;
  }
}

/** Everything that compiling one root field reads. */
export interface Scope extends CollectScope {
  readonly model: Model;
  readonly graph: Schema;
  readonly names: Names;
  readonly claims: Claims | undefined;
  /** rules hold: not inside the rules themselves, and not for the app of the service */
  readonly authorized: boolean;
  /** a rule with claims in it is compiled: see `askable` */
  readonly ofClaims?: boolean;
  /** the operation uses @cascade somewhere: an edge that may not be seen must then be read as empty, not left out */
  readonly cascades: boolean;
  /** what the @cascade of a level above asks of this one */
  readonly demand?: readonly string[];
  readonly plan: PlanParts;
  /** auth filters by type and action, so that one plan computes each once */
  readonly rules: Map<string, Filter | undefined>;
}

/** A type of the definitions; a generated schema never names one that is missing. */
export function namedType(scope: Scope, name: string): NamedType {
  const type = scope.model.types.get(name);
  assert(type, `type ${name} is not in the model`);
  return type;
}

/** The type that a field's selections are of. */
export function selectedType(definition: GraphQLField<unknown, unknown>): GraphQLCompositeType {
  return getNamedType(definition.type) as GraphQLCompositeType;
}

/** An edge of a type, and the type that it leads to. */
interface Edge {
  readonly field: Field;
  readonly storage: Storage;
  readonly target: ObjectType;
}

/** The edge that a generated input names; it names no other field there. */
export function edgeOf(model: Model, type: ObjectType, name: string): Edge {
  const field = type.field(name);
  const target = field && model.object(field.type.name);
  assert(field?.storage && target, `${type.name}.${name} leads to nodes`);
  return { field, storage: field.storage, target };
}

/** The generated filter input of a type or union; undefined where nothing can be filtered. */
export function filterInput(scope: Scope, name: string): GraphQLInputObjectType | undefined {
  const type: GraphQLNamedType | undefined = scope.schema.getType(`${name}Filter`);
  return type as GraphQLInputObjectType | undefined;
}

/** Fields whose values name a node: @id, and the ID of an entity that another service of a federation owns. */
export function keyFields(type: ObjectType): readonly Field[] {
  const known = keys.get(type);
  if (known) return known;
  const entity = type.fields.filter((field) => field.role === 'scalar' && field.type.name === 'ID' && !field.xid);
  const found = entity.length > 0 ? [...type.xids, ...entity] : type.xids;
  keys.set(type, found);
  return found;
}

const keys = new WeakMap<ObjectType, readonly Field[]>();
