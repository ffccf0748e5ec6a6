import type { Clock, Histogram, Limits, Trace } from '../base/index.js';
import type { CallRecord } from '../connections/host.js';
import type { Committed, Committer, IdempotencyClaim } from '../commit/index.js';
import type { HostPool } from './process/host-pool.js';
import type {
  AgentFilter,
  AgentInfo,
  AgentType,
  DeadLetter,
  GraphMutated,
  GraphMutation,
  HostApp,
  HostLog,
} from './info.js';

export type * from './info.js';

export type StartOptions = Pick<SendOptions, 'idempotencyKey' | 'caller' | 'requestId'>;

export interface SendOptions {
  /** milliseconds until the caller gives up; default limits.messageMs */
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
  /** whose key it is; see FunctionCall */
  readonly caller?: string;
  /** who sends: order is kept for each sender and receiver; "" for callers from outside */
  readonly from?: string;
  readonly requestId?: string;
  readonly signal?: AbortSignal;
  /** the reply comes back as JSON of the handler's result (typed senders) */
  readonly typed?: boolean;
}

/** An event as a subscription tells it. `data` is a JSON value. */
export interface AgentEvent {
  /** incarnation.timestamp.n; absent for live events, which are not stored */
  readonly id?: string;
  readonly agentId: string;
  readonly name: string;
  readonly data: unknown;
  /** ISO 8601 UTC */
  readonly timestamp: string;
}

export interface EventsRequest {
  readonly agentId: string;
  /** id of the last event seen; without it the stream starts at now */
  readonly after?: string;
  /** only these names; status events (`agentStatusUpdated`) come only when named */
  readonly names?: readonly string[];
  readonly signal?: AbortSignal;
}

/** A message that waits in an agent's mailbox. */
export interface WaitingMessage {
  readonly name: string;
  readonly data?: string;
  readonly from: string;
  /** failed tries so far */
  readonly attempts: number;
  /** ISO 8601 UTC; absent when it is due at once */
  readonly notBefore?: string;
}

/** One agent as it is stored: for people who look into it, not for app code. */
export interface AgentInspection {
  readonly info: AgentInfo;
  /** JSON text, or what `getState` gave; undefined for an agent without state */
  readonly state?: string;
  /** oldest first, at most 100 */
  readonly waiting: readonly WaitingMessage[];
  readonly deadLetters: readonly DeadLetter[];
  /** stands before every kept event: `events({ after })` with it tells all of them again */
  readonly beforeFirstEvent: string;
}

/** The agents of one service. Errors: the AGENT_* codes, MESSAGE_UNKNOWN, MAILBOX_FULL, OUTCOME_UNKNOWN, TURN_CONFLICT. */
export interface Agents {
  /** Runs onInitialize and commits; resolves when the agent is durable. */
  start(name: string, options?: StartOptions): Promise<AgentInfo>;
  /** Runs onTerminate and commits a tombstone; works on a suspended agent too. */
  stop(id: string, options?: { readonly requestId?: string }): Promise<AgentInfo>;
  info(id: string): Promise<AgentInfo>;
  list(filter?: AgentFilter): Promise<readonly AgentInfo[]>;
  /** The handler's reply once its effects are durable; undefined when it gave none. What it throws is thrown here. */
  send(id: string, message: string, data?: string, options?: SendOptions): Promise<string | undefined>;
  /** Resolves with the message's id once it is durable in the mailbox. */
  sendAsync(id: string, message: string, data?: string, options?: SendOptions): Promise<string>;
  events(request: EventsRequest): AsyncIterable<AgentEvent>;
  deadLetters(agentId: string): Promise<readonly DeadLetter[]>;
  /** A new delivery of a dead letter; it leaves the list in the same commit. */
  replay(agentId: string, deadLetterId: string): Promise<void>;
  /**
   * Moves agents to the newest loaded app of the hosts: no new turns, running ones finish, resident agents are suspended,
   * `load` runs, turns go on. When `load` throws, turns go on with what ran before.
   */
  swap<T>(load: () => Promise<T>): Promise<T>;
  /** Agents with waiting messages or alarms resume; call once after the app is loaded. */
  resume(): Promise<void>;
  /** State, waiting messages and dead letters of one agent, all at one moment. */
  inspect(id: string): Promise<AgentInspection>;
  /** Wall milliseconds of the next alarm, or a little before; Infinity when none is set. */
  nextDue(): number;
  /** The clock was set forward (by a test): resolves when what is due now, and all that follows from it, is done. */
  clockMoved(): Promise<void>;
  /** Figures for /metrics. */
  stats(): Readonly<Record<string, number>>;
  /** Times for /metrics, by name. */
  times(): Readonly<Record<string, Histogram>>;
  /** No new turns, drain, onSuspend for all in memory. Hosts are closed by their owner. */
  close(): Promise<void>;
}

