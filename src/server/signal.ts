import { UnderWay } from '../base/index.js';

/** Whether nobody waits for an answer any more; asked now and then, it needs no listener. */
export interface Gone {
  readonly aborted: boolean;
}

/** An answer under way, as far as those who work on it need to know: Node's own response is one. */
export interface Answering {
  /** null once it is gone */
  readonly socket: { readonly remoteAddress?: string } | null;
  /** nobody can read it any more */
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** all of it has gone out */
  readonly writableFinished: boolean;
  /** once it has gone out, or its connection has ended */
  once(event: 'close', listener: () => void): unknown;
  /** ends the connection where nothing of it is taken for so long */
  setTimeout(ms: number): unknown;
}

interface Open {
  readonly controller: AbortController;
  readonly answering: Answering;
}

/** Signals of the requests under way: aborted when their client goes away, all of them at shutdown. */
export class AnswerSignals {
  readonly #open = new UnderWay<Open>();
  #next = 0;
  #stopped = false;

  /** Aborted when the client goes away before its answer is written, or when the service shuts down. */
  of(answering: Answering): AbortSignal {
    const controller = new AbortController();
    if (this.gone(answering).aborted) controller.abort();
    const number = this.#next++;
    this.#open.set(number, { controller, answering });
    answering.once('close', () => {
      this.#open.take(number);
      if (!answering.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  /** The same as a question only, for work that looks now and then: hardly costs anything. */
  gone(answering: Answering): Gone {
    return new AnswerGone(this, answering);
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Aborts what has begun to answer and is not done: event streams. Other requests may finish. */
  stopStreams(): void {
    for (const [, { controller, answering }] of this.#open.entries()) if (answering.headersSent) controller.abort();
  }

  stop(): void {
    this.#stopped = true;
    for (const [, { controller }] of this.#open.entries()) controller.abort();
  }
}

class AnswerGone implements Gone {
  readonly #signals: AnswerSignals;
  readonly #answering: Answering;

  constructor(signals: AnswerSignals, answering: Answering) {
    this.#signals = signals;
    this.#answering = answering;
  }

  get aborted(): boolean {
    return this.#signals.stopped || (this.#answering.destroyed && !this.#answering.writableFinished);
  }
}
