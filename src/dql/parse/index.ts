export { outlineMutation, type ParseMutationOptions, parseMutation } from './mutation.js';
export { type ParseQueryOptions, parseQuery } from './query.js';
