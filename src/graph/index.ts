export type { Committed, IdempotencyClaim } from '../commit/index.js';
export { graphApplier, type GraphShared } from './applier.js';
export { type ChangeRecord, changeRecord, type EntryList } from './change-record.js';
export { graphFollower } from './follower.js';
export { indexConflictKey } from './conflict.js';
export type * from './contract.js';
export { createGraph, graphShared } from './graph.js';
export { isInternalName } from './internal-name.js';
export { LoggedReader, type ReadLog } from './read-log/logged-reader.js';
export { graphPart } from './part.js';
export { growsIntoList, mayHaveLanguages } from './schema.js';
export { sampleOf } from './sample.js';
export { printPredicate, printSchema } from './text/print.js';
export { COLUMN_BATCH, StoredColumn } from './stored-column.js';
export {
  concatUids,
  difference,
  distinct,
  EMPTY_UIDS,
  hasUid,
  hexUid,
  intersect,
  lowerBoundUid,
  MAX_UID,
  union,
} from './uid-list.js';
export { Watch } from './read-log/watch.js';
export { Written } from './read-log/written.js';
