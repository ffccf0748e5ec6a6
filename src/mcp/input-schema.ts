import {
  type GraphQLArgument,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import type { JsonSchema } from './contract.js';

/** The GraphQL scalars as JSON writes them; any other takes whatever JSON can say. */
const SCALARS: Readonly<Record<string, JsonSchema>> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer' },
  // beyond 2^53 only a text keeps every digit
  Int64: { type: ['integer', 'string'] },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
};

/** JSON Schema (2020-12) of an object with these arguments. Input types stand once each, in `$defs`: they may hold themselves. */
export function inputSchema(args: readonly GraphQLArgument[]): JsonSchema {
  const $defs: Record<string, JsonSchema> = {};
  const schema = objectOf(args, isRequiredArgument, $defs);
  return Object.keys($defs).length === 0 ? schema : { ...schema, $defs };
}

function objectOf<F extends GraphQLArgument | GraphQLInputField>(
  fields: readonly F[],
  isRequired: (field: F) => boolean,
  $defs: Record<string, JsonSchema>,
): JsonSchema {
  const required = fields.filter(isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, $defs)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function fieldSchema(
  { type, description, defaultValue }: GraphQLArgument | GraphQLInputField,
  $defs: Record<string, JsonSchema>,
): JsonSchema {
  return {
    ...typeSchema(type, $defs),
    ...(description ? { description } : {}),
    ...(defaultValue === undefined || defaultValue === null ? {} : { default: shownDefault(type, defaultValue) }),
  };
}

function typeSchema(type: GraphQLInputType, $defs: Record<string, JsonSchema>): JsonSchema {
  if (isNonNullType(type)) return typeSchema(type.ofType, $defs);
  if (isListType(type)) return { type: 'array', items: typeSchema(type.ofType, $defs) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (type instanceof GraphQLInputObjectType) return referenceTo(type, $defs);
  return SCALARS[type.name] ?? {};
}

function referenceTo(type: GraphQLInputObjectType, $defs: Record<string, JsonSchema>): JsonSchema {
  if (!Object.hasOwn($defs, type.name)) {
    $defs[type.name] = {}; // before its fields are looked at: one of them may be of this type
    const { description } = type;
    const object = objectOf(Object.values(type.getFields()), isRequiredInputField, $defs);
    $defs[type.name] = description ? { description, ...object } : object;
  }
  return { $ref: `#/$defs/${type.name}` };
}

/** A default is kept as app code has it: an enum's value is told by its GraphQL name. */
function shownDefault(type: GraphQLInputType, value: unknown): unknown {
  const nullable = isNonNullType(type) ? type.ofType : type;
  const shown = isLeafType(nullable) ? nullable.serialize(value) : value;
  return typeof shown === 'bigint' ? shown.toString() : shown;
}
