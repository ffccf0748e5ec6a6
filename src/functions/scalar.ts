import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped } from 'graphql';

// Scalars of this room, used where the composed schema brings none of its own.

function int64(value: unknown): bigint | number {
  const fits =
    typeof value === 'bigint' || Number.isInteger(value) || (typeof value === 'string' && /^-?\d{1,19}$/.test(value));
  if (!fits) throw new GraphQLError(`Int64 cannot represent ${String(value)}`);
  const big = BigInt(value as string | number | bigint);
  if (BigInt.asIntN(64, big) !== big) throw new GraphQLError(`Int64 cannot represent ${big}: it has 64 bits`);
  return Number.isSafeInteger(Number(big)) ? Number(big) : big;
}

export const int64Scalar = new GraphQLScalarType({
  name: 'Int64',
  description: 'A whole number of 64 bits, given as a number or as text.',
  serialize: int64,
  parseValue: int64,
  parseLiteral(node) {
    if (node.kind === Kind.INT || node.kind === Kind.STRING) return int64(node.value);
    throw new GraphQLError('Int64 needs a whole number', { nodes: node });
  },
});

function dateTime(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return value;
  throw new GraphQLError(`DateTime cannot represent ${String(value)}`);
}

export const dateTimeScalar = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A time as RFC 3339 writes it.',
  serialize: dateTime,
  parseValue: dateTime,
  parseLiteral(node) {
    if (node.kind === Kind.STRING) return dateTime(node.value);
    throw new GraphQLError('DateTime needs a string', { nodes: node });
  },
});

export const jsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});
