import type { Committer, Key, Range, Snapshot } from '../commit/index.js';
import type { DeadLetter } from './contract.js';
import type { MessagePosition } from './part.js';
import { unknownAgent } from './refusal.js';
import {
  agentOf,
  alarmKey,
  alarmRange,
  deadKey,
  deadRange,
  dueOf,
  eventKey,
  eventRange,
  headKey,
  headRange,
  mailboxesRange,
  mailboxFrom,
  mailboxRange,
  pastKey,
  retryKey,
  endedOf,
  shardDueRange,
  shardEndedRange,
  stateKey,
} from './keys.js';
import {
  decode,
  decodeAgent,
  type Head,
  type StoredAgent,
  type StoredAlarm,
  type StoredEvent,
  type StoredLetter,
  type StoredMessage,
  type StoredPast,
  type StoredRetry,
} from './stored.js';

// Reads of agents at one snapshot. None keeps it: `readNow` takes one and gives it back.

/** What a source of snapshots is to those who read. */
type Snapshots = Pick<Committer, 'snapshot'>;

/** Reads what is newest, all of it at one moment. */
export async function readNow<T>(source: Snapshots, read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const snapshot = source.snapshot();
  try {
    return await read(snapshot);
  } finally {
    snapshot.release();
  }
}

export async function readHead(snapshot: Snapshot, id: string): Promise<Head | undefined> {
  return (await readAgent(snapshot, id))?.head;
}

/** Throws AGENT_UNKNOWN. */
export async function readKnownHead(snapshot: Snapshot, id: string): Promise<Head> {
  const head = await readHead(snapshot, id);
  if (head === undefined) throw unknownAgent(id);
  return head;
}

async function readAgent(snapshot: Snapshot, id: string): Promise<StoredAgent | undefined> {
  const bytes = await snapshot.get(headKey(id));
  return bytes === undefined ? undefined : decodeAgent(bytes);
}

/** undefined for an agent without state */
export async function readState(snapshot: Snapshot, id: string, chunks: number): Promise<string | undefined> {
  if (chunks === 0) return undefined;
  const state = chunks === 1 ? (await readAgent(snapshot, id))?.state : undefined;
  if (state !== undefined) return state;
  const parts: Uint8Array[] = [];
  for (let i = 0; i < chunks; i++) parts.push((await snapshot.get(stateKey(id, i))) ?? new Uint8Array(0));
  return Buffer.concat(parts).toString('utf8');
}

/** Heads in key order, behind one id. */
export async function readHeads(
  snapshot: Snapshot,
  after: string | undefined,
  take: (id: string, head: Head) => boolean,
): Promise<void> {
  let range = headRange();
  if (after !== undefined) range = { ...range, start: Buffer.concat([headKey(after), Buffer.of(0)]) };
  for (;;) {
    const page = await snapshot.range(range);
    for (let i = 0; i < page.keys.length; i++) {
      if (!take(agentOf(page.keys[i]).id, decodeAgent(page.values[i]).head)) return;
    }
    if (page.next === undefined) return;
    range = page.next;
  }
}

export interface MailboxEntry extends StoredMessage {
  readonly ts: number;
  readonly n: number;
  /** size as stored */
  readonly bytes: number;
  readonly attempts: number;
  readonly notBefore: number;
  /** of its last try that failed; absent or empty where none has */
  readonly error?: string;
  /** see RetryOp */
  readonly calls?: number;
}

const UNTRIED: Omit<StoredRetry, 'error'> & { readonly error?: string } = { attempts: 0, notBefore: 0 };

/** A bounded part of a mailbox, at least one message; `more` where others lie behind it. */
interface MailboxPage {
  readonly entries: readonly MailboxEntry[];
  readonly more: boolean;
}

/** Messages of a mailbox, oldest first, behind a position. */
export async function readMailbox(
  snapshot: Snapshot,
  id: string,
  after: MessagePosition | undefined,
  most: { readonly messages: number; readonly bytes: number },
): Promise<MailboxPage> {
  const entries: MailboxEntry[] = [];
  let left = most.bytes;
  for await (const { rest, bytes } of joined(snapshot, behind(id, after), 2)) {
    if (entries.length >= most.messages || left <= 0) return { entries, more: true };
    left -= bytes.length;
    const [ts, n] = rest;
    const retry = await snapshot.get(retryKey(id, ts, n));
    const { attempts, notBefore, error, calls } = retry === undefined ? UNTRIED : decode<StoredRetry>(retry);
    entries.push({ ...decode<StoredMessage>(bytes), ts, n, bytes: bytes.length, attempts, notBefore, error, calls });
  }
  return { entries, more: false };
}

