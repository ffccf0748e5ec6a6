export { type Key, KeyReader, KeyWriter, type Range, type Snapshot } from '../store/index.js';
export { readState } from './commit-state.js';
export { createCommitter } from './committer.js';
export type * from './contract.js';
export { createFollower, readOnlyStore } from './follower.js';
export { recordsBehind } from './lineage.js';
export { ABORTED, aborted } from './oracle.js';
export { readRecords } from './record.js';
export { replay } from './replay.js';
