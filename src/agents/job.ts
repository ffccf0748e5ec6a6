import { hash, randomBytes } from 'node:crypto';
import { GraphsteadError } from '../base/index.js';
import type { IdempotencyClaim } from '../commit/index.js';
import type { CallerClaims, SendOptions } from './contract.js';
import type { AgentOp, NewAgent, FiredPart, PostOp } from './part.js';
import type { DueAlarm, MailboxEntry } from './reader.js';
import { nextRound, type Rounds } from './rounds.js';
import { type Head, messageOf } from './stored.js';
import { ThrownByApp } from './wire-failure.js';

// What jobs are made of, and what becomes of those that fail.

/** the longest pause before another try */
export const BACKOFF_MOST_MS = 60_000;

/** Something an agent has to do: one turn when all goes well. */
export interface Job {
  readonly kind: 'init' | 'message' | 'alarm' | 'stop' | 'suspend';
  /** timestamp.n when stored, alarm.timestamp.id of an alarm, otherwise its own; the same in every try until it is left in the mailbox */
  id: string;
  readonly name: string;
  readonly data?: string;
  /** agent id of the sender; "" from outside */
  readonly from: string;
  readonly requestId: string;
  readonly typed?: boolean;
  /** whose request asks for it, where it is neither an agent's nor a function's */
  readonly client?: CallerClaims;
  /** a message to a read-only handler: where its agent is starting it waits for that */
  readonly reads?: boolean;
  /** for an agent that begins with this job */
  readonly create?: NewAgent;
  stored?: { readonly ts: number; readonly n: number; readonly bytes: number };
  alarm?: { readonly id: string; readonly at: number };
  /** when that alarm rings again */
  every?: Rounds;
  readonly claim?: Omit<IdempotencyClaim, 'reply'>;
  /** turns whose failure was counted */
  attempts: number;
  /** wall milliseconds */
  notBefore: number;
  begun: boolean;
  /** calls made up to its last checkpoint: they are done, whoever runs it again goes on behind them and knows that it is not the first */
  calls?: number;
  /** checkpoints of it that have landed, where only its idempotency key will tell whoever runs it again */
  checkpoints?: number;
  resolve?(reply: string | undefined): void;
  reject?(error: unknown): void;
}

const UNIQUE = randomBytes(12).toString('base64url');
let made = 0;

/** Id of a job that is not stored: no other has it, in this process or another. */
export function freshJobId(): string {
  return `${UNIQUE}-${(++made).toString(36)}`;
}

/** The job of a message that has just landed. */
export function landedJob(op: PostOp, ts: number, n: number) {
  const message = messageOf(op);
  const bytes = Buffer.byteLength(JSON.stringify(message));
  return jobOf({ ...message, ts, n, bytes, attempts: 0, notBefore: 0 });
}

/** The round of an alarm goes on as the message that a checkpoint of it has left in the mailbox. */
export function becomesStored(job: Job, op: PostOp, ts: number): void {
  const { id, stored } = landedJob(op, ts, 0);
  Object.assign(job, { id, stored, alarm: undefined });
}

/** The job of a stored message. */
export function jobOf(entry: MailboxEntry): Job & { readonly stored: NonNullable<Job['stored']> } {
  const { kind, name, data, typed, from, ts, n, bytes, attempts, notBefore, calls } = entry;
  const stored = { ts, n, bytes };
  return {
    kind,
    name,
    data,
    typed,
    from,
    id: `${ts}.${n}`,
    requestId: entry.requestId ?? '',
    stored,
    attempts,
    notBefore,
    begun: false,
    calls,
  };
}

/**
 * Another try would end as this one did: an unknown message, or (a second time) code that holds the thread. What the
 * handler met at other agents may be gone by then.
 */
export function isHopeless(id: string, { code, details }: GraphsteadError, attempts: number): boolean {
  if (details?.['agentId'] !== id) return false;
  return code === 'MESSAGE_UNKNOWN' || (code === 'AGENT_TIMEOUT' && attempts >= 2);
}

/** codes of a store that takes nothing for now */
const REFUSALS: ReadonlySet<string> = new Set(['DISK_FULL', 'OVERLOADED', 'STORE_FENCED']);

/** The service took nothing for now, whatever the handler did. A handler that throws the same has failed: it may do so for ever. */
export function isRefused(error: GraphsteadError): boolean {
  return !(error instanceof ThrownByApp) && REFUSALS.has(error.code);
}

