import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLString,
} from 'graphql';
import type { ObjectType } from '../../sdl/index.js';
import { aggregateType } from './aggregate.js';
import { type Context, fieldEnum, nonNull } from './context.js';
import { embeddings, namingFields } from './fact.js';
import { means, type RootMeaning } from './meaning.js';
import { filterArgument, listArguments, objectType } from './object.js';
import { GraphQLFloat, SCALAR_TYPES } from './scalar.js';

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;
export type RootFields = Record<string, FieldConfig>;

const OVER_INTERFACE =
  'An @id field without interface: true is unique within each type alone, so that it may name nodes of several types.';

/** getT, checkTPassword, queryT, aggregateT and the similarity queries, where they are generated. */
export function typeQueries(context: Context, type: ObjectType): RootFields {
  const { generate } = type;
  const fields: RootFields = {};
  const named = namingFields(type).length > 0;
  if (generate.get && named) fields[`get${type.name}`] = getField(context, type);
  if (generate.password && named && type.password) {
    const names = context.ours ? nameArguments(type) : firstName(type);
    const args = { ...names, [type.password.field]: { type: nonNull(GraphQLString) } };
    fields[`check${type.name}Password`] = single(context, type, 'checkPassword', args);
  }
  if (generate.query) {
    fields[`query${type.name}`] = many(context, type, 'query', listArguments(context, type));
    Object.assign(fields, similarQueries(context, type));
  }
  if (generate.aggregate) fields[`aggregate${type.name}`] = aggregateField(context, type);
  return fields;
}

/** What of them can be followed. */
export function typeSubscriptions(context: Context, type: ObjectType): RootFields {
  const { generate } = type;
  if (!generate.subscription) return {};
  const fields: RootFields = {};
  if (generate.get && namingFields(type).length > 0) fields[`get${type.name}`] = getField(context, type);
  if (generate.query) fields[`query${type.name}`] = many(context, type, 'query', listArguments(context, type));
  if (generate.aggregate) fields[`aggregate${type.name}`] = aggregateField(context, type);
  return fields;
}

type NodeOp = Exclude<RootMeaning, { op: 'custom' | 'operation' | 'entities' | 'service' }>['op'];

const single = (context: Context, type: ObjectType, op: NodeOp, args: GraphQLFieldConfigArgumentMap): FieldConfig => ({
  type: objectType(context, type),
  args,
  extensions: means({ op, type }),
});

const many = (context: Context, type: ObjectType, op: NodeOp, args: GraphQLFieldConfigArgumentMap): FieldConfig => ({
  type: new GraphQLList(objectType(context, type)),
  args,
  extensions: means({ op, type }),
});

function getField(context: Context, type: ObjectType): FieldConfig {
  const ambiguous = type.kind === 'interface' && type.xids.some((field) => !field.xid?.interface);
  return {
    ...single(context, type, 'get', nameArguments(type)),
    ...(ambiguous ? { deprecationReason: OVER_INTERFACE } : {}),
  };
}

/** The arguments that name a node: required where there is but one way. */
function nameArguments(type: ObjectType): GraphQLFieldConfigArgumentMap {
  const fields = namingFields(type);
  const ordered = [...fields.filter((f) => f === type.id), ...fields.filter((f) => f !== type.id)];
  return Object.fromEntries(
    ordered.map((field) => {
      const scalar = field === type.id ? GraphQLID : SCALAR_TYPES[field.type.name];
      return [field.name, { type: fields.length === 1 ? nonNull(scalar) : scalar }];
    }),
  );
}

/** The peer checks a password by the ID alone, or by the first @id field where there is no ID. */
function firstName(type: ObjectType): GraphQLFieldConfigArgumentMap {
  const field = type.id ?? namingFields(type)[0];
  const scalar = field === type.id ? GraphQLID : SCALAR_TYPES[field.type.name];
  return { [field.name]: { type: field.type.nonNull ? nonNull(scalar) : scalar } };
}

const aggregateField = (context: Context, type: ObjectType): FieldConfig => ({
  type: aggregateType(context, type),
  args: filterArgument(context, type),
  extensions: means({ op: 'aggregate', type }),
});

function similarQueries(context: Context, type: ObjectType): RootFields {
  const fields = embeddings(type);
  if (fields.length === 0) return {};
  const by = fieldEnum(context, `${type.name}Embedding`, fields, means({ of: 'embedding', type }));
  const args = (own: GraphQLFieldConfigArgumentMap): GraphQLFieldConfigArgumentMap => ({
    by: { type: nonNull(by) },
    topK: { type: nonNull(GraphQLInt) },
    ...own,
    ef: { type: GraphQLInt },
    distance_threshold: { type: GraphQLFloat },
    ...filterArgument(context, type),
  });
  const vector = { vector: { type: nonNull(new GraphQLList(nonNull(GraphQLFloat))) } };
  const byId = namingFields(type).length > 0;
  return {
    ...(byId
      ? { [`querySimilar${type.name}ById`]: many(context, type, 'similarById', args(nameArguments(type))) }
      : {}),
    [`querySimilar${type.name}ByEmbedding`]: many(context, type, 'similarByEmbedding', args(vector)),
  };
}
