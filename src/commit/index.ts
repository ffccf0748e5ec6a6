export type { Key, Page, Range, Snapshot } from '../store/index.js';
export { type CommitterOptions, createCommitter } from './committer.js';
export type * from './contract.js';
export { ABORTED, aborted } from './oracle.js';
export { readRecords } from './record.js';
export { type ReplayOptions, replay } from './replay.js';
export { KeyReader, KeyWriter } from '../store/index.js';