export interface AgentsOptions {
  readonly committer: Committer;
  /** of the store: first part of event ids */
  readonly incarnation: string;
  readonly hosts: HostPool;
  readonly graph?: GraphCalls;
  readonly clock?: Clock;
  readonly limits: Limits;
  readonly log?: (entry: HostLog) => void;
  /** hears of turns */
  readonly trace?: Trace;
}

// The graph as app code reaches it; see graph-calls.ts for one made of the graph and dql doors.

/** Reads and writes on one surface: the newest state, or one transaction. */
export interface GraphSurface {
  /** JSON text of the `data` object */
  query(text: string, variables?: Readonly<Record<string, string>>): Promise<string>;
  mutate(mutation: GraphMutation): Promise<GraphMutated>;
  /** JSON text of {data, errors} */
  graphql(text: string, variables?: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface GraphTransaction extends GraphSurface {
  /** From now on, what is read must still be so when it commits: TXN_ABORTED otherwise. */
  holdReads(): void;
  commit(options?: {
    readonly parts?: Readonly<Record<string, unknown>>;
    readonly idempotency?: IdempotencyClaim;
  }): Promise<Committed>;
  abort(): void;
}

export interface GraphCalls extends GraphSurface {
  begin(): Promise<GraphTransaction>;
}

// Host processes

/** What one loaded bundle offers, told by the host itself. */
export interface HostManifest {
  readonly agentTypes: readonly AgentType[];
  /** names of exported functions */
  readonly functions: readonly string[];
}

/** One call of an exported function. */
export interface FunctionCall {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly requestId: string;
  /** looked at now and then: whoever waits for the call has left */
  readonly signal?: { readonly aborted: boolean };
  /** wall milliseconds; default limits.turnWallMs */
  readonly timeoutMs?: number;
  readonly log?: (entry: HostLog) => void;
  /** Idempotency-Key of the request: messages and starts of a repeated call happen once */
  readonly idempotencyKey?: string;
  /** whose request it is: idempotency keys of two callers never meet */
  readonly caller?: string;
}

/** The pool of host processes. App code runs nowhere else. */
export interface Hosts {
  /** Starts the processes that the next load needs, beside what has to be done before it. */
  prepare(appDir: string): void;
  /**
   * Starts fresh processes with this bundle; when all have loaded it they take over and the old ones end once idle.
   * Throws APP_LOAD with the app's own error; what ran before keeps running.
   */
  load(app: HostApp): Promise<HostManifest>;
  readonly manifest: HostManifest | undefined;
  /** Runs an exported function. Throws FUNCTION_FAILED, FUNCTION_TIMEOUT or what the function's own calls threw. */
  call(call: FunctionCall): Promise<unknown>;
  /** Iterates what an exported function returned. */
  stream(call: FunctionCall): AsyncIterable<unknown>;
  stats(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

export interface HostsOptions {
  readonly limits: Limits;
  readonly clock?: Clock;
  /** default: one a core, at least one */
  readonly count?: number;
  /** prepares the next load after each; for an app that is loaded over and over */
  readonly prefork?: boolean;
  readonly log?: (entry: HostLog) => void;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** each finished call of a connection or a model, for /metrics and the explorer */
  readonly onCall?: (record: CallRecord) => void;
  /** hears of functions that are called */
  readonly trace?: Trace;
}
