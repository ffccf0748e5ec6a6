import type { Snapshot } from '../commit/index.js';
import type { Alarm } from './info.js';
import type { Job } from './job.js';
import { type DueAlarm, readAlarms, readKnownHead } from './reader.js';
import { nextRound, toldRounds } from './rounds.js';

/** The alarms that are set, soonest first; none of a stopped agent. Throws AGENT_UNKNOWN. */
export async function alarmsOf(snapshot: Snapshot, id: string): Promise<readonly Alarm[]> {
  const head = await readKnownHead(snapshot, id);
  return head.status === 'terminated' ? [] : shown(await readAlarms(snapshot, id));
}

/**
 * As a turn of the agent meets them. The one that it handles has rung: it is set no more, or for its next round. An agent in its
 * first turn is not stored yet.
 */
export async function alarmsInTurn(
  snapshot: Snapshot,
  id: string,
  handled: Job['alarm'],
  wall: number,
): Promise<readonly Alarm[]> {
  const left = (await readAlarms(snapshot, id)).flatMap((alarm) => {
    if (alarm.id !== handled?.id || alarm.at !== handled.at) return [alarm];
    const { every } = alarm;
    const at = every && nextRound(alarm.at, every, wall);
    return at === undefined ? [] : [{ ...alarm, at, attempts: 0 }];
  });
  return shown(left);
}

function shown(alarms: DueAlarm[]): readonly Alarm[] {
  return alarms.sort((one, other) => one.at - other.at).map(toAlarm);
}

function toAlarm({ id, name, at, data, every, attempts = 0 }: DueAlarm): Alarm {
  const given = { ...(data === undefined ? {} : { data }), ...toldRounds(every) };
  return { id, name, at: new Date(at).toISOString(), ...given, attempts };
}
