import { GraphQLScalarType, valueFromASTUntyped } from 'graphql';

/** What functions and agents give that has no other type. */
export const jsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});
