import type { CommitRecord } from '../commit/index.js';
import type { PastState } from './info.js';
import type { Rounds } from './rounds.js';

// What the agents write in one commit, as plain data: the `agents` part of an intent, and of its record.

/** The name under which the agents' applier is registered with the committer. */
export const AGENTS = 'agents';

export interface AgentPart {
  readonly ops: readonly AgentOp[];
}

/** The agents' part of a commit record. */
export function agentPart({ parts }: Pick<CommitRecord, 'parts'>): AgentPart | undefined {
  return parts[AGENTS] as AgentPart | undefined;
}

/** Position of a stored message: commit timestamp and its number among the posts of that commit. */
export interface MessagePosition {
  readonly ts: number;
  readonly n: number;
}

export interface EventPart {
  readonly name: string;
  /** JSON text */
  readonly data: string;
}

export interface AlarmPart {
  readonly id: string;
  /** wall milliseconds; absent takes the alarm back */
  readonly at?: number;
  readonly name?: string;
  readonly data?: string;
  /** absent rings once */
  readonly every?: Rounds;
}

export interface FiredPart {
  readonly id: string;
  readonly at: number;
  /** what the clock shows, for its next round: commits keep the latest that it has ever shown. Absent in old records */
  readonly wall?: number;
  /** its next round, where a calendar tells it: an applier knows none, since time zones change with what the machine knows of them */
  readonly next?: number;
}

/** How a state that is kept came about. */
export interface HistoryPart {
  /** states that its class keeps: at least 1 */
  readonly keep: number;
  readonly kind: PastState['kind'];
  readonly name: string;
}

/** What an agent begins as. */
export interface NewAgent {
  readonly type: string;
  /** that it is started by */
  readonly key?: string;
  /** those of the one that had its key and was stopped: they count on */
  readonly turns?: number;
}

/** Everything one turn did to its own agent. */
export interface TurnOp {
  readonly op: 'turn';
  readonly id: string;
  /** turns committed before this one: a record of a dead activation does not fit and is refused with TXN_ABORTED */
  readonly expect: number;
  /** the agent begins with this turn */
  readonly create?: NewAgent;
  readonly state?: string;
  readonly version?: number;
  /** absent where the class keeps no history; only beside a state */
  readonly history?: HistoryPart;
  readonly events?: readonly EventPart[];
  readonly alarms?: readonly AlarmPart[];
  /** the stored message this turn handled */
  readonly consumed?: MessagePosition & { readonly bytes: number };
  /** the alarm this turn handled: it goes, or waits for its next round */
  readonly fired?: FiredPart;
  readonly terminate?: boolean;
}

/** `alarm` is the new delivery of one that failed for good. */
export type PostKind = 'message' | 'init' | 'stop' | 'alarm';

/** A message for an agent's mailbox. */
export interface PostOp {
  readonly op: 'post';
  readonly to: string;
  readonly from: string;
  readonly kind: PostKind;
  readonly name: string;
  readonly data?: string;
  /** data is a JSON array of the handler's arguments */
  readonly typed?: boolean;
  readonly requestId?: string;
  /** its turn goes on behind this commit, which it has made as a checkpoint: the round of an alarm that it has moved or taken back */
  readonly begun?: { readonly attempts: number; readonly calls: number };
}

/** An agent that begins later: its onInitialize is the first message of its mailbox. */
export interface SpawnOp {
  readonly op: 'spawn';
  readonly id: string;
  readonly type: string;
  readonly key?: string;
  readonly from: string;
}

/** A stored message (or alarm) failed and will be tried again. */
export interface RetryOp {
  readonly op: 'retry';
  readonly id: string;
  readonly message?: MessagePosition;
  readonly alarm?: { readonly id: string; readonly at: number };
  readonly attempts: number;
  /** wall milliseconds */
  readonly notBefore: number;
  readonly error: string;
  /** calls made up to its last checkpoint, where there was one */
  readonly calls?: number;
}

/** An alarm rang and its agent has no class: it waits apart from those that are due, and is released to them once there is one. */
export interface HoldOp {
  readonly op: 'hold' | 'release';
  readonly id: string;
  readonly alarm: { readonly id: string; readonly at: number };
}

/** A stored message or an alarm failed for good. */
export interface DeadOp {
  readonly op: 'dead';
  readonly id: string;
  readonly consumed?: MessagePosition & { readonly bytes: number };
  readonly fired?: FiredPart;
  /** default: message */
  readonly kind?: PostKind;
  readonly name: string;
  readonly data?: string;
  readonly typed?: boolean;
  readonly from: string;
  readonly attempts: number;
  readonly error: string;
}

/** A dead letter leaves its list; the post beside it is its new delivery. */
export interface ReplayOp {
  readonly op: 'replay';
  readonly id: string;
  readonly seq: number;
  readonly bytes: number;
}

/** What is left of a stopped agent goes, a bounded part of it in each commit. */
export interface SweepOp {
  readonly op: 'sweep';
  readonly id: string;
  /** wall milliseconds under which the agent waits to be swept; absent before its time, which leaves it waiting */
  readonly at?: number;
}

export type AgentOp = TurnOp | PostOp | SpawnOp | RetryOp | HoldOp | DeadOp | ReplayOp | SweepOp;
