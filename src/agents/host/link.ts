import { Socket } from 'node:net';
import { compact, expanded } from '../compact.js';
import { Pipe } from '../pipe.js';
import { type FromHost, HOST_FD, type ToHost, type WireFailure } from '../protocol.js';
import { toFailure } from '../wire-failure.js';

let pipe: Pipe<ToHost, FromHost> | undefined;

/** A call that cannot leave: whoever made it is told. */
type Unsent = (rpc: number, error: WireFailure) => void;

/** Opens the way to the main process; `take` gets what it says, `left` is called when it is gone. */
export function openLink(take: (batch: readonly ToHost[]) => void, unsent: Unsent, left: () => void): void {
  const socket = new Socket({ fd: HOST_FD.pipe, readable: true, writable: true });
  // the main process keeps what it sends within its limit, and tells it with the app
  const codec = { pack: compact, unpack: (travelled: unknown) => expanded(travelled) as ToHost };
  const refused = (message: FromHost, error: unknown) => refusal(message, error, unsent);
  pipe = new Pipe(socket, { messageBytes: Number.POSITIVE_INFINITY, take, refused, codec });
  socket.once('close', left);
}

/** Tells the main process something. `given` is what app code put into it. */
export function tell(message: FromHost, given?: unknown): void {
  pipe?.tell(message, given);
}

/** @param bytes limits.hostMessageBytes */
export function limitMessages(bytes: number): void {
  pipe?.limit(bytes);
}

/** Sends what waits. */
export function flush(): void {
  pipe?.flush();
}

/**
 * What to say in place of a message that cannot go. A result that holds a function, say, or is too large, fails its own task
 * only; a call fails where it was made. What is said beside the task's work (the note of an outside call for a rerun, a live event) is left out, and the log tells of it.
 */
function refusal(message: FromHost, error: unknown, unsent: Unsent): FromHost | undefined {
  const { message: reason, code, fix = 'return plain data' } = toFailure(error);
  if (message.k === 'loaded' || message.k === 'refused') {
    const told = `what the app says of itself when it loads is too large: ${reason}`;
    return { k: 'refused', error: { message: told, code: 'APP_LOAD', fix: 'raise limits.hostMessageBytes' } };
  }
  if (!('id' in message) || message.id === undefined) return undefined;
  switch (message.k) {
    case 'rpc': {
      const told = `what ${message.method} was given cannot leave the process: ${reason}`;
      unsent(message.rpc, { message: told, code: code ?? 'INVALID_VALUE', fix });
      return undefined;
    }
    case 'turned':
    case 'called':
    case 'failed':
      return {
        k: 'failed',
        id: message.id,
        error: { message: `the result cannot leave the process: ${reason}`, code, fix },
      };
    default:
      return { k: 'log', id: message.id, level: 'warn', message: `${LEFT_OUT[message.k]}: ${reason}` };
  }
}

/** What a task goes on without. */
const LEFT_OUT = {
  note: 'the result of an outside call is not remembered, a run that follows calls again',
  live: 'a live event was left out',
  log: 'a line of the log was left out',
  used: 'a call of a connection is not shown',
} as const;
