import type { Clock, Limits, Trace } from '../../base/index.js';
import type { CallRecord } from '../../connections/host.js';
import type { AgentType, HostApp, HostLog } from '../info.js';

/** What one loaded bundle offers, told by the host itself. */
export interface HostManifest {
  readonly agentTypes: readonly AgentType[];
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
  /** of this call of the request: its messages and starts happen once when it is repeated */
  readonly idempotencyKey?: string;
  /** whose request it is: idempotency keys of two callers never meet */
  readonly caller?: string;
  /** what the caller's verified token says */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** id of the agent whose turn called it by GraphQL */
  readonly asking?: string;
  /** it may change nothing of the service: METHOD_NOT_ALLOWED where it tries */
  readonly readOnly?: boolean;
}

/** Processes that have loaded a bundle and have nothing to do yet: take over, or drop. */
export interface Staged {
  take(): HostManifest;
  drop(): void;
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
  /**
   * The first half of `load`: the processes stand beside those that work until they take over. The signal ends it before
   * they stand; it throws APP_LOAD then too.
   */
  stage(app: HostApp, signal?: AbortSignal): Promise<Staged>;
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
  /** the data directory, where there is one: for what finds no folder for temporary files */
  readonly data?: string;
  /** default: one a core, at least one */
  readonly count?: number;
  /** prepares the next load after each; for an app that is loaded over and over */
  readonly prefork?: boolean;
  readonly log?: (entry: HostLog) => void;
  /** what app code has as process.env; asked with each load. Default: that of this process */
  readonly environment?: () => Readonly<Record<string, string | undefined>>;
  /** each finished call of a connection or a model, for /metrics and the explorer */
  readonly onCall?: (record: CallRecord) => void;
  /** hears of functions that are called */
  readonly trace?: Trace;
}
