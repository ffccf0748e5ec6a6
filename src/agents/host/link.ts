import { Socket } from 'node:net';
import { Pipe } from '../pipe.js';
import { type FromHost, HOST_FD, type ToHost } from '../protocol.js';

let pipe: Pipe<ToHost, FromHost> | undefined;

/** Opens the way to the main process; `take` gets what it says, `left` is called when it is gone. */
export function openLink(take: (batch: readonly ToHost[]) => void, left: () => void): void {
  const socket = new Socket({ fd: HOST_FD.pipe, readable: true, writable: true });
  pipe = new Pipe(socket, take, uncopied);
  socket.once('close', left);
}

/** Tells the main process something. `given` is what app code put into it. */
export function tell(message: FromHost, given?: unknown): void {
  pipe?.tell(message, given);
}

/** Sends what waits. */
export function flush(): void {
  pipe?.flush();
}

/** A result that holds a function, say, fails its own task only. */
function uncopied(message: FromHost, error: unknown): FromHost | undefined {
  if (!('id' in message) || message.id === undefined) return undefined;
  const reason = error instanceof Error ? error.message : String(error);
  const failure = { message: `the result cannot leave the process: ${reason}`, fix: 'return plain data' };
  return { k: 'failed', id: message.id, error: failure };
}