/** Who sent what lies in a mailbox behind a position, and where, oldest first. */
export async function readSenders(
  snapshot: Snapshot,
  id: string,
  after: MessagePosition | undefined,
  found: (from: string, at: MessagePosition) => void,
): Promise<void> {
  for await (const { rest, bytes } of joined(snapshot, behind(id, after), 2)) {
    found(decode<StoredMessage>(bytes).from, { ts: rest[0], n: rest[1] });
  }
}

function behind(id: string, after: MessagePosition | undefined): Range {
  return after === undefined ? mailboxRange(id) : mailboxFrom(id, after.ts, after.n + 1);
}

/** Agents with something in their mailbox: one seek an agent. */
export async function* waitingAgents(source: Snapshots): AsyncIterable<string> {
  let range = { ...mailboxesRange(), limit: 1, keysOnly: true };
  for (;;) {
    const page = await readNow(source, async (snapshot) => snapshot.range(range));
    if (page.keys.length === 0) return;
    const { id } = agentOf(page.keys[0]);
    yield id;
    range = { ...range, start: mailboxRange(id).end };
  }
}

/** Events from number `from` on, up to `limit`. */
export async function readEvents(
  snapshot: Snapshot,
  id: string,
  from: number,
  to: number,
  limit: number,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const { bytes } of joined(snapshot, eventRange(id, from, to), 1)) {
    events.push(decode<StoredEvent>(bytes));
    if (events.length >= limit) break;
  }
  return events;
}

