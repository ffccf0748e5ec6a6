import { GraphsteadError } from '../base/index.js';
import type { Snapshot } from '../store/index.js';
import { readState } from './commit-state.js';
import type { CommitRecord } from './contract.js';
import { readRecords, recordKey, recordRange, timestampOf } from './record.js';

/**
 * What was committed to a store behind what a copy of it holds, oldest first. Throws INVALID_REQUEST where the copy is none of it, or
 * is ahead of it; EVENT_GAP where records in between are no longer kept.
 */
export async function* recordsBehind(copy: Snapshot, store: Snapshot): AsyncGenerator<CommitRecord> {
  await assertCopy(copy, store);
  for await (const records of readRecords(store, copy.version)) yield* records;
}

async function assertCopy(copy: Snapshot, store: Snapshot): Promise<void> {
  if (copy.version > store.version) throw noCopy('it holds commits that the store has not reached');
  const { trimmed } = await readState(store);
  if (trimmed > copy.version) throw notKept(copy.version, trimmed);
  // the last commit that the copy has, which both must have
  const { keys } = await copy.range({ ...recordRange(0), reverse: true, limit: 1, keysOnly: true });
  if (keys.length === 0) throw noCopy('it holds no record of a commit by which that could be told');
  const last = timestampOf(keys[0]);
  // all that is behind it may be there, but nothing by which that could be told
  if (trimmed >= last) throw notKept(copy.version, trimmed);
  const first = recordKey(last, 0);
  const [own, other] = [await copy.get(first), await store.get(first)];
  if (own === undefined || other === undefined || Buffer.compare(own, other) !== 0) {
    throw noCopy(`the commit ${last} is another one there, or none`);
  }
}

function noCopy(reason: string): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', `the backup is no earlier copy of that store: ${reason}`, {
    fix: 'Name the data directory that the backup was made of, or a later backup of it.',
  });
}

function notKept(version: number, trimmed: number): GraphsteadError {
  return new GraphsteadError(
    'EVENT_GAP',
    `the backup ends at ${version}, and commits up to ${trimmed} are gone there`,
    {
      fix: 'Restore a newer backup; raise limits.recordAgeMs or limits.recordBytes to keep commits for longer.',
      details: { after: version, trimmed },
    },
  );
}
