import { type ErrorCode, GraphsteadError } from '../../base/index.js';
import type { CallRecord } from '../../connections/host.js';
import type { HostLog } from '../info.js';
import type { Effects, EventEffect, Rpc } from '../protocol.js';
import { StateNotTaken } from '../wire-failure.js';
import type { MadeCalls } from './made-calls.js';

/** What runs in a host process, as the main process looks after it: one object for all its runs. */
export interface HostTask {
  /** whose task it is, for the log and for errors */
  readonly label: Omit<HostLog, 'level' | 'message'>;
  readonly wallMs: number;
  readonly timeoutCode: ErrorCode;
  readonly failureCode: ErrorCode;
  readonly calls: MadeCalls;
  /** looked at now and then: whoever waits for the task has left */
  readonly signal?: { readonly aborted: boolean };
  rpc(call: Rpc): Promise<unknown>;
  live?(event: EventEffect): void;
  log?(entry: HostLog): void;
  /** it has run for the last time, however that ended */
  ended?(): void;
  /** the task called a connection or a model */
  used?(record: CallRecord): void;
}

export interface Turned {
  readonly reply?: string;
  readonly effects: Effects;
}

export const DEATH_FIX = 'look for process.exit, too much memory (limits.hostHeapMb), or a native module that crashes';

/** The process died under its tasks; `blamed` is certain, and undefined when it is not known whose fault it was. */
export class HostDied extends Error {
  constructor(
    reason: string,
    readonly blamed: boolean | undefined,
    readonly stuck: boolean,
    /** how much speaks against the task where nothing is certain; at 1 twice, it runs alone */
    readonly suspicion: number,
    /** the task's agent was taking its stored state: no handler had run */
    readonly taking = false,
  ) {
    super(reason);
  }
}

/** suspicion that a task may gather before it runs alone */
export const ENOUGH = 2;
const DOUBT = 0.2;

/** How a process ended, as far as it tells whose fault it was. */
export interface HostExit {
  readonly reason: string;
  /** a task held its thread */
  readonly stuck: boolean;
  /** what its marker said of who holds the thread, and whose state is taken; see host/marker.ts */
  readonly marked: number;
  readonly taking: number;
  /** tasks that had begun, and not ended */
  readonly tasks: ReadonlySet<number>;
}

/** What one of the tasks is told. `waiting`: it waited for an answer then, and is hardly guilty. */
export function diedOf(task: number, waiting: boolean, { reason, stuck, marked, taking, tasks }: HostExit): HostDied {
  const certain = tasks.size === 1 || tasks.has(marked);
  const blamed = stuck && certain ? tasks.size === 1 || task === marked : undefined;
  const likely = stuck && marked === -task;
  return new HostDied(reason, blamed, stuck, likely ? ENOUGH : waiting ? DOUBT : 1, task === taking);
}

/** What a task is told that its process had not begun: it is guilty of nothing, and yet must not wait for ever. */
export function unbegun(reason: string): HostDied {
  return new HostDied(reason, undefined, false, DOUBT);
}

/** A task kept its thread to itself, in the words of its kind. */
export function held(task: HostTask, ms: number): GraphsteadError {
  const fix = 'look for a loop without an end; limits.turnThreadMs bounds it';
  return timedOut(task, `held the thread for ${ms} ms`, fix);
}

/** What brings a stored state into its agent kept the thread to itself: it waits for other code, as one that throws there. */
export function heldByState({ label: { agentId } }: HostTask, ms: number): StateNotTaken {
  const how = `what takes the stored state of agent ${agentId} held the thread for ${ms} ms`;
  const fix = 'look for a loop without an end in static migrations and setState; limits.turnThreadMs bounds it';
  return new StateNotTaken('AGENT_STATE', how, { fix, details: { agentId } });
}

/** A task left the thread to others, and did not come to its end. */
export function unended(task: HostTask): GraphsteadError {
  const waits =
    'look for what it awaits that never comes, as a promise, or a result with a "then", that nobody settles';
  return timedOut(task, `did not end within ${task.wallMs} ms`, `${waits}; limits.turnWallMs bounds it`);
}

function timedOut({ label, timeoutCode }: HostTask, how: string, fix: string): GraphsteadError {
  const { agentId, operation } = label;
  const what = agentId === undefined ? `function ${operation}` : `"${operation}" of agent ${agentId}`;
  return new GraphsteadError(timeoutCode, `${what} ${how}`, {
    fix,
    ...(agentId === undefined ? {} : { details: { agentId } }),
  });
}
