import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises';
import type { Clock } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import { alarmKey, dueOf, SHARDS, shardDueRange } from './keys.js';
import type { DueAlarm } from './reader.js';
import { isAstray } from './rounds.js';
import { decode, type StoredAlarm } from './stored.js';

/** alarms read under one snapshot */
const AT_ONCE = 64;
/** from one page with some to the next: they ring at a bounded rate */
const PAUSE_MS = 10;

/** The first time of an interval is the one that the app has given, however far away; that of a calendar was told by a clock. */
const isFirst = ({ every, rang }: StoredAlarm): boolean => typeof every === 'number' && rang !== true;

/** Repeated alarms whose next round lies further away than it could: it was set while the clock stood ahead. */
export async function* strayedRounds(
  committer: Pick<Committer, 'snapshot'>,
  clock: Pick<Clock, 'wall'>,
): AsyncIterable<readonly DueAlarm[]> {
  for (let shard = 0; shard < SHARDS; shard++) {
    for (let range = { ...shardDueRange(shard), limit: AT_ONCE, keysOnly: true }; ; ) {
      const snapshot = committer.snapshot();
      const strayed: DueAlarm[] = [];
      let next: typeof range | undefined;
      try {
        const page = await snapshot.range(range);
        const now = clock.wall();
        next = page.next && { ...page.next, limit: AT_ONCE, keysOnly: true };
        for (const { at, agentId, alarm } of page.keys.map(dueOf)) {
          const bytes = at > now ? await snapshot.get(alarmKey(agentId, alarm)) : undefined;
          const stored = bytes === undefined ? undefined : decode<StoredAlarm>(bytes);
          if (stored?.every === undefined || isFirst(stored) || !isAstray(stored.at, stored.every, now)) continue;
          // when it is tried again was told by that clock, too
          const { notBefore: _, ...due } = stored;
          strayed.push({ ...due, agentId, id: alarm });
        }
      } finally {
        snapshot.release();
      }
      if (strayed.length > 0) yield strayed;
      if (strayed.length > 0) await rest(PAUSE_MS, undefined, { ref: false });
      else await nextTurn();
      if (next === undefined) break;
      range = next;
    }
  }
}
