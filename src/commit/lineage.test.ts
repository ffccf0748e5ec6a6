import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLimits } from '../base/index.js';
import { createMemoryStore, type Snapshot, type Store } from '../store/index.js';
import { readState } from './commit-state.js';
import { createCommitter } from './committer.js';
import { recordsBehind } from './lineage.js';
import { CounterApplier } from './testing/counter-applier.js';
import { startTsOf } from './testing/start.js';

interface Line {
  readonly store: Store;
  /** what the store was before and behind each commit */
  readonly moments: readonly Snapshot[];
}

const open: { readonly store: Store; readonly moments: readonly Snapshot[] }[] = [];

/** A store of so many commits. */
async function line(
  commits: number,
  limits: Parameters<typeof makeLimits>[0] = {},
  wall = 1_000_000,
  begun = false,
): Promise<Line> {
  const store = createMemoryStore();
  const clock = { wall: () => wall, monotonic: () => 0 };
  const options = { store, appliers: [new CounterApplier()], limits: makeLimits(limits), clock };
  const committer = await createCommitter(options);
  // where transactions have begun before, commits stand at other timestamps
  if (begun) await startTsOf(committer);
  const moments = [store.snapshot()];
  for (let i = 0; i < commits; i++) {
    const counters = { add: [['all', 1]], note: 'x'.repeat(100) };
    await committer.commit({ startTs: 0, conflicts: [], parts: { counters } });
    moments.push(store.snapshot());
  }
  await committer.close();
  const made = { store, moments };
  open.push(made);
  return made;
}

async function behind(copy: Snapshot, store: Snapshot): Promise<number[]> {
  const found: number[] = [];
  for await (const { commitTs } of recordsBehind(copy, store)) found.push(commitTs);
  return found;
}

const newest = ({ moments }: Line): Snapshot => moments[moments.length - 1];
const noCopy = (reason: string) => ({
  code: 'INVALID_REQUEST',
  message: `the backup is no earlier copy of that store: ${reason}`,
});

beforeEach(() => open.splice(0));
afterEach(async () => {
  for (const { store, moments } of open) {
    for (const moment of moments) moment.release();
    await store.close();
  }
});

describe('what was committed behind a copy', () => {
  it('is told oldest first, and is nothing where the copy is as new', async () => {
    const own = await line(4);
    const [, , second, third, fourth] = own.moments;
    expect(await behind(second, fourth)).toEqual([third.version, fourth.version]);
    expect(await behind(fourth, fourth)).toEqual([]);
  });

  it('is not told to what is ahead of the store, is of another one, or cannot be told', async () => {
    const [own, other, longer] = [await line(3), await line(3, {}, 2_000_000), await line(5, {}, 1_000_000, true)];
    const [none, , second, third] = own.moments;
    await expect(behind(third, second)).rejects.toMatchObject(
      noCopy('it holds commits that the store has not reached'),
    );
    const another = noCopy(`the commit ${third.version} is another one there, or none`);
    for (const one of [other, longer]) await expect(behind(third, newest(one))).rejects.toMatchObject(another);
    await expect(behind(none, third)).rejects.toMatchObject(
      noCopy('it holds no record of a commit by which that could be told'),
    );
  });

  it('is told as long as the last commit of the copy is kept, and else that it is gone', async () => {
    const own = await line(60, { recordBytes: 5_000 });
    const now = newest(own);
    const { trimmed } = await readState(now);
    expect(trimmed).toBeGreaterThan(own.moments[2].version);
    const at = own.moments.findIndex(({ version }) => version === trimmed);
    for (const copy of own.moments.slice(0, at + 1)) {
      await expect(behind(copy, now)).rejects.toMatchObject({
        code: 'EVENT_GAP',
        message: `the backup ends at ${copy.version}, and commits up to ${trimmed} are gone there`,
        details: { after: copy.version, trimmed },
      });
    }
    const rest = own.moments.slice(at + 2).map(({ version }) => version);
    expect(await behind(own.moments[at + 1], now)).toEqual(rest);
  });
});
