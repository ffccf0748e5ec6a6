import type { Limits } from '../../base/index.js';
import type { GroupState, Key } from '../../commit/index.js';
import { alarmIn, alarmRange, deadKey, eventKey, mailboxRange, pastRange, retryRange, stateRange } from '../keys.js';
import { decode, figureIn, type Head, headWith, type StoredAlarm } from '../stored.js';
import { listedAt } from './alarm.js';

/** keys that one commit takes away of agents that were stopped */
export const SWEPT_AT_ONCE = 256;

type Removal = { readonly key: Key } | { readonly from: Key; readonly to: Key };

/** What one commit takes away of a stopped agent. */
interface Sweep {
  readonly removals: readonly Removal[];
  readonly head: Head;
  /** wall milliseconds at which the next commit has something to take away; undefined once only the tombstone is left */
  readonly next: number | undefined;
  /** keys it took, of `most` */
  readonly taken: number;
}

/**
 * States, waiting messages and alarms go first; events and dead letters once they are `eventAgeMs` old, so that those who
 * watched the agent can read its end. Nothing is added to a stopped agent, so that what was swept stays so.
 */
export async function sweep(
  state: GroupState,
  id: string,
  head: Head,
  wall: number,
  { eventAgeMs }: Pick<Limits, 'eventAgeMs'>,
  most: number,
): Promise<Sweep> {
  const removals: Removal[] = [];
  let left = most;
  const again = (next: number | undefined, kept = head): Sweep => ({ removals, head: kept, next, taken: most - left });

  for (const range of [stateRange(id), pastRange(id), mailboxRange(id), retryRange(id), alarmRange(id)]) {
    if (left <= 0) return again(wall);
    const page = await state.snapshot.range({ ...range, limit: left });
    page.keys.forEach((key, i) => {
      removals.push({ key });
      const alarm = alarmIn(key, id);
      if (alarm === undefined) return;
      removals.push({ key: listedAt(id, alarm, decode<StoredAlarm>(page.values[i])) });
    });
    left -= page.keys.length;
    if (page.next !== undefined) return again(wall);
  }

  const events = await aged(head.events, left, wall - eventAgeMs, (seq) => timeOf(state, eventKey(id, seq)));
  if (events.first > head.events[0]) {
    removals.push({ from: eventKey(id, head.events[0]), to: eventKey(id, events.first) });
    left -= events.first - head.events[0];
  }
  const kept = headWith(head, { swept: true, events: [events.first, head.events[1]] });
  if (events.first < kept.events[1]) return again(events.at === undefined ? wall : events.at + eventAgeMs + 1, kept);

  const letters = await aged(head.letters, left, wall - eventAgeMs, (seq) => timeOf(state, deadKey(id, seq)));
  if (letters.first > head.letters[0]) {
    removals.push({ from: deadKey(id, head.letters[0]), to: deadKey(id, letters.first) });
    left -= letters.first - head.letters[0];
  }
  const [, next] = head.letters;
  const dead = Math.min(head.dead, next - letters.first);
  const last = headWith(kept, { letters: [letters.first, next], dead });
  if (letters.first < next) return again(letters.at === undefined ? wall : letters.at + eventAgeMs + 1, last);
  return again(undefined, last);
}

/** The first entry that is young enough to stay, and its time; the time is missing where `most` entries were passed before. */
async function aged(
  [first, next]: readonly [number, number],
  most: number,
  before: number,
  timeAt: (seq: number) => Promise<number | undefined>,
): Promise<{ first: number; at?: number }> {
  for (let seq = first; seq < next; seq++) {
    if (seq - first >= most) return { first: seq };
    const at = await timeAt(seq);
    if (at !== undefined && at >= before) return { first: seq, at };
  }
  return { first: next };
}

/** When an event or a dead letter came about. */
async function timeOf(state: GroupState, key: Key): Promise<number | undefined> {
  return figureIn(await state.get(key), 'at');
}
