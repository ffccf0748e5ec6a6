import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLUnionType,
} from 'graphql';
import { assert } from '../../base/index.js';
import type { Field, ObjectType, TypeRef, UnionType } from '../../sdl/index.js';
import { aggregateType } from './aggregate.js';
import { type Context, wrap } from './context.js';
import { argumentMap } from './argument.js';
import { enumType } from './enum.js';
import { embeddings, isStored, targetOf, unionOf } from './fact.js';
import { filterType, unionFilterType } from './filter.js';
import { GEO_TYPES } from './geo.js';
import { means } from './meaning.js';
import { orderType } from './order.js';
import { GraphQLFloat, SCALAR_TYPES } from './scalar.js';

/** The GraphQL type that a name of the definitions stands for, in answers. */
function outputType(context: Context, name: string): GraphQLOutputType {
  const known = SCALAR_TYPES[name] ?? GEO_TYPES[name] ?? enumType(context, name);
  if (known) return known;
  const type = context.model.types.get(name);
  assert(type && type.kind !== 'enum' && type.kind !== 'input', `${name} can be answered`);
  return type.kind === 'union' ? unionType(context, type) : objectType(context, type);
}

/** A reference as a field of an answer has it. */
export const outputRef = (context: Context, ref: TypeRef): GraphQLOutputType =>
  wrap(ref, outputType(context, ref.name));

export function objectType(context: Context, type: ObjectType): GraphQLObjectType | GraphQLInterfaceType {
  return context.once<GraphQLObjectType | GraphQLInterfaceType>(type.name, () => {
    const config = {
      name: type.name,
      description: type.description,
      interfaces: () => type.interfaces.map((name) => interfaceType(context, name)),
      fields: () => objectFields(context, type),
      extensions: means({ of: 'object', type }),
    };
    return type.kind === 'interface' ? new GraphQLInterfaceType(config) : new GraphQLObjectType(config);
  });
}

function interfaceType(context: Context, name: string): GraphQLInterfaceType {
  const type = context.model.object(name);
  assert(type?.kind === 'interface', `${name} is an interface`);
  return objectType(context, type) as GraphQLInterfaceType;
}

export function unionType(context: Context, union: UnionType): GraphQLUnionType {
  return context.once(
    union.name,
    () =>
      new GraphQLUnionType({
        name: union.name,
        description: union.description,
        types: () =>
          union.members.map((name) => {
            const member = context.model.object(name);
            assert(member?.kind === 'object', `${name} is a member of ${union.name}`);
            return objectType(context, member) as GraphQLObjectType;
          }),
        extensions: means({ of: 'union', type: union }),
      }),
  );
}

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

function objectFields(context: Context, type: ObjectType): GraphQLFieldConfigMap<unknown, unknown> {
  const fields: Record<string, FieldConfig> = {};
  for (const field of type.fields) {
    fields[field.name] = {
      type: outputRef(context, field.type),
      description: field.description,
      deprecationReason: field.deprecated,
      args: { ...argumentMap(context, field.arguments), ...edgeArguments(context, field) },
      extensions: means({ op: 'field', type, field }),
    };
  }
  for (const field of type.fields) addAggregate(context, type, field, fields);
  if (embeddings(type).length > 0 && !type.field('vector_distance')) {
    fields.vector_distance = {
      type: GraphQLFloat,
      description: 'How far the node is from what a similarity query asks for; null elsewhere.',
      extensions: means({ op: 'vectorDistance' }),
    };
  }
  return fields;
}

function edgeArguments(context: Context, field: Field): GraphQLFieldConfigArgumentMap {
  if (field.role !== 'edge') return {};
  const target = targetOf(context.model, field);
  if (target) return field.type.list ? listArguments(context, target) : filterArgument(context, target);
  const union = unionOf(context.model, field);
  const filter = union && unionFilterType(context, union);
  return { ...(filter ? { filter: { type: filter } } : {}), ...(field.type.list ? PAGE : {}) };
}

const PAGE: GraphQLFieldConfigArgumentMap = { first: { type: GraphQLInt }, offset: { type: GraphQLInt } };

/** `filter`, where the type has one. */
export function filterArgument(context: Context, type: ObjectType): GraphQLFieldConfigArgumentMap {
  const filter = filterType(context, type);
  return filter ? { filter: { type: filter } } : {};
}

/** What every list of nodes takes. */
export function listArguments(context: Context, type: ObjectType): GraphQLFieldConfigArgumentMap {
  const order = orderType(context, type);
  return { ...filterArgument(context, type), ...(order ? { order: { type: order } } : {}), ...PAGE };
}

/** `<field>Aggregate` beside a list of nodes. */
function addAggregate(context: Context, type: ObjectType, field: Field, fields: Record<string, FieldConfig>): void {
  const target = isStored(field) && field.type.list ? targetOf(context.model, field) : undefined;
  if (!target || target.remote) return;
  fields[`${field.name}Aggregate`] = {
    type: aggregateType(context, target),
    args: filterArgument(context, target),
    extensions: means({ op: 'edgeAggregate', type, field, target }),
  };
}