/** Number of the first kept event behind a position; events[1] of the head when there is none. */
export async function eventBehind(snapshot: Snapshot, id: string, head: Head, ts: number, n: number): Promise<number> {
  const [first, next] = head.events;
  return seek(
    snapshot,
    (seq) => eventKey(id, seq),
    first,
    next,
    (text) => {
      const match = /^\{"ts":(\d+),"n":(\d+)/.exec(text);
      const at = Number(match?.[1]);
      return at > ts || (at === ts && Number(match?.[2]) > n);
    },
  );
}

/** Number of the first entry of a list that `isBehind` some place, by its first chunk; `next` when there is none. */
async function seek(
  snapshot: Snapshot,
  key: (seq: number) => Key,
  first: number,
  next: number,
  isBehind: (text: string) => boolean,
): Promise<number> {
  let [low, high] = [first, next];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const bytes = await snapshot.get(key(middle));
    if (bytes === undefined || isBehind(Buffer.from(bytes).toString('latin1'))) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** States that are kept of an agent, newest first, from before a turn on; at least one, where there is one, however large. */
export async function readHistory(
  snapshot: Snapshot,
  id: string,
  { past: [first, next] = [1, 1, 0] }: Head,
  before: number | undefined,
  most: { readonly states: number; readonly bytes: number },
): Promise<StoredPast[]> {
  const key = (seq: number) => pastKey(id, seq);
  const isBehind = (text: string) => Number(/^\{"turn":(\d+)/.exec(text)?.[1]) >= Number(before);
  const end = before === undefined ? next : await seek(snapshot, key, first, next, isBehind);
  const found: StoredPast[] = [];
  let left = most.bytes;
  for (let seq = end - 1; seq >= first && found.length < most.states && left > 0; seq--) {
    for await (const { bytes } of joined(snapshot, { start: key(seq), end: key(seq + 1) }, 1)) {
      const past = decode<StoredPast>(bytes);
      left -= past.bytes;
      found.push(past);
    }
  }
  return found;
}

interface LetterEntry extends StoredLetter {
  readonly seq: number;
  readonly bytes: number;
}

/** bytes of the dead letters of one page, as they are stored */
const LETTERS_BYTES = 8 * 1024 * 1024;

/** Dead letters of an agent behind a number, oldest first: up to `most`, of large ones fewer, one at least. */
export async function readLetters(
  snapshot: Snapshot,
  id: string,
  most: number,
  after = 0,
): Promise<readonly LetterEntry[]> {
  return lettersOf(snapshot, { start: deadKey(id, after + 1), end: deadRange(id).end }, most);
}

async function lettersOf(snapshot: Snapshot, range: Range, most: number): Promise<readonly LetterEntry[]> {
  const letters: LetterEntry[] = [];
  let left = LETTERS_BYTES;
  for await (const { rest, bytes } of joined(snapshot, range, 1)) {
    left -= bytes.length;
    if (left < 0 && letters.length > 0) break;
    letters.push({ ...decode<StoredLetter>(bytes), seq: rest[0], bytes: bytes.length });
    if (letters.length >= most) break;
  }
  return letters;
}

/** One of them, by its number. */
export async function readLetter(snapshot: Snapshot, id: string, seq: number): Promise<LetterEntry | undefined> {
  const [letter] = await lettersOf(snapshot, { start: deadKey(id, seq), end: deadKey(id, seq + 1) }, 1);
  return letter;
}

export function toDeadLetter(agentId: string, letter: LetterEntry): DeadLetter {
  const { seq, name, data, from, error, attempts, at } = letter;
  return { id: String(seq), agentId, name, data, from, error, attempts, failedAt: new Date(at).toISOString() };
}

export async function readAlarm(snapshot: Snapshot, agentId: string, id: string): Promise<StoredAlarm | undefined> {
  const bytes = await snapshot.get(alarmKey(agentId, id));
  return bytes === undefined ? undefined : decode<StoredAlarm>(bytes);
}

/** The alarms of an agent, by their ids: limits.alarmsPerAgent of a page each. */
export async function readAlarms(snapshot: Snapshot, agentId: string): Promise<DueAlarm[]> {
  const alarms: DueAlarm[] = [];
  for (let range = alarmRange(agentId); ; ) {
    const { keys, values, next } = await snapshot.range(range);
    keys.forEach((key, i) => {
      alarms.push({ ...decode<StoredAlarm>(values[i]), agentId, id: agentOf(key).rest.text() });
    });
    if (next === undefined) return alarms;
    range = next;
  }
}

export interface DueAlarm extends StoredAlarm {
  readonly agentId: string;
  readonly id: string;
}

/**
 * Alarms of one shard that are due, oldest first, and when the next one is. Those that are out already are passed over and
 * counted: `limit` holds with them, but however many they are, they do not stand in the way of all others.
 */
export async function readDue(
  snapshot: Snapshot,
  shard: number,
  now: number,
  limit: number,
  isOut: (agentId: string, alarm: string, at: number) => boolean,
): Promise<{ due: DueAlarm[]; next: number | undefined; passed: number }> {
  const due: DueAlarm[] = [];
  let passed = 0;
  for (let range = { ...shardDueRange(shard), limit: limit + 1, keysOnly: true }; ; ) {
    const page = await snapshot.range(range);
    for (const key of page.keys) {
      const { at, agentId, alarm } = dueOf(key);
      if (at > now || due.length + (passed < limit ? passed : 0) >= limit) return { due, next: at, passed };
      if (isOut(agentId, alarm, at)) {
        passed++;
        continue;
      }
      const bytes = await snapshot.get(alarmKey(agentId, alarm));
      if (bytes !== undefined) due.push({ ...decode<StoredAlarm>(bytes), agentId, id: alarm });
    }
    if (page.next === undefined) return { due, next: undefined, passed };
    range = { ...page.next, limit: limit + 1, keysOnly: true };
  }
}

/** Stopped agents of one shard that may be swept, and when there will be more to sweep. */
export async function readEnded(
  snapshot: Snapshot,
  shard: number,
  now: number,
  limit: number,
): Promise<{ ended: { at: number; agentId: string }[]; next: number | undefined }> {
  const page = await snapshot.range({ ...shardEndedRange(shard), limit: limit + 1, keysOnly: true });
  const all = page.keys.map(endedOf);
  const ended = all.filter(({ at }) => at <= now).slice(0, limit);
  return { ended, next: all[ended.length]?.at };
}

/** Entries of a range with their chunks put together; `numbers` uints stand between the agent's id and the chunk. */
async function* joined(
  snapshot: Snapshot,
  whole: { start: Uint8Array; end: Uint8Array },
  numbers: number,
): AsyncIterable<{ rest: number[]; bytes: Uint8Array }> {
  let held: { rest: number[]; chunks: Uint8Array[] } | undefined;
  for (let range = { ...whole, limit: 256 }; ; ) {
    const page = await snapshot.range(range);
    for (let i = 0; i < page.keys.length; i++) {
      const reader = agentOf(page.keys[i]).rest;
      const rest = Array.from({ length: numbers }, () => reader.uint());
      const chunk = reader.uint();
      if (chunk === 0 && held !== undefined) yield { rest: held.rest, bytes: Buffer.concat(held.chunks) };
      if (chunk === 0) held = { rest, chunks: [page.values[i]] };
      else held?.chunks.push(page.values[i]);
    }
    if (page.next === undefined) break;
    range = { ...page.next, limit: 256 };
  }
  if (held !== undefined) yield { rest: held.rest, bytes: Buffer.concat(held.chunks) };
}
