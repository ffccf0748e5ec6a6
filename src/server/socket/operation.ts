import type { Socket } from 'node:net';
import type { Answering } from '../signal.js';

/** An operation of a connection, as those see it who work on its answer. */
export class Operation implements Answering {
  /** what is sent of it goes out as it comes */
  readonly headersSent = true;
  destroyed = false;
  writableFinished = false;
  #listeners: (() => void)[] = [];

  constructor(readonly socket: Socket) {}

  once(_event: 'close', listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** A client that takes nothing for a while is ended by its connection. */
  setTimeout(): void {}

  /** All of it was sent. */
  finish(): void {
    this.writableFinished = true;
    this.#close();
  }

  /** Nobody waits for it any more. */
  stop(): void {
    this.destroyed = true;
    this.#close();
  }

  #close(): void {
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
