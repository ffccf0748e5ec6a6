// What the main process, host processes and the explorer all speak of. It imports nothing: types of app code are read
// through it, and the explorer's page, which knows no Node, takes its types from it.

/** Whose request a function, a message or a GraphQL text is, where it is not the app's own. */
export interface CallerClaims {
  /** what a verified token says; absent for anyone */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Where an agent stands. Only `running`, `suspended`, `starting` and `terminated` are stored; the others pass. */
export type AgentStatus = 'starting' | 'running' | 'suspending' | 'suspended' | 'resuming' | 'stopping' | 'terminated';

/** What is known of an agent. */
export interface AgentInfo {
  readonly id: string;
  /** type name: the class's `static agentName`, or its class name */
  readonly name: string;
  /** what it was started by, where it was */
  readonly key?: string;
  readonly status: AgentStatus;
  /** ISO 8601 UTC */
  readonly startedAt: string;
  /** turns committed so far */
  readonly turns: number;
  /** stored messages that wait */
  readonly waiting: number;
  readonly deadLetters: number;
  /** alarms that are set */
  readonly alarms: number;
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

/** Which agents `agents.list` gives. */
export interface AgentFilter {
  readonly name?: string;
  readonly status?: AgentStatus;
  /** 1 to 1,000; default 100 */
  readonly first?: number;
  /** id of the last agent of the page before */
  readonly after?: string;
}

/** An asynchronous message (or alarm) that failed as often as its class or `limits.messageAttempts` allows. */
export interface DeadLetter {
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
  readonly data?: string;
  readonly from: string;
  readonly error: string;
  readonly attempts: number;
  /** ISO 8601 UTC */
  readonly failedAt: string;
}

/** A part of an agent's dead letters, oldest first. */
export interface DeadLetterPage {
  /** 1 to 1,000; default 100. Fewer come where they are large: those of 8 MiB together, one at least */
  readonly first?: number;
  /** id of the last dead letter of the page before */
  readonly after?: string;
}

/** An alarm that is set. */
export interface Alarm {
  readonly id: string;
  /** that onAlarm gets */
  readonly name: string;
  /** ISO 8601 UTC: when it rings next, or should have rung */
  readonly at: string;
  readonly data?: string;
  /** milliseconds from one round to the next; absent where it rings once, or by a calendar */
  readonly every?: number;
  /** times at which it rings, as an expression of cron, and the IANA time zone whose clocks they mean */
  readonly cron?: string;
  readonly zone?: string;
  /** failed tries of the round that is due */
  readonly attempts: number;
}

/** A state as one commit of a turn left it. */
export interface PastState {
  /** counts the commits of the agent's turns, from 1 (`AgentInfo.turns` at that time) */
  readonly turn: number;
  /** ISO 8601 UTC */
  readonly at: string;
  /** what changed it */
  readonly kind: 'message' | 'alarm' | 'hook';
  /** of the message, of the alarm, or of the hook: onInitialize, onSuspend */
  readonly name: string;
  /** the class's `static version` then: what is kept is not migrated */
  readonly version: number;
  /** what `getState` gave: JSON text, where it is not overridden; absent where it gave none */
  readonly state?: string;
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
  /** why its last try failed; absent where none has */
  readonly error?: string;
}

/** One agent as it is stored: for people who look into it, not for app code. */
export interface AgentInspection {
  readonly info: AgentInfo;
  /** JSON text, or what `getState` gave; undefined for an agent without state */
  readonly state?: string;
  /** soonest first, at most 100 */
  readonly alarms: readonly Alarm[];
  /** oldest first, at most 100 */
  readonly waiting: readonly WaitingMessage[];
  /** oldest first, at most 100; as waiting ones, fewer where they are large */
  readonly deadLetters: readonly DeadLetter[];
  /** stands before every kept event: `events({ after })` with it tells all of them again */
  readonly beforeFirstEvent: string;
}

/** A part of an agent's history. */
export interface HistoryPage {
  /** 1 to 100; default 20. Fewer come where states are large: those of `limits.agentStateBytes` together, one at least */
  readonly limit?: number;
  /** only states that were left before this turn: that of the last one of the page before */
  readonly before?: number;
}

export interface GraphMutation {
  /** RDF body of set or delete blocks or an upsert, or JSON text */
  readonly body: string;
  readonly contentType: 'rdf' | 'json';
}

export interface GraphMutated {
  readonly uids: Readonly<Record<string, string>>;
  /** JSON text of the upsert's query blocks */
  readonly queries?: string;
}

export interface AgentType {
  readonly name: string;
  readonly version: number;
  /** tries of a background message or alarm; absent: limits.messageAttempts */
  readonly attempts?: number;
  /** has an onSuspend of its own */
  readonly onSuspend: boolean;
  /** methods that answer messages of their own name, with several arguments where they take some */
  readonly handlers: readonly string[];
  /** message names that run beside a turn, on the last committed state */
  readonly readOnly: readonly string[];
  /** states that are kept of an agent; 0 for none */
  readonly history: number;
  /** its class says who may listen to an agent */
  readonly mayListen: boolean;
}

export interface HostApp {
  /** absolute path of an ESM file; see functions/bundle.ts for its shape */
  readonly bundle: string;
  /** folder the app's relative paths start at */
  readonly appDir: string;
  /** plain data for connections and models (see src/connections) */
  readonly connections?: unknown;
  /** each call of the service keeps where the app made it, for what it may throw: a few percent of what a call costs */
  readonly stacks?: boolean;
}

export interface HostLog {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly requestId?: string;
  readonly agentId?: string;
  /** function or message name */
  readonly operation?: string;
}
