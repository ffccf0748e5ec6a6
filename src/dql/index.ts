export type * from './contract.js';
export { type ParseQueryOptions, parseQuery } from './parse/index.js';
export type * from './syntax/index.js';