/** The job that runs onSuspend. */
export function suspension(): Job {
  return {
    kind: 'suspend',
    id: freshJobId(),
    name: 'onSuspend',
    from: '',
    requestId: '',
    attempts: 0,
    notBefore: 0,
    begun: true,
  };
}

/** The job of an alarm that is due. */
export function alarmJob(alarm: DueAlarm): Job {
  return {
    kind: 'alarm',
    id: `alarm.${alarm.set ?? alarm.at}.${alarm.id}`,
    name: alarm.name,
    data: alarm.data,
    from: '',
    requestId: '',
    alarm: { id: alarm.id, at: alarm.at },
    every: alarm.every,
    attempts: alarm.attempts ?? 0,
    notBefore: alarm.notBefore ?? 0,
    begun: false,
    calls: alarm.calls,
  };
}

/** What a job is called by whoever tries it, also after a restart; undefined where a repeated message is another message. */
export function lastingId(agentId: string, { id, stored, alarm, claim }: Job): string | undefined {
  if (stored !== undefined || alarm !== undefined) return `${agentId} ${id}`;
  // Not by the agent: each try of a start makes another id.
  return claim === undefined ? undefined : `key ${digest(`${claim.scope}\n${claim.key}`)}`;
}

/** The alarm that a job handled, as its last commit takes it. */
export function firedBy({ alarm, every }: Job, wall: number): FiredPart | undefined {
  if (alarm === undefined || typeof every !== 'object') return alarm && { ...alarm, wall };
  return { ...alarm, wall, next: nextRound(alarm.at, every, wall) };
}

/** A background job failed for good. */
export function deadOps(
  { id, head }: { readonly id: string; readonly head?: Head },
  job: Job,
  attempts: number,
  error: string,
  wall: number,
): AgentOp[] {
  const { name, data, typed, from, stored: consumed } = job;
  const fired = firedBy(job, wall);
  const kind = job.kind === 'alarm' || job.kind === 'stop' ? job.kind : undefined;
  const dead: AgentOp = { op: 'dead', id, kind, name, data, typed, from, attempts, error, consumed, fired };
  if (job.kind !== 'init') return [dead];
  // It never began: nothing can be sent to it any more.
  return [dead, { op: 'turn', id, expect: head?.turns ?? 0, terminate: true }];
}

/** characters of an error that are kept with a message that is tried again: its entry fits a page whatever was thrown */
const RETRY_ERROR = 500;

/** A background job failed, and will be tried again. */
export function retryOps(id: string, job: Job, attempts: number, notBefore: number, error: string): AgentOp[] {
  const { stored: message, alarm, calls } = job;
  if (message === undefined && alarm === undefined) return [];
  return [{ op: 'retry', id, message, alarm, attempts, notBefore, error: error.slice(0, RETRY_ERROR), calls }];
}

/** An agent is a caller of its own, whoever made it run. */
export function callerOf({ from, caller = 'anyone' }: SendOptions): string {
  return from === undefined || from === '' ? caller : from;
}

/** The idempotency claim of a key; undefined without one. */
export function claimOf(scope: string, key: string | undefined, body: string): Job['claim'] {
  if (key === undefined) return undefined;
  return { scope, key, bodyHash: digest(body) };
}

export function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** A caller's patience ended. */
export function outOfTime(id: string, job: Job, timeoutMs: number): GraphsteadError {
  const what = `"${job.name}" of agent ${id}`;
  if (!job.begun) {
    return new GraphsteadError('AGENT_TIMEOUT', `${what} did not begin within ${timeoutMs} ms and was taken back`, {
      fix: 'the agent is busy: wait longer, or send it with sendMessageAsync',
    });
  }
  if (job.reads === true) {
    return new GraphsteadError('AGENT_TIMEOUT', `${what} did not end within ${timeoutMs} ms`, {
      fix: 'it changes nothing, and may be asked again; a longer timeout, or limits.messageMs, gives it more time',
    });
  }
  return new GraphsteadError(
    'OUTCOME_UNKNOWN',
    `${what} did not end within ${timeoutMs} ms; it may still take effect`,
    {
      fix: 'ask the agent before you send it again, or send it with an idempotencyKey; a longer timeout, or limits.messageMs, gives it more time',
    },
  );
}
