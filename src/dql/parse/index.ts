export { type ParseQueryOptions, parseQuery } from './query.js';
