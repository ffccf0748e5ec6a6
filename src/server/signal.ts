import type { ServerResponse } from 'node:http';
import { UnderWay } from '../base/index.js';

/** Whether nobody waits for an answer any more; asked now and then, it needs no listener. */
export interface Gone {
  readonly aborted: boolean;
}

interface Open {
  readonly controller: AbortController;
  readonly response: ServerResponse;
}

/** Signals of the requests under way: aborted when their client goes away, all of them at shutdown. */
export class ResponseSignals {
  readonly #open = new UnderWay<Open>();
  #next = 0;
  #stopped = false;

  /** Aborted when the client goes away before its answer is written, or when the service shuts down. */
  of(response: ServerResponse): AbortSignal {
    const controller = new AbortController();
    if (this.gone(response).aborted) controller.abort();
    const number = this.#next++;
    this.#open.set(number, { controller, response });
    response.once('close', () => {
      this.#open.take(number);
      if (!response.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  /** The same as a question only, for work that looks now and then: hardly costs anything. */
  gone(response: ServerResponse): Gone {
    return new ResponseGone(this, response);
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Aborts what has begun to answer and is not done: event streams. Other requests may finish. */
  stopStreams(): void {
    for (const [, { controller, response }] of this.#open.entries()) if (response.headersSent) controller.abort();
  }

  stop(): void {
    this.#stopped = true;
    for (const [, { controller }] of this.#open.entries()) controller.abort();
  }
}

class ResponseGone implements Gone {
  readonly #signals: ResponseSignals;
  readonly #response: ServerResponse;

  constructor(signals: ResponseSignals, response: ServerResponse) {
    this.#signals = signals;
    this.#response = response;
  }

  get aborted(): boolean {
    return this.#signals.stopped || (this.#response.destroyed && !this.#response.writableFinished);
  }
}
