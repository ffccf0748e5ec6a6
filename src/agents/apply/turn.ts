import { GraphsteadError, type MaybePromise } from '../../base/index.js';
import { endedKey, eventKey, messageKey, retryKey } from '../keys.js';
import type { NewAgent, EventPart, TurnOp } from '../part.js';
import { terminated } from '../refusal.js';
import {
  encode,
  figureIn,
  freshHead,
  type Head,
  headAgain,
  headWith,
  NOTHING,
  pieces,
  type StoredEvent,
} from '../stored.js';
import { fire, setAlarm } from './alarm.js';
import type { Draft } from './draft.js';
import { remember, remembers } from './history.js';
import { trim } from './trim.js';

/** What one turn did to its own agent. Throws AGENT_UNKNOWN, AGENT_TERMINATED, TXN_ABORTED, LIMIT_EXCEEDED. */
export function turn(draft: Draft, op: TurnOp): MaybePromise<void> {
  const before = op.create === undefined ? draft.head(op.id) : created(draft, op.id, op.create);
  if (before.status === 'terminated') throw terminated(op.id);
  if (before.turns !== op.expect) {
    throw new GraphsteadError('TXN_ABORTED', `a turn of agent ${op.id} came from an activation that has ended`, {
      fix: 'send the message again: it is handled on the state that is stored now',
    });
  }
  let { chunks, version } = before;
  if (op.state !== undefined) {
    chunks = op.state === '' ? 0 : pieces(Buffer.byteLength(op.state));
    version = op.version ?? version;
    draft.states.set(op.id, op.state);
  }
  const head = headWith(before, { status: 'active', turns: before.turns + 1, chunks, version });
  const quiet = op.fired === undefined && op.alarms === undefined && op.events === undefined && !remembers(op, before);
  if (quiet) end(draft, op, consume(draft, op.id, head, op.consumed));
  else return told(draft, op, consume(draft, op.id, head, op.consumed));
}

function created(draft: Draft, id: string, agent: NewAgent): Head {
  const before = draft.find(id);
  if (before === undefined) return freshHead(agent, draft.wall, 'starting');
  if (beginsAgain(before, agent)) return headAgain(agent, draft.wall, before);
  throw new GraphsteadError('TXN_ABORTED', `agent ${id} exists already`, { fix: 'send it what it is to do' });
}

/** The one that had this key was stopped, and nothing is left that the next one could take for its own. */
export function beginsAgain({ status, swept, key }: Head, agent: NewAgent): boolean {
  return status === 'terminated' && swept === true && key !== undefined && key === agent.key;
}

/** The rest of a turn with alarms, events or a history: what is stored of those has to be looked at. */
async function told(draft: Draft, op: TurnOp, before: Head): Promise<void> {
  let head = remembers(op, before) ? await remember(draft, op, before) : before;
  head = await fire(draft, op.id, head, op.fired);
  // what it takes back makes room for what it sets
  const [back, set] = [true, false].map((isBack) => op.alarms?.filter(({ at }) => (at === undefined) === isBack) ?? []);
  for (const alarm of [...back, ...set]) head = await setAlarm(draft, op.id, head, alarm);
  end(draft, op, await publish(draft, op.id, head, op.events ?? []));
}

function end(draft: Draft, op: TurnOp, head: Head): void {
  draft.heads.set(op.id, op.terminate === true ? terminate(draft, op.id, head) : head);
}

/** The stored message that was handled goes. */
export function consume(draft: Draft, id: string, head: Head, message: TurnOp['consumed']): Head {
  if (message === undefined) return head;
  const { ts, n, bytes } = message;
  for (let i = 0; i < pieces(bytes); i++) draft.put(messageKey(id, ts, n, i), undefined);
  draft.put(retryKey(id, ts, n), undefined);
  return headWith(head, { waiting: Math.max(0, head.waiting - 1) });
}

async function publish(draft: Draft, id: string, head: Head, events: readonly EventPart[]): Promise<Head> {
  if (events.length === 0) return head;
  const { ts, wall, group } = draft;
  const [from, last] = head.events;
  let next = last;
  for (const { name, data } of events) {
    const event: StoredEvent = { ts, n: draft.events++, at: wall, name, data };
    const seq = next++;
    draft.putAll(encode(event), (chunk) => eventKey(id, seq, chunk));
  }
  const room = Math.min(last, from + events.length * 2); // a commit trims at most twice what it adds
  const { eventsPerAgent, eventAgeMs } = group.limits;
  const isAged = (bytes: Uint8Array | undefined) => (figureIn(bytes, 'at') ?? 0) < wall - eventAgeMs;
  const goes = (seq: number, bytes: Uint8Array | undefined) => next - seq > eventsPerAgent || isAged(bytes);
  const first = await trim(draft, (seq) => eventKey(id, seq), from, room, goes);
  return headWith(head, { events: [first, next] });
}

/** Only the tombstone counts from here on; what lies behind it waits to be swept. */
function terminate(draft: Draft, id: string, head: Head): Head {
  draft.put(endedKey(id, draft.wall), NOTHING);
  const past = head.past && ([head.past[1], head.past[1], 0] as const);
  return headWith(head, { status: 'terminated', chunks: 0, alarms: 0, waiting: 0, past });
}
