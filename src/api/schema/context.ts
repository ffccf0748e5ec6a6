import {
  GraphQLEnumType,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLOutputType,
  type TypeNode,
} from 'graphql';
import { assert } from '../../base/index.js';
import type { Field, Model, TypeRef } from '../../sdl/index.js';
import { means, type TypeMeaning } from './meaning.js';

/**
 * What is known while a schema is generated. Types are made once, by name, when something first asks for them; their
 * fields are thunks, so that circles need no order.
 */
export class Context {
  readonly #types = new Map<string, GraphQLNamedType>();

  constructor(
    readonly model: Model,
    /** true in the default mode: nested filters, orders, updates and cascades are generated */
    readonly ours: boolean,
  ) {}

  /** The type of this name, made at the first call. */
  once<T extends GraphQLNamedType>(name: string, make: () => T): T {
    const known = this.#types.get(name);
    if (known) return known as T;
    const type = make();
    assert(type.name === name, `type ${type.name} is kept as ${name}`);
    this.#types.set(name, type);
    return type;
  }

  get types(): readonly GraphQLNamedType[] {
    return [...this.#types.values()];
  }
}

/** An enum whose values are names of fields. */
export function fieldEnum(
  context: Context,
  name: string,
  fields: readonly Field[],
  extensions: GraphQLEnumType['extensions'],
): GraphQLEnumType {
  const values = Object.fromEntries(fields.map((field) => [field.name, {}]));
  return context.once(name, () => new GraphQLEnumType({ name, values, extensions }));
}

/** An input type; `fields` are asked for when all types are known. */
export function objectInput(
  context: Context,
  name: string,
  meaning: TypeMeaning,
  fields: () => GraphQLInputFieldConfigMap,
): GraphQLInputObjectType {
  return context.once(name, () => new GraphQLInputObjectType({ name, fields, extensions: means(meaning) }));
}

/** The type that a syntax node writes, with `named` for its name. */
export function wrapNode<T extends GraphQLOutputType | GraphQLInputType>(node: TypeNode, named: T): T {
  if (node.kind === 'NamedType') return named;
  const inner = wrapNode(node.type, named);
  return (node.kind === 'ListType' ? new GraphQLList(inner) : new GraphQLNonNull(inner)) as unknown as T;
}

/** A reference's lists and exclamation marks around `named`; without the outermost mark where `optional` is set. */
export function wrap<T extends GraphQLOutputType | GraphQLInputType>({ node }: TypeRef, named: T, optional = false): T {
  return wrapNode(optional && node.kind === 'NonNullType' ? node.type : node, named);
}

export const nonNull = <T extends GraphQLInputType>(type: T): GraphQLInputType =>
  new GraphQLNonNull(type as never) as GraphQLInputType;

/** A type's name as a field: its first letter in lower case. */
export const fieldName = (type: string): string => type.charAt(0).toLowerCase() + type.slice(1);
