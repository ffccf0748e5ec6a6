import type { ServerResponse } from 'node:http';

/** Signals of the requests under way: aborted when their client goes away, all of them at shutdown. */
export class ResponseSignals {
  readonly #open = new Set<AbortController>();
  #stopped = false;

  /** Aborted when the client goes away before its answer is written, or when the service shuts down. */
  of(response: ServerResponse): AbortSignal {
    const controller = new AbortController();
    if (this.#stopped) controller.abort();
    this.#open.add(controller);
    response.once('close', () => {
      this.#open.delete(controller);
      if (!response.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  stop(): void {
    this.#stopped = true;
    for (const controller of this.#open) controller.abort();
  }
}
