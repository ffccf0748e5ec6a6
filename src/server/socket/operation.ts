import { Exchange } from '../exchange.js';

/** An operation of a WebSocket, as those see it who work on its answer: what is sent of it goes out as it comes. */
export class Operation extends Exchange {
  override headersSent = true;

  /** A client that takes nothing is ended by its connection, which others share. */
  override setTimeout(): void {}
}
