export { type GeneratedSchema, type GenerateOptions, generateSchema } from './generate.js';
export * from './meaning.js';
export { AnyScalar, GraphQLDateTime, GraphQLInt64 } from './scalar.js';
