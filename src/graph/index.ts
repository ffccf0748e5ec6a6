export type { Committed, ConflictKey, IdempotencyClaim } from '../commit/index.js';
export type * from './contract.js';
