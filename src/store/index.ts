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
export { compareBytes, lowerBound } from './order.js';
export { readUint, uintLength, uintSize, writeUint } from './uint.js';
