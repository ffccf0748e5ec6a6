import { GraphsteadError } from '../../base/index.js';
import type { Key } from '../../commit/index.js';
import { alarmKey, dueKey, heldKey, retryKey } from '../keys.js';
import type { AlarmPart, HoldOp, RetryOp, TurnOp } from '../part.js';
import { nextInterval } from '../rounds.js';
import { decode, encode, type Head, headWith, NOTHING, type StoredAlarm } from '../stored.js';
import type { Draft } from './draft.js';

/** as JSON: what a stored value may hold, less what is added while it waits and is tried again */
const MOST_BYTES = 3_500;
const MOST_ID_BYTES = 512;

/** The alarm that was handled goes, or waits for its next round, unless it was set anew meanwhile. */
export async function fire(draft: Draft, id: string, head: Head, fired: TurnOp['fired']): Promise<Head> {
  if (fired === undefined) return head;
  const key = alarmKey(id, fired.id);
  const bytes = await draft.group.state.get(key);
  const stored = bytes === undefined ? undefined : decode<StoredAlarm>(bytes);
  if (stored?.at !== fired.at) return head;
  draft.put(listedAt(id, fired.id, stored), undefined);
  const { name, data, every } = stored;
  const at = typeof every === 'number' ? nextInterval(stored.at, every, fired.wall ?? draft.wall) : fired.next;
  if (at === undefined) {
    draft.put(key, undefined);
    return headWith(head, { alarms: head.alarms - 1 });
  }
  keep(draft, id, fired.id, { at, name, data, every, rang: true });
  return head;
}

function keep(draft: Draft, id: string, alarm: string, given: Omit<StoredAlarm, 'set'>): void {
  const { at, name, data, every, rang } = given;
  draft.put(alarmKey(id, alarm), encode({ at, set: draft.ts, name, data, every, rang } satisfies StoredAlarm));
  draft.put(dueKey(id, at, alarm), NOTHING);
}

/** Sets an alarm, moves it or takes it back. Throws LIMIT_EXCEEDED. */
export async function setAlarm(draft: Draft, id: string, head: Head, alarm: AlarmPart): Promise<Head> {
  const key = alarmKey(id, alarm.id);
  const old = await storedAlarm(draft, key);
  if (old !== undefined) draft.put(listedAt(id, alarm.id, old), undefined);
  const count = head.alarms + (alarm.at === undefined ? 0 : 1) - (old === undefined ? 0 : 1);
  const { alarmsPerAgent, alarmEveryMs } = draft.group.limits;
  if (typeof alarm.every === 'number' && alarm.every < alarmEveryMs) {
    throw new GraphsteadError('LIMIT_EXCEEDED', `alarm "${alarm.id}" of agent ${id} rings every ${alarm.every} ms`, {
      fix: `limits.alarmEveryMs is ${alarmEveryMs}: let it ring less often, and do more in one turn`,
    });
  }
  assertFits(id, alarm);
  if (count > alarmsPerAgent) {
    throw new GraphsteadError('LIMIT_EXCEEDED', `agent ${id} sets more than ${alarmsPerAgent} alarms`, {
      fix: 'reuse alarm ids, or raise limits.alarmsPerAgent',
    });
  }
  if (alarm.at === undefined) draft.put(key, undefined);
  else {
    const { at, name = 'alarm', data, every } = alarm;
    keep(draft, id, alarm.id, { at, name, data, every });
  }
  return headWith(head, { alarms: count });
}

/** An alarm is one entry of a page, with what its tries add to it, and its id stands in keys. Throws LIMIT_EXCEEDED. */
function assertFits(agentId: string, alarm: AlarmPart): void {
  const idBytes = Buffer.byteLength(alarm.id);
  const bytes = encode(alarm).length;
  if (idBytes <= MOST_ID_BYTES && bytes <= MOST_BYTES) return;
  const what = idBytes > MOST_ID_BYTES ? `has an id of ${idBytes} bytes` : `holds ${bytes} bytes`;
  throw new GraphsteadError('LIMIT_EXCEEDED', `alarm "${alarm.id.slice(0, 100)}" of agent ${agentId} ${what}`, {
    fix: `an alarm takes ${MOST_BYTES} bytes, its id ${MOST_ID_BYTES} of them: keep what is large in the state or the graph`,
  });
}

/** What failed will be tried again: a message under its own key, an alarm in its entry. */
export async function retry(draft: Draft, op: RetryOp): Promise<void> {
  const { id, message, alarm, attempts, notBefore, error, calls } = op;
  if (draft.head(id).status === 'terminated') return;
  if (message !== undefined)
    draft.put(retryKey(id, message.ts, message.n), encode({ attempts, notBefore, error, calls }));
  if (alarm === undefined) return;
  const key = alarmKey(id, alarm.id);
  const stored = await storedAlarm(draft, key);
  // an alarm that was moved meanwhile begins anew
  if (stored?.at === alarm.at) draft.put(key, encode({ ...stored, attempts, notBefore, calls }));
}

/** An alarm leaves those that are due, or comes back to them; one that was moved or taken back meanwhile stays as it is. */
export async function hold(draft: Draft, { op, id, alarm }: HoldOp): Promise<void> {
  if (draft.head(id).status === 'terminated') return;
  const key = alarmKey(id, alarm.id);
  const stored = await storedAlarm(draft, key);
  if (stored?.at !== alarm.at || (stored.held === true) === (op === 'hold')) return;
  const held = op === 'hold' ? true : undefined;
  draft.put(listedAt(id, alarm.id, stored), undefined);
  draft.put(listedAt(id, alarm.id, { at: alarm.at, held }), NOTHING);
  draft.put(key, encode({ ...stored, held }));
}

/** The key under which an alarm is found when its time has come, or its class. */
export function listedAt(id: string, alarm: string, { at, held }: Pick<StoredAlarm, 'at' | 'held'>): Key {
  return held === true ? heldKey(id, alarm) : dueKey(id, at, alarm);
}

/** The alarm with what this part has done to it. */
async function storedAlarm({ changes, group }: Draft, key: Key): Promise<StoredAlarm | undefined> {
  const pending = changes.findLast((change) => 'key' in change && Buffer.compare(change.key, key) === 0);
  const bytes = pending !== undefined && 'key' in pending ? pending.value : await group.state.get(key);
  return bytes === undefined ? undefined : decode<StoredAlarm>(bytes);
}
