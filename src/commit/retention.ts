import type { Limits } from '../base/index.js';
import type { CommitState } from './commit-state.js';
import type { GroupWrites } from './group-writes.js';
import { chunkCount, readHeader, recordKeys, recordRange, timestampOf } from './record.js';

const PAGE = 64;
const FEWEST_BYTES = 64 * 1024;

/** What a trim left. */
interface Trimmed {
  readonly state: CommitState;
  /** wall time of a record that is not younger than any that stands */
  readonly oldestWall: number;
}

/**
 * Deletes the oldest records that are past their age or beyond the bytes to keep: at most twice the bytes that the group
 * adds (and a little, so that idle stores get there too).
 */
export async function trimRecords(
  writes: GroupWrites,
  state: CommitState,
  added: number,
  limits: Limits,
): Promise<Trimmed> {
  let { trimmed, recordBytes } = state;
  recordBytes += added;
  let budget = Math.max(2 * added, FEWEST_BYTES);
  const tooOld = state.wall - limits.recordAgeMs;
  let oldestWall = state.wall;
  for (const { commitTs, wall, bytes } of await oldestRecords(writes, trimmed)) {
    oldestWall = wall;
    if ((recordBytes <= limits.recordBytes && wall >= tooOld) || bytes > budget) break;
    for (const key of recordKeys(commitTs, bytes)) writes.put(key, undefined);
    trimmed = commitTs;
    recordBytes -= bytes;
    budget -= bytes;
  }
  return { state: { ...state, trimmed, recordBytes }, oldestWall };
}

interface OldRecord {
  readonly commitTs: number;
  readonly wall: number;
  readonly bytes: number;
}

/** The first records behind `trimmed`, of which the first chunk tells all that is needed. */
async function oldestRecords(writes: GroupWrites, trimmed: number): Promise<OldRecord[]> {
  const page = await writes.snapshot.range({ ...recordRange(trimmed), limit: PAGE });
  const records: OldRecord[] = [];
  for (let i = 0; i < page.keys.length; ) {
    const { wall, bytes } = readHeader(page.values[i]);
    records.push({ commitTs: timestampOf(page.keys[i]), wall, bytes });
    i += chunkCount(bytes);
  }
  return records;
}

/** Whether a look at the oldest records can lead to anything. */
export function needsTrim(state: CommitState, added: number, oldestWall: number, limits: Limits): boolean {
  return state.recordBytes + added > limits.recordBytes || oldestWall < state.wall - limits.recordAgeMs;
}
