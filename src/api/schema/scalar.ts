import {
  type FloatValueNode,
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat as SpecifiedFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLScalarType,
  GraphQLString,
  Kind,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { table } from '../../base/index.js';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** A number, or a bigint where a number would lose digits. Takes numbers, bigints and decimal text; `at` is its literal. */
function int64(value: unknown, at?: ValueNode): number | bigint {
  const whole =
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isInteger(value)) ||
    (typeof value === 'string' && /^[+-]?\d{1,19}$/.test(value));
  const big = whole
    ? BigInt(typeof value === 'string' ? value.replace('+', '') : (value as number | bigint))
    : undefined;
  if (big === undefined || big < INT64_MIN || big > INT64_MAX) {
    throw new GraphQLError(`Int64 cannot represent ${shown(value)}: it is no whole number of 64 bits`, { nodes: at });
  }
  const number = Number(big);
  return Number.isSafeInteger(number) ? number : big;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

export const GraphQLInt64 = new GraphQLScalarType({
  name: 'Int64',
  description:
    'A whole number of 64 bits with a sign. It may be given as a number or as text, and is answered as a number.',
  /** As text where a number would lose digits: neither JSON nor graphql-js has literals for a bigint. */
  serialize(value) {
    const whole = int64(value);
    return typeof whole === 'bigint' ? String(whole) : whole;
  },
  parseValue: (value) => int64(value),
  parseLiteral(node: ValueNode) {
    if (node.kind === Kind.INT || node.kind === Kind.STRING) return int64(node.value, node);
    throw new GraphQLError('Int64 needs a whole number', { nodes: node });
  },
});

const LONG = /^-?\d{16,}$/;

/** Whole numbers past 2^53 come as text out of a request's JSON, and JavaScript writes a Float up to 1e21 as one. */
export const GraphQLFloat = new GraphQLScalarType<number, number>({
  ...SpecifiedFloat.toConfig(),
  parseValue: (value) =>
    SpecifiedFloat.parseValue(typeof value === 'string' && LONG.test(value) ? Number(value) : value),
  parseLiteral(node, variables) {
    const value = SpecifiedFloat.parseLiteral(node, variables);
    if (Number.isFinite(value)) return value;
    const { value: text } = node as FloatValueNode;
    throw new GraphQLError(`Float cannot represent ${text}: it is larger than 1.8e308`, { nodes: node });
  },
});

function time(value: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === 'string') return value;
  throw new GraphQLError(`DateTime cannot represent ${shown(value)}: it needs a time like "2024-01-31T12:00:00Z"`);
}

/** Text is checked where it is converted, by the rules of the store. */
export const GraphQLDateTime = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A time as RFC 3339 writes it: "1985-04-12T23:20:50.52Z".',
  serialize: time,
  parseValue: time,
  parseLiteral(node: ValueNode) {
    if (node.kind === Kind.STRING) return time(node.value);
    throw new GraphQLError('DateTime needs a string', { nodes: node });
  },
});

export const AnyScalar = new GraphQLScalarType({
  name: '_Any',
  description: "An entity's __typename and key, as a federation's gateway sends it.",
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

/** The scalars that definitions name, without the geo ones, which are objects. */
export const SCALAR_TYPES = table<GraphQLScalarType>({
  ID: GraphQLID,
  Int: GraphQLInt,
  Int64: GraphQLInt64,
  Float: GraphQLFloat,
  String: GraphQLString,
  Boolean: GraphQLBoolean,
  DateTime: GraphQLDateTime,
});
