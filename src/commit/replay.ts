import { type Limits, makeLimits } from '../base/index.js';
import type { Store } from '../store/index.js';
import { type CommitState, readState } from './commit-state.js';
import type { Applier, CommitRecord } from './contract.js';
import { type Entry, Group, EntryRefused } from './group.js';
import { encodeBody } from './record.js';

interface ReplayOptions {
  readonly store: Store;
  readonly appliers: readonly Applier[];
  readonly limits?: Limits;
}

/**
 * Applies records, oldest first, to a store that holds everything before them (an empty one for all records). Records that
 * landed in one batch are merged in one again: the keys are then those of the store that they came from. Answers with the
 * timestamp of the last one.
 */
export async function replay(
  records: AsyncIterable<CommitRecord> | Iterable<CommitRecord>,
  options: ReplayOptions,
): Promise<number> {
  const { store, limits = makeLimits() } = options;
  const appliers = new Map(options.appliers.map((applier) => [applier.name, applier]));
  const first = store.snapshot();
  let state = await readState(first);
  let last = first.version;
  first.release();
  const land = async (batch: readonly CommitRecord[]): Promise<void> => {
    if (batch.length === 0) return;
    const group = new Group(store.snapshot(), appliers, limits);
    try {
      state = await replayGroup(group, batch, state, store);
    } catch (thrown) {
      group.failed();
      throw thrown instanceof EntryRefused ? thrown.reason : thrown;
    }
    group.landed();
    last = batch[batch.length - 1].commitTs;
  };
  let batch: CommitRecord[] = [];
  for await (const record of records) {
    if (!record.together) {
      await land(batch);
      batch = [];
    }
    batch.push(record);
  }
  await land(batch);
  return last;
}

async function replayGroup(
  group: Group<Entry>,
  records: readonly CommitRecord[],
  state: CommitState,
  store: Store,
): Promise<CommitState> {
  const entries = records.map(({ parts, idempotency }) => {
    const body = encodeBody(idempotency === undefined ? { parts } : { parts, idempotency });
    return { parts, idempotency, body };
  });
  await group.prepare(entries);
  for (let i = 0; i < records.length; i++) await group.admit(entries[i], records[i]);
  const { commitTs, wall } = records[records.length - 1];
  const done = await group.finish(commitTs, { ...state, wall, lease: Math.max(state.lease, commitTs) }, false);
  await store.apply(done.batch, { expectEpoch: store.epoch });
  return done.state;
}
