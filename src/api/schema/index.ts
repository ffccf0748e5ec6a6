export { type GeneratedSchema, generateInSteps, generateSchema } from './generate.js';
export * from './meaning.js';
export { GraphQLDateTime, GraphQLFloat, GraphQLInt64 } from './scalar.js';
