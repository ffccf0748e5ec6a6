import type { Limits } from '../base/index.js';
import type { Range } from '../store/index.js';
import type { CommitState } from './commit-state.js';
import type { GroupWrites } from './group-writes.js';
import { readHeader, recordRange, timestampOf } from './record.js';

/** keys that are deleted with any group, so that idle stores get there too */
const FEWEST = 64;
/** keys read at a time */
const PAGE = 512;

/** What a group adds to the records. */
interface Added {
  readonly bytes: number;
  readonly keys: number;
}

/** What a trim left. */
interface Trimmed {
  readonly state: CommitState;
  /** wall time of a record that is not younger than any that stands */
  readonly oldestWall: number;
}

/**
 * Deletes the oldest records that are past their age or beyond the bytes to keep: at most twice the keys that the group adds (and a
 * few), so that records become fewer under any load. One with more keys than that goes in parts, by several groups.
 */
export async function trimRecords(
  writes: GroupWrites,
  state: CommitState,
  added: Added,
  limits: Limits,
): Promise<Trimmed> {
  let { trimmed, recordBytes } = state;
  recordBytes += added.bytes;
  const tooOld = state.wall - limits.recordAgeMs;
  let oldestWall = state.wall;
  for await (const { key, value } of oldestKeys(writes, Math.max(2 * added.keys, FEWEST))) {
    const commitTs = timestampOf(key);
    // with the first key all of a record is gone for those who read; the others follow
    if (commitTs > trimmed) {
      oldestWall = readHeader(value).wall;
      if (recordBytes <= limits.recordBytes && oldestWall >= tooOld) break;
      trimmed = commitTs;
    } else oldestWall = 0; // how old what comes behind is, is not known yet
    writes.put(key, undefined);
    recordBytes -= value.length;
  }
  return { state: { ...state, trimmed, recordBytes }, oldestWall };
}

async function* oldestKeys(writes: GroupWrites, most: number): AsyncIterable<{ key: Uint8Array; value: Uint8Array }> {
  let range: Range | undefined = recordRange(0);
  for (let left = most; range !== undefined && left > 0; ) {
    const page = await writes.snapshot.range({ ...range, limit: Math.min(left, PAGE) });
    for (const [i, key] of page.keys.entries()) yield { key, value: page.values[i] };
    left -= page.keys.length;
    range = page.next;
  }
}

/** Whether a look at the oldest records can lead to anything. */
export function needsTrim(state: CommitState, added: number, oldestWall: number, limits: Limits): boolean {
  return state.recordBytes + added > limits.recordBytes || oldestWall < state.wall - limits.recordAgeMs;
}
