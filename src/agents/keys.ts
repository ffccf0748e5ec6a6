import { hash } from 'node:crypto';
import { type Key, KeyReader, KeyWriter, type Range } from '../commit/index.js';
import { isAgentId } from './agent-id.js';

// Keys of the agents: family, shard, agent id, then what tells entries of one family apart. The shard comes before the
// id, so that a range of shards can move to another writer.

const FAMILY = {
  head: 1,
  state: 2,
  event: 3,
  mailbox: 4,
  retry: 5,
  alarm: 6,
  due: 7,
  dead: 8,
  ended: 9,
  past: 10,
  held: 11,
} as const;

export const SHARDS = 256;
const writer = new KeyWriter('agents');
const shards = new Map<string, number>();
const CACHE = 200_000;

/** hash(agent) mod 256 */
export function shardOf(agentId: string): number {
  const known = shards.get(agentId);
  if (known !== undefined) return known;
  if (shards.size >= CACHE) shards.clear();
  const shard = hash('sha1', agentId, 'binary').charCodeAt(0);
  // callers may send any text for an id, of megabytes too
  if (isAgentId(agentId)) shards.set(agentId, shard);
  return shard;
}

function of(family: number, agentId: string): KeyWriter {
  const shard = shardOf(agentId);
  return writer.byte(family).byte(shard).text(agentId);
}

function timed(family: number, agentId: string, at: number): KeyWriter {
  const shard = shardOf(agentId);
  return writer.byte(family).byte(shard).uint(at);
}

export const headKey = (id: string): Key => of(FAMILY.head, id).key();
export const stateKey = (id: string, chunk: number): Key => of(FAMILY.state, id).uint(chunk).key();
export const eventKey = (id: string, seq: number, chunk = 0): Key => of(FAMILY.event, id).uint(seq).uint(chunk).key();
export const messageKey = (id: string, ts: number, n: number, chunk = 0): Key =>
  of(FAMILY.mailbox, id).uint(ts).uint(n).uint(chunk).key();
export const retryKey = (id: string, ts: number, n: number): Key => of(FAMILY.retry, id).uint(ts).uint(n).key();
export const alarmKey = (id: string, alarm: string): Key => of(FAMILY.alarm, id).text(alarm).key();
export const deadKey = (id: string, seq: number, chunk = 0): Key => of(FAMILY.dead, id).uint(seq).uint(chunk).key();
export const pastKey = (id: string, seq: number, chunk = 0): Key => of(FAMILY.past, id).uint(seq).uint(chunk).key();
export const dueKey = (id: string, at: number, alarm: string): Key =>
  timed(FAMILY.due, id, at).text(id).text(alarm).key();

/** An alarm that rang for an agent without a class: it is not among those that are due. */
export const heldKey = (id: string, alarm: string): Key => of(FAMILY.held, id).text(alarm).key();

/** A stopped agent of which something is left, under the time at which that may go. */
export const endedKey = (id: string, at: number): Key => timed(FAMILY.ended, id, at).text(id).key();

export const stateRange = (id: string): Range => of(FAMILY.state, id).range();
export const retryRange = (id: string): Range => of(FAMILY.retry, id).range();
export const alarmRange = (id: string): Range => of(FAMILY.alarm, id).range();
export const deadRange = (id: string): Range => of(FAMILY.dead, id).range();
export const pastRange = (id: string): Range => of(FAMILY.past, id).range();
export const headRange = (): Range => writer.byte(FAMILY.head).range();
export const mailboxesRange = (): Range => writer.byte(FAMILY.mailbox).range();
export const allHeldRange = (): Range => writer.byte(FAMILY.held).range();
export const mailboxRange = (id: string): Range => of(FAMILY.mailbox, id).range();
export const shardEndedRange = (shard: number): Range => writer.byte(FAMILY.ended).byte(shard).range();
export const shardDueRange = (shard: number): Range => writer.byte(FAMILY.due).byte(shard).range();

/** Everything of a mailbox from one message on. */
export function mailboxFrom(id: string, ts: number, n: number): Range {
  return { start: messageKey(id, ts, n), end: mailboxRange(id).end };
}

/** Events from one number on, up to another. */
export function eventRange(id: string, from: number, to: number): Range {
  return { start: eventKey(id, from), end: eventKey(id, to) };
}

/** Agent id, then the reader behind it. */
export function agentOf(key: Key): { id: string; rest: KeyReader } {
  const rest = new KeyReader(key);
  rest.byte();
  rest.byte();
  return { id: rest.text(), rest };
}

/** The alarm that an alarm key of the agent is about; undefined for other keys. */
export function alarmIn(key: Key, agentId: string): string | undefined {
  const { start } = alarmRange(agentId);
  if (Buffer.compare(key.subarray(0, start.length), start) !== 0) return undefined;
  return agentOf(key).rest.text();
}

/** What an ended key says. */
export function endedOf(key: Key): { at: number; agentId: string } {
  const reader = new KeyReader(key);
  reader.byte();
  reader.byte();
  return { at: reader.uint(), agentId: reader.text() };
}

/** What a due key says. */
export function dueOf(key: Key): { at: number; agentId: string; alarm: string } {
  const reader = new KeyReader(key);
  reader.byte();
  reader.byte();
  return { at: reader.uint(), agentId: reader.text(), alarm: reader.text() };
}
