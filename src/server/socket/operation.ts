import { Exchange } from '../exchange.js';

/** An operation of a WebSocket, as those see it who work on its answer. */
export class Operation extends Exchange {
  /** A client that takes nothing is ended by its connection, which others share. */
  override setTimeout(): void {}
}
