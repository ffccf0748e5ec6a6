export {
  compareBytes,
  type Key,
  KeyReader,
  KeyWriter,
  type Page,
  prefixEnd,
  type Range,
  type Snapshot,
  startsWith,
} from '../store/index.js';
export { type CommitterOptions, createCommitter } from './committer.js';
export type * from './contract.js';
export { ABORTED, aborted } from './oracle.js';
export { readRecords } from './record.js';
export { type ReplayOptions, replay } from './replay.js';
