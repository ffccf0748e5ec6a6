import type { Job } from './activation.js';
import type { AgentOp, TurnOp } from './part.js';
import type { Effects } from './protocol.js';

export const NO_EFFECTS: Effects = { events: [], sends: [], alarms: [], starts: [], stops: [] };

/** What a job's commit holds beside its effects. */
export interface TurnFacts {
  readonly id: string;
  readonly expect: number;
  readonly job: Job;
  /** the last commit of the job: takes the message or the alarm away */
  readonly final: boolean;
  /** the agent exists already */
  readonly begun: boolean;
}

/** The ops of one commit of a turn; empty when there is nothing to make durable. */
export function opsOf({ id, expect, job, final, begun }: TurnFacts, effects: Effects): AgentOp[] {
  const begins = final && (job.create !== undefined || job.kind === 'init');
  const ends = final && job.kind === 'stop';
  const create = begun ? undefined : job.create;
  const status = begins ? 'running' : ends ? 'terminated' : undefined;
  const marks = status === undefined ? [] : [{ name: 'agentStatusUpdated', data: JSON.stringify({ status }) }];
  const events = [...effects.events, ...marks];
  const posts: AgentOp[] = [
    ...effects.starts.map((start) => ({ op: 'spawn', ...start, from: id }) as const),
    ...effects.sends.map(({ to, name, data }) => post(id, to, 'message', name, data, job.requestId)),
    ...effects.stops.map((to) => post(id, to, 'stop', 'onTerminate', undefined, job.requestId)),
  ];
  const consumed = final ? job.stored : undefined;
  const fired = final ? job.alarm : undefined;
  const own = effects.state !== undefined || events.length > 0 || effects.alarms.length > 0;
  if (
    !own &&
    posts.length === 0 &&
    consumed === undefined &&
    fired === undefined &&
    !begins &&
    !ends &&
    create === undefined
  ) {
    return [];
  }
  const turn: TurnOp = {
    op: 'turn',
    id,
    expect,
    ...(create === undefined ? {} : { create: { type: create } }),
    ...(effects.state === undefined ? {} : { state: effects.state, version: effects.version }),
    ...(events.length === 0 ? {} : { events }),
    ...(effects.alarms.length === 0 ? {} : { alarms: effects.alarms }),
    ...(consumed === undefined ? {} : { consumed }),
    ...(fired === undefined ? {} : { fired }),
    ...(ends ? { terminate: true } : {}),
  };
  return [turn, ...posts];
}

function post(
  from: string,
  to: string,
  kind: 'message' | 'stop',
  name: string,
  data: string | undefined,
  requestId: string,
): AgentOp {
  return { op: 'post', to, from, kind, name, ...(data === undefined ? {} : { data }), requestId };
}
