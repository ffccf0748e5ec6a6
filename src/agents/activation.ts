import type { HostProcess } from './process/host-process.js';
import type { Head } from './stored.js';
import { Waiting } from './waiting.js';

/** An agent that has something to do, or is in memory: what the main process knows of it. */
export class Activation {
  /** last committed head, once read */
  head: Head | undefined;
  /** the process that holds the instance as of the last committed turn */
  host: HostProcess | undefined;
  busy = false;
  /** it begins now, under an id that nobody has had: nothing of it is stored */
  isNew = false;
  /** passing status while a hook runs */
  passing: 'starting' | 'suspending' | 'resuming' | 'stopping' | undefined;
  /** monotonic milliseconds */
  lastUsed = 0;
  wake: NodeJS.Timeout | undefined;
  /** wall milliseconds that `wake` waits for */
  wakesAt = Number.POSITIVE_INFINITY;
  readonly waiting = new Waiting();

  constructor(readonly id: string) {}
}

/** A process that lives holds the instance. */
export function isInMemory({ host }: Activation): boolean {
  return host?.dead === false;
}
