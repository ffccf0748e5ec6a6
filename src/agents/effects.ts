import { firedBy, type Job, retryOps } from './job.js';
import type { AgentOp, EventPart, HistoryPart, PostOp, TurnOp } from './part.js';
import type { Effects, SendEffect } from './protocol.js';

export const NO_EFFECTS: Effects = {};

/** What a job's commit holds beside its effects. */
interface TurnFacts {
  readonly id: string;
  readonly expect: number;
  readonly job: Job;
  /** calls made up to this checkpoint; absent in the last commit of the job, which takes the message or the alarm away */
  readonly upTo?: number;
  /** the agent exists already */
  readonly begun: boolean;
  /** states that its class keeps */
  readonly history: number;
  /** the graph changes in the same commit */
  readonly wrote: boolean;
  /** milliseconds that the clock shows */
  readonly wall: number;
}

/** The ops of one commit of a turn; empty when there is nothing to make durable. */
export function opsOf({ id, expect, job, upTo, begun, history, wrote, wall }: TurnFacts, effects: Effects): AgentOp[] {
  const final = upTo === undefined;
  const { state, version, alarms = [] } = effects;
  const create = begun ? undefined : job.create;
  const consumed = final ? job.stored : undefined;
  const fired = final ? firedBy(job, wall) : undefined;
  const terminate = final && job.kind === 'stop';
  const events = eventsOf(job, effects, final);
  const posts = postsOf(id, job, effects);
  const own = state !== undefined || events.length > 0 || alarms.length > 0;
  if (!own && posts.length === 0 && create === undefined && consumed === undefined && fired === undefined) {
    return upTo !== undefined && wrote ? beginsAgain(id, job, upTo) : [];
  }
  const turn: { -readonly [Name in keyof TurnOp]: TurnOp[Name] } = { op: 'turn', id, expect };
  if (create !== undefined) turn.create = create;
  if (state !== undefined) {
    turn.state = state;
    turn.version = version;
    if (history > 0) turn.history = historyOf(job, history);
  }
  if (events.length > 0) turn.events = events;
  if (alarms.length > 0) turn.alarms = alarms;
  if (consumed !== undefined) turn.consumed = consumed;
  if (fired !== undefined) turn.fired = fired;
  if (terminate) turn.terminate = true;
  if (!final && movesOwn(job, effects)) return [turn, roundOf(id, job, upTo), ...posts];
  if (!final) return [turn, ...posts, ...beginsAgain(id, job, upTo)];
  return posts.length === 0 ? [turn] : [turn, ...posts];
}

function historyOf({ kind, name }: Job, keep: number): HistoryPart {
  return { keep, kind: kind === 'message' || kind === 'alarm' ? kind : 'hook', name };
}

/** Whether this checkpoint takes the alarm that its turn handles from where it was: there it could not be tried again. */
function movesOwn({ alarm }: Job, { alarms = [] }: Effects): boolean {
  return alarm !== undefined && alarms.some(({ id }) => id === alarm.id);
}

/** The round goes on as a message in the mailbox, the first of its commit; the alarm rings as it is set now. */
function roundOf(id: string, { name, data, requestId, attempts }: Job, calls: number): PostOp {
  const begun = { attempts: attempts + 1, calls };
  return { op: 'post', to: id, from: '', kind: 'alarm', name, data, requestId, begun };
}

/** Behind a checkpoint, whoever begins a stored job anew knows that it is not the first. */
function beginsAgain(id: string, job: Job, calls: number): AgentOp[] {
  return retryOps(id, { ...job, calls }, job.attempts + 1, 0, '');
}

/** What it published; where the agent begins or ends, that too. */
function eventsOf(job: Job, { events = [] }: Effects, final: boolean): readonly EventPart[] {
  if (!final) return events;
  const begins = job.create !== undefined || job.kind === 'init';
  const status = begins ? 'running' : job.kind === 'stop' ? 'terminated' : undefined;
  if (status === undefined) return events;
  return [...events, { name: 'agentStatusUpdated', data: JSON.stringify({ status }) }];
}

const NO_POSTS: readonly AgentOp[] = [];

/** What it leaves for others. */
function postsOf(id: string, job: Job, { starts = [], sends = [], stops = [] }: Effects): readonly AgentOp[] {
  if (starts.length === 0 && sends.length === 0 && stops.length === 0) return NO_POSTS;
  return [
    ...starts.map((start) => ({ op: 'spawn', ...start, from: id }) as const),
    ...sends.map((send) => post(id, 'message', send, job.requestId)),
    ...stops.map((to) => post(id, 'stop', { to, name: 'onTerminate' }, job.requestId)),
  ];
}

function post(from: string, kind: 'message' | 'stop', { to, name, data, typed }: SendEffect, requestId: string) {
  const given = { ...(data === undefined ? {} : { data }), ...(typed === undefined ? {} : { typed }) };
  return { op: 'post', to, from, kind, name, ...given, requestId } as const;
}
