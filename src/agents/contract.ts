import type { Clock, ClockSteps, Histogram, Limits, Trace } from '../base/index.js';
import type { Committed, Committer, IdempotencyClaim } from '../commit/index.js';
import type { HostPool } from './process/host-pool.js';
import type {
  AgentEvent,
  AgentFilter,
  AgentInfo,
  AgentInspection,
  Alarm,
  CallerClaims,
  DeadLetter,
  GraphMutated,
  GraphMutation,
  DeadLetterPage,
  HistoryPage,
  HostLog,
  PastState,
} from './info.js';

export type * from './info.js';
export type * from './process/contract.js';

export type StartOptions = Pick<SendOptions, 'idempotencyKey' | 'caller' | 'requestId'> & {
  /** of the one agent of its type that has it: one that was started is given again */
  readonly key?: string;
};

export interface SendOptions {
  /** milliseconds until the caller gives up; default limits.messageMs */
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
  /** whose key it is; see FunctionCall */
  readonly caller?: string;
  /** who sends: order is kept for each sender and receiver; "" for callers from outside */
  readonly from?: string;
  readonly requestId?: string;
  /** data is a JSON array of the handler's arguments, and a reply comes back as JSON of its result (typed senders) */
  readonly typed?: boolean;
  /** only messages that the type lists as read-only are taken: METHOD_NOT_ALLOWED for others */
  readonly readOnly?: boolean;
  /** the same where a function's `graph.transaction` waits for the reply: INVALID_REQUEST for others */
  readonly inTransaction?: boolean;
  /** only an agent of this type is sent it: AGENT_UNKNOWN for others */
  readonly type?: string;
  /** whose request asks for it, where no function stands between: the handler is told who calls */
  readonly client?: CallerClaims;
}

export interface EventsRequest {
  readonly agentId: string;
  /** id of the last event seen, or "0" for the oldest that is kept; without it the stream starts at now */
  readonly after?: string;
  /** only these names; status events (`agentStatusUpdated`) come only when named */
  readonly names?: readonly string[];
  readonly signal?: AbortSignal;
}

/** Who would listen to an agent. */
export interface Listener {
  readonly requestId: string;
  /** what a verified token says */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The agents of one service. Errors: the AGENT_* codes, MESSAGE_UNKNOWN, MAILBOX_FULL, OUTCOME_UNKNOWN, TURN_CONFLICT. */
export interface Agents {
  /** Runs onInitialize and commits; resolves when the agent is durable. */
  start(name: string, options?: StartOptions): Promise<AgentInfo>;
  /** Runs onTerminate and commits a tombstone; works on a suspended agent too. */
  stop(id: string, options?: { readonly requestId?: string }): Promise<AgentInfo>;
  info(id: string): Promise<AgentInfo>;
  list(filter?: AgentFilter): Promise<readonly AgentInfo[]>;
  /** The states that are kept of it, newest first. Throws AGENT_UNKNOWN, INVALID_VALUE. */
  history(id: string, page?: HistoryPage): Promise<readonly PastState[]>;
  /** The alarms that are set, soonest first; none of a stopped agent. Throws AGENT_UNKNOWN. */
  alarms(id: string): Promise<readonly Alarm[]>;
  /** The handler's reply once its effects are durable; undefined when it gave none. What it throws is thrown here. */
  send(id: string, message: string, data?: string, options?: SendOptions): Promise<string | undefined>;
  /** Resolves with the message's id once it is durable in the mailbox. */
  sendAsync(id: string, message: string, data?: string, options?: SendOptions): Promise<string>;
  events(request: EventsRequest): AsyncIterable<AgentEvent>;
  /** The same, in batches of what came together: of a burst, one for each reader. */
  eventBatches(request: EventsRequest): AsyncIterable<readonly AgentEvent[]>;
  /** All events that are kept, oldest first, as they stand now; changes of status among them. */
  keptEvents(agentId: string): Promise<readonly AgentEvent[]>;
  /**
   * `eventBatches` for somebody whom the agent's class may turn away (`static mayListen`). Throws FORBIDDEN, or what the class's
   * method threw.
   */
  listen(request: EventsRequest, listener: Listener): AsyncIterable<readonly AgentEvent[]>;
  /** What failed for good, oldest first. Throws AGENT_UNKNOWN, INVALID_VALUE. */
  deadLetters(agentId: string, page?: DeadLetterPage): Promise<readonly DeadLetter[]>;
  /** A new delivery of a dead letter; it leaves the list in the same commit. */
  replay(agentId: string, deadLetterId: string): Promise<void>;
  /**
   * Moves agents to the newest loaded app of the hosts: no new turns, running ones finish, resident agents are suspended,
   * `load` runs, turns go on. When `load` throws, turns go on with what ran before.
   */
  swap<T>(load: () => Promise<T>): Promise<T>;
  /** Agents with waiting messages or alarms resume; call once after the app is loaded. */
  resume(): Promise<void>;
  /** State, alarms, waiting messages and dead letters of one agent, all at one moment. */
  inspect(id: string): Promise<AgentInspection>;
  /** Wall milliseconds of the next alarm, or a little before, or of the next try of a message; Infinity when there is none. */
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
  /** of the same clock */
  readonly steps?: ClockSteps;
  readonly limits: Limits;
  readonly log?: (entry: HostLog) => void;
  /** hears of turns */
  readonly trace?: Trace;
}

// The graph as app code reaches it; see graph-calls.ts for one made of the graph and dql doors.

/** How app code asks by a GraphQL text. */
export interface GraphqlTerms {
  /** rules hold where there is one */
  readonly caller?: CallerClaims;
  /** functions that the text calls may change nothing */
  readonly readOnly?: boolean;
  /** id of the agent whose turn asks */
  readonly asking?: string;
  /** a function's `graph.transaction` waits for the answer: messages whose reply would come before it has landed are refused */
  readonly inTransaction?: boolean;
}

/** Reads and writes on one surface: the newest state, or one transaction. */
export interface GraphSurface {
  /** JSON text of the `data` object */
  query(text: string, variables?: Readonly<Record<string, string>>): Promise<string>;
  mutate(mutation: GraphMutation): Promise<GraphMutated>;
  /** JSON text of {data, errors} */
  graphql(text: string, variables?: Readonly<Record<string, unknown>>, terms?: GraphqlTerms): Promise<string>;
}

/** What two transactions meet in. */
export interface TransactionKeys {
  /** what it writes, and what it has read that must still be so when it commits: it loses to whoever touches one of these before */
  readonly own: readonly string[];
  /** what it writes, and what that lies in: a value's predicate, say */
  readonly touches: readonly string[];
}

export interface GraphTransaction extends GraphSurface {
  /** From now on, what is read must still be so when it commits: TXN_ABORTED otherwise. */
  holdReads(): void;
  /** Gives what takes back all that is written after it. */
  mark(): Promise<() => Promise<void>>;
  keys(): TransactionKeys;
  commit(options?: {
    readonly parts?: Readonly<Record<string, unknown>>;
    readonly idempotency?: IdempotencyClaim;
  }): Promise<Committed>;
  abort(): void;
}

export interface GraphCalls extends GraphSurface {
  begin(): Promise<GraphTransaction>;
}
