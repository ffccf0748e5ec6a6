export type * from './contract.js';
export { type ParseQueryOptions, parseQuery } from './parse/index.js';
export type * from './syntax/index.js';
export { GLOBAL_UID, holdsCondition, runQuery, uidsOf, valueFor } from './run/index.js';
export { type WriteOptions, writeJson, writeRdf } from './write/index.js';
