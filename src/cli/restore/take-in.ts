import { agentsApplier } from '../../agents/index.js';
import { GraphsteadError, type Limits, makeLimits } from '../../base/index.js';
import { type CommitRecord, readState, recordsBehind, replay } from '../../commit/index.js';
import { graphApplier, graphShared } from '../../graph/index.js';
import { openLmdbStore, type Snapshot, type Store } from '../../store/index.js';
import { isWithin, type Moment } from './moment.js';

export interface TakenIn {
  readonly commits: number;
  /** the last of them; absent where there is none */
  readonly last?: { readonly commitTs: number; readonly wall: string };
}

/**
 * Brings a copy forward by what was committed to the store that it was made of, up to a moment; undefined is all that there is. Agents
 * come along, since each record is complete. Throws INVALID_REQUEST, EVENT_GAP.
 */
export async function takeIn(copy: string, directory: string, until: Moment | undefined): Promise<TakenIn> {
  const limits = makeLimits({}, process.env);
  const source = await openLmdbStore(directory, { limits, readOnly: true });
  try {
    const target = await openLmdbStore(copy, { limits });
    try {
      return await between(target, source, until, limits);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function between(target: Store, source: Store, until: Moment | undefined, limits: Limits): Promise<TakenIn> {
  const [before, now] = [target.snapshot(), source.snapshot()];
  let commits = 0;
  let last: CommitRecord | undefined;
  async function* wanted(): AsyncGenerator<CommitRecord> {
    for await (const record of recordsBehind(before, now)) {
      if (until && !isWithin(until, record)) return;
      commits++;
      last = record;
      yield record;
    }
  }
  try {
    if (until) await assertBetween(until, before, now, source.incarnation);
    const appliers = [graphApplier(graphShared(limits)), agentsApplier(limits)];
    await replay(wanted(), { store: target, appliers, limits });
  } finally {
    before.release();
    now.release();
  }
  if (last === undefined) return { commits };
  return { commits, last: { commitTs: last.commitTs, wall: new Date(last.wall).toISOString() } };
}

/** A copy cannot be brought back, nor further than there are commits. Throws INVALID_REQUEST. */
async function assertBetween(until: Moment, before: Snapshot, now: Snapshot, incarnation: string): Promise<void> {
  if (until.incarnation !== undefined && until.incarnation !== incarnation) {
    throw outOfReach(`${until.text} is an id of another store, or of another life of this one`, 'name a time');
  }
  const { wall } = await readState(before);
  if (until.commitTs < before.version || until.wall < wall) {
    const fix = 'restore an earlier backup';
    throw outOfReach(`the backup holds commits up to ${new Date(wall).toISOString()}, behind ${until.text}`, fix);
  }
  if (until.wall === Number.POSITIVE_INFINITY && until.commitTs > now.version) {
    throw outOfReach(`the store has not reached ${until.text}`, 'name an id that it has told');
  }
}

function outOfReach(message: string, fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', message, { fix });
}
