import { type Limits, makeLimits } from '../base/index.js';
import type { Store } from '../store/index.js';
import { readState } from './commit-state.js';
import type { Applier, CommitRecord } from './contract.js';
import { Group, Spoiled } from './group.js';
import { encodeBody } from './record.js';

export interface ReplayOptions {
  readonly store: Store;
  readonly appliers: readonly Applier[];
  readonly limits?: Limits;
}

/**
 * Applies records, oldest first, to a store that holds everything before them (an empty one for all records). The keys are
 * then those of the store that the records came from. Answers with the timestamp of the last one.
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
  for await (const { commitTs, wall, parts, idempotency } of records) {
    const body = encodeBody({ parts, idempotency });
    const group = new Group(store.snapshot(), appliers, limits);
    const entry = { parts, idempotency, body };
    try {
      await group.prepare([entry]);
      await group.admit(entry, { commitTs, wall });
      const done = await group.finish(commitTs, { ...state, wall, lease: Math.max(state.lease, commitTs) }, false);
      await store.apply(done.batch, { expectEpoch: store.epoch });
      state = done.state;
    } catch (thrown) {
      group.failed();
      throw thrown instanceof Spoiled ? thrown.reason : thrown;
    }
    group.landed();
    last = commitTs;
  }
  return last;
}
