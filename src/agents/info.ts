// What the main process and host processes both speak of. It imports nothing: types of app code are read through it.

/** Where an agent stands. Only `running`, `suspended`, `starting` and `terminated` are stored; the others pass. */
export type AgentStatus = 'starting' | 'running' | 'suspending' | 'suspended' | 'resuming' | 'stopping' | 'terminated';

export interface AgentInfo {
  readonly id: string;
  /** type name: the class's `static agentName`, or its class name */
  readonly name: string;
  readonly status: AgentStatus;
  /** ISO 8601 UTC */
  readonly startedAt: string;
  /** turns committed so far */
  readonly turns: number;
  /** stored messages that wait */
  readonly waiting: number;
  readonly deadLetters: number;
}

export interface AgentFilter {
  readonly name?: string;
  readonly status?: AgentStatus;
  /** 1 to 1,000; default 100 */
  readonly first?: number;
  /** id of the last agent of the page before */
  readonly after?: string;
}

/** An asynchronous message (or alarm) that failed `limits.messageAttempts` times. */
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
  /** has an onSuspend of its own */
  readonly onSuspend: boolean;
  /** message names that run beside a turn, on the last committed state */
  readonly readOnly: readonly string[];
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
}

export interface HostLog {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly requestId?: string;
  readonly agentId?: string;
  /** function or message name */
  readonly operation?: string;
}
