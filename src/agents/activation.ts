import type { IdempotencyClaim } from '../commit/index.js';
import type { HostProcess } from './process/host-process.js';
import type { Head } from './stored.js';
import { Waiting } from './waiting.js';

/** Something an agent has to do: one turn when all goes well. */
export interface Job {
  readonly kind: 'init' | 'message' | 'alarm' | 'stop' | 'suspend';
  /** timestamp.n when stored, alarm.timestamp.id of an alarm, otherwise its own; the same in every try */
  readonly id: string;
  readonly name: string;
  readonly data?: string;
  /** agent id of the sender; "" from outside */
  readonly from: string;
  readonly requestId: string;
  readonly typed?: boolean;
  /** the type, for an agent that begins with this job */
  readonly create?: string;
  readonly stored?: { readonly ts: number; readonly n: number; readonly bytes: number };
  readonly alarm?: { readonly id: string; readonly at: number };
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

/** An agent that has something to do, or is in memory: what the main process knows of it. */
export class Activation {
  /** last committed head, once read */
  head: Head | undefined;
  /** the process that holds the instance as of the last committed turn */
  host: HostProcess | undefined;
  busy = false;
  /** passing status while a hook runs */
  passing: 'starting' | 'suspending' | 'resuming' | 'stopping' | undefined;
  /** monotonic milliseconds */
  lastUsed = 0;
  wake: NodeJS.Timeout | undefined;
  readonly waiting = new Waiting();

  constructor(readonly id: string) {}
}
