import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** milliseconds that a connection has to take why it was refused */
const REFUSAL_MS = 1_000;

/** Answers on a socket that no request of the library stands on, and ends it. @param body JSON. @param more lines of its head */
export function refuseSocket(socket: Socket, status: number, body: string, more: readonly string[] = []): void {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const head = ['content-type: application/json', length, 'connection: close', ...more].join('\r\n');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n\r\n${body}`);
  // a client that does not close its half would keep the connection, and what it has sent
  setTimeout(() => socket.destroy(), REFUSAL_MS).unref();
}
