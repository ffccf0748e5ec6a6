export { type GeneratedSchema, generateSchema } from './generate.js';
export * from './meaning.js';
export { GraphQLDateTime, GraphQLInt64 } from './scalar.js';
