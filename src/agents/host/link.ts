import { Socket } from 'node:net';
import { compact, expanded } from '../compact.js';
import { Pipe } from '../pipe.js';
import { type FromHost, HOST_FD, type ToHost, type WireFailure } from '../protocol.js';
import { toFailure } from '../wire-failure.js';

let pipe: Pipe<ToHost, FromHost> | undefined;

/** A call that cannot leave: whoever made it is told. */
export type Unsent = (rpc: number, error: WireFailure) => void;

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

/** A result that holds a function, say, or is too large, fails its own task only; a call fails where it was made. */
function refusal(message: FromHost, error: unknown, unsent: Unsent): FromHost | undefined {
  if (!('id' in message) || message.id === undefined) return undefined;
  const { message: reason, code, fix = 'return plain data' } = toFailure(error);
  const what = message.k === 'rpc' ? `what ${message.method} was given` : 'the result';
  const failure = { message: `${what} cannot leave the process: ${reason}`, code, fix };
  if (message.k !== 'rpc') return { k: 'failed', id: message.id, error: failure };
  unsent(message.rpc, { ...failure, code: code ?? 'INVALID_VALUE' });
  return undefined;
}
