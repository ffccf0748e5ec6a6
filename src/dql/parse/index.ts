export { outlineMutation, parseMutation, parseMutationSteps } from './mutation.js';
export { type ParseQueryOptions, parseQuery, parseQuerySteps } from './query.js';
