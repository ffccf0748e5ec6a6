import type { CallRecord } from '../connections/host.js';
import type { AgentType, CallerClaims, HostApp } from './info.js';
import type { Rounds } from './rounds.js';

// What the main process and a host process say to each other; see pipe.ts for how it travels.

/** An error as it crosses the border. `code` is one of ours when the host (or main) knows it. */
export interface WireFailure {
  readonly message: string;
  readonly name?: string;
  readonly code?: string;
  readonly fix?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly stack?: string;
  /** of a turn: the loaded code could not take the stored state, and no handler ran */
  readonly notTaken?: true;
}

export interface Delivered {
  /** timestamp.n of a stored message; random for one that only waits in memory */
  readonly id: string;
  readonly name: string;
  readonly data?: string;
  readonly from: string;
  /** 1 for the first delivery */
  readonly attempt: number;
  readonly typed?: boolean;
}

/** The result of a call that an earlier run of the same task finished; a rerun gets it instead of calling again. */
export interface JournalEntry {
  readonly n: number;
  readonly hash: string;
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: WireFailure;
}

type TurnKind = 'init' | 'message' | 'alarm' | 'suspend' | 'terminate';

export interface TurnTask {
  readonly kind: TurnKind;
  readonly agentId: string;
  readonly type: string;
  /** given when the host does not hold the instance as of the last committed turn */
  readonly load?: { readonly state?: string; readonly version: number; readonly key?: string };
  readonly message?: Delivered;
  /** runs on an instance of its own, beside a turn, and changes nothing */
  readonly readOnly?: boolean;
  /** calls that earlier runs made up to their last checkpoint: this one goes on behind them */
  readonly calls?: number;
  /** whose request asks for it, where no function or agent stands between */
  readonly client?: CallerClaims;
  readonly requestId: string;
  readonly journal?: readonly JournalEntry[];
  /** headers that name this turn to others; absent when nothing is traced */
  readonly trace?: Readonly<Record<string, string>>;
}

export interface CallTask {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly stream?: boolean;
  readonly requestId: string;
  /** what the caller's verified token says */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly journal?: readonly JournalEntry[];
  readonly trace?: Readonly<Record<string, string>>;
}

export interface EventEffect {
  readonly name: string;
  /** JSON text */
  readonly data: string;
}

export interface SendEffect {
  readonly to: string;
  readonly name: string;
  readonly data?: string;
  /** data is a JSON array of the handler's arguments */
  readonly typed?: boolean;
}

export interface AlarmEffect {
  readonly id: string;
  /** wall milliseconds; absent cancels */
  readonly at?: number;
  readonly name?: string;
  readonly data?: string;
  readonly every?: Rounds;
}

export interface StartEffect {
  readonly id: string;
  readonly type: string;
  readonly key?: string;
}

/** What a turn did, collected and not yet visible to anyone; what it did not do is left out. */
export interface Effects {
  /** the whole state, when it changed */
  readonly state?: string;
  readonly version?: number;
  readonly events?: readonly EventEffect[];
  readonly sends?: readonly SendEffect[];
  readonly alarms?: readonly AlarmEffect[];
  readonly starts?: readonly StartEffect[];
  readonly stops?: readonly string[];
}

/** What a host process bounds itself, each as `limits` has them: bytes, where nothing else is said. */
interface HostLimits {
  readonly stateBytes: number;
  readonly eventBytes: number;
  readonly messageBytes: number;
  readonly replyBytes: number;
  /** states */
  readonly history: number;
}

export type ToHost =
  | {
      readonly k: 'load';
      readonly app: HostApp;
      readonly limits: HostLimits;
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly k: 'turn'; readonly id: number; readonly task: TurnTask }
  | { readonly k: 'call'; readonly id: number; readonly task: CallTask }
  /** the next item of a stream */
  | { readonly k: 'pull'; readonly id: number }
  /** nobody reads the stream any more: it ends, and is `called` once its code has tidied up */
  | { readonly k: 'leave'; readonly id: number }
  /** the task is given up: nothing it does from now on counts */
  | { readonly k: 'drop'; readonly id: number; readonly reason: string }
  | {
      readonly k: 'reply';
      readonly rpc: number;
      readonly ok: boolean;
      readonly value?: unknown;
      readonly error?: WireFailure;
    }
  | { readonly k: 'evict'; readonly agentId: string }
  | { readonly k: 'ping'; readonly n: number };

export type RpcMethod =
  | 'send'
  | 'sendAsync'
  | 'start'
  | 'stop'
  | 'info'
  | 'list'
  | 'history'
  | 'alarms'
  | 'keyed'
  | 'deadLetters'
  | 'replay'
  | 'checkpoint'
  | 'graph.query'
  | 'graph.mutate'
  | 'graph.graphql'
  | 'graph.begin'
  | 'graph.commit'
  | 'graph.abort';

/**
 * What `graph.begin` of a function answers: the number of its transaction, or what it gave to an earlier request of the same
 * Idempotency-Key (base64 of v8's structured clone, as `graph.commit` was given it).
 */
export type Begun = { readonly id: number; readonly keeps: boolean } | { readonly gave: string };

/** A request from a task to the service. */
export interface Rpc {
  readonly method: RpcMethod;
  readonly n: number;
  readonly args: readonly unknown[];
}

export type FromHost =
  | { readonly k: 'loaded'; readonly types: readonly AgentType[] }
  | { readonly k: 'refused'; readonly error: WireFailure }
  | { readonly k: 'turned'; readonly id: number; readonly reply?: string; readonly effects: Effects }
  | { readonly k: 'called'; readonly id: number; readonly value?: unknown; readonly done?: boolean }
  | { readonly k: 'failed'; readonly id: number; readonly error: WireFailure }
  | {
      readonly k: 'rpc';
      readonly rpc: number;
      readonly id: number;
      /** counts the calls of a task, from 0 */
      readonly n: number;
      /** a rerun gets the answer of this run */
      readonly once: boolean;
      readonly method: RpcMethod;
      readonly args: readonly unknown[];
    }
  | { readonly k: 'note'; readonly id: number; readonly entry: JournalEntry }
  | { readonly k: 'live'; readonly id: number; readonly event: EventEffect }
  | {
      readonly k: 'log';
      readonly id?: number;
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly message: string;
    }
  /** a connection or a model was called */
  | { readonly k: 'used'; readonly id?: number; readonly record: CallRecord }
  | { readonly k: 'pong'; readonly n: number };

/** Stdio indexes of a host: its end of the pipe, and the file where it marks whose code holds the thread (host/marker.ts). */
export const HOST_FD = { pipe: 3, marker: 4 } as const;

/** The marker: numbers, and behind them the name of a file; see host/marker.ts. */
export const MARKS_BYTES = 24;
export const FILE_BYTES = 1024;

/** Name under which a host calls what an agent's class says of its listeners: no exported function can have it. */
export const guardOf = (type: string): string => `${type}.mayListen`;
