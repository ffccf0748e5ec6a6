import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { LargeAnswers } from '../answers.js';
import { Operation } from './operation.js';

/** bytes that wait for the client's reading before more is asked of the sources */
const BEHIND_BYTES = 64 * 1024;

/** What is sent to one client, at its pace. */
export class Outlet {
  readonly #socket: WebSocket;
  readonly #below: Socket;
  readonly #answers: LargeAnswers;

  constructor(socket: WebSocket, below: Socket, answers: LargeAnswers) {
    this.#socket = socket;
    this.#below = below;
    this.#answers = answers;
  }

  isBehind(more = 0): boolean {
    return this.#socket.bufferedAmount + more >= BEHIND_BYTES;
  }

  /** Sends in order, in one write; the promise, where there is one, resolves when the client has taken enough to be sent more. */
  tell(messages: readonly string[]): Promise<void> | undefined {
    const last = messages.length - 1;
    if (last < 0) return undefined;
    this.#below.cork();
    try {
      for (let i = 0; i < last; i++) this.#socket.send(messages[i]);
      if (this.isBehind(messages[last].length)) {
        return new Promise((resolve) => this.#socket.send(messages[last], () => resolve()));
      }
      this.#socket.send(messages[last]);
      return undefined;
    } finally {
      this.#below.uncork();
    }
  }

  /** The same with answers of so many bytes: what its client is behind with counts as other answers do that nobody has read yet. */
  answer(messages: readonly string[], bytes: number): Promise<void> | undefined {
    const told = this.tell(messages);
    if (told === undefined) return undefined;
    const waiting = new Operation(this.#below);
    this.#answers.add(bytes, waiting);
    return told.then(() => waiting.finish());
  }
}
