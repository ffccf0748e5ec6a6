export type * from './contract.js';
export { copyFailure, storeFailure } from './failure.js';
export { KeyReader, KeyWriter, prefixEnd } from './key.js';
export { restoreLmdbStore } from './lmdb-copy.js';
export { openLmdbStore } from './lmdb-open.js';
export { createMemoryStore, MemoryDisk, type MemoryStoreOptions } from './memory-store.js';
export { compareBytes, lowerBound } from './order.js';
export { writeUint } from './uint.js';
