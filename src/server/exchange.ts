import type { Socket } from 'node:net';
import type { Answering } from './signal.js';

/** One request and its answer, as those see it who work on the answer. */
export class Exchange implements Answering {
  destroyed = false;
  headersSent = false;
  writableFinished = false;
  /** milliseconds without progress that end the connection; undefined: no such time was set */
  stallMs: number | undefined;
  #listeners: (() => void)[] | undefined;

  constructor(readonly socket: Socket) {}

  once(_event: 'close', listener: () => void): void {
    (this.#listeners ??= []).push(listener);
  }

  setTimeout(ms: number): void {
    this.stallMs = ms;
    this.socket.setTimeout(ms);
  }

  /** All of the answer has gone out. */
  finish(): void {
    this.writableFinished = true;
    this.#close();
  }

  /** The connection has ended. */
  destroy(): void {
    this.destroyed = true;
    this.#close();
  }

  #close(): void {
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener();
  }
}
