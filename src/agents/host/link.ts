import { Socket } from 'node:net';
import { compact, expanded } from '../compact.js';
import { Pipe } from '../pipe.js';
import { type FromHost, HOST_FD, type ToHost, type WireFailure } from '../protocol.js';
import { toFailure } from '../wire-failure.js';
import { unsendable } from './unsendable.js';

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
  const { message: reason, code, fix } = toFailure(error);
  if (message.k === 'loaded' || message.k === 'refused') {
    const told = `what the app says of itself when it loads is too large: ${reason}`;
    return { k: 'refused', error: { message: told, code: 'APP_LOAD', fix: 'raise limits.hostMessageBytes' } };
  }
  if (!('id' in message) || message.id === undefined) return undefined;
  switch (message.k) {
    case 'rpc': {
      const part = code === undefined ? unsendable(message.args) : undefined;
      const why = part ? `arguments${part.path} is ${part.what}` : reason;
      unsent(message.rpc, {
        message: `what ${message.method} was given cannot leave the process: ${why}`,
        code: code ?? 'INVALID_VALUE',
        fix: part?.fix ?? fix ?? 'pass plain data',
      });
      return undefined;
    }
    case 'turned':
    case 'called':
    case 'failed': {
      const part = code === undefined && message.k === 'called' ? unsendable(message.value) : undefined;
      const why = part ? `result${part.path} is ${part.what}` : reason;
      const told = `the result cannot leave the process: ${why}`;
      return {
        k: 'failed',
        id: message.id,
        error: { message: told, code, fix: part?.fix ?? fix ?? 'return plain data' },
      };
    }
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
