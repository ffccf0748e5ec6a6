export type * from './contract.js';
export {
  KEY_FORMAT,
  KeyReader,
  KeyWriter,
  prefixEnd,
  ROOM,
  type RoomName,
  roomByteOf,
  roomPrefix,
  roomRange,
  startsWith,
} from './key.js';
export { restoreLmdbStore } from './lmdb-copy.js';
export { type LmdbStoreOptions, openLmdbStore } from './lmdb-open.js';
export { createMemoryStore, MemoryDisk, type MemoryStoreOptions } from './memory-store.js';
export { compareBytes, lowerBound } from './order.js';
export { readUint, uintLength, uintSize, writeUint } from './uint.js';
