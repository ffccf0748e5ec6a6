import { Worker } from 'node:worker_threads';
import { compiled, type ErrorCode, GraphsteadError, GraphsteadErrors, type Position } from '../base/index.js';
import type { AppSource } from './app-source.js';
import type { Reading } from './read/read-operations.js';

/** What the reading thread sends back. */
export interface WorkerAnswer {
  readonly reading?: Reading;
  readonly errors?: readonly {
    readonly code: ErrorCode;
    readonly message: string;
    readonly position?: Position;
    readonly fix?: string;
  }[];
}

/** The program that reads; another version of it may read differently. */
export const READER = compiled('functions/read/worker');

/**
 * Reads types in a thread of its own. It starts with the first reading and stays until `close`: what it parsed and
 * resolved once, it does not parse again. One reading at a time.
 */
export class ReadingThread {
  #worker: Worker | undefined;

  /** Throws GraphsteadErrors (SYNTAX, FUNCTION_TYPE). */
  async read(source: AppSource): Promise<Reading> {
    const answer = await this.#ask(source);
    if (answer.reading !== undefined) return answer.reading;
    const errors = (answer.errors ?? []).map(({ code, message, position, fix }) => {
      return new GraphsteadError(code, message, { position, fix });
    });
    throw new GraphsteadErrors(errors);
  }

  #ask(source: AppSource): Promise<WorkerAnswer> {
    const worker = this.#worker ?? new Worker(READER);
    this.#worker = worker;
    return new Promise<WorkerAnswer>((resolve, reject) => {
      const failed = (error: unknown) => {
        this.#worker = undefined;
        reject(error);
      };
      worker.removeAllListeners();
      worker.once('message', resolve);
      worker.once('error', failed);
      worker.once('exit', () =>
        failed(new GraphsteadError('INTERNAL', 'the reading of types ended without an answer')),
      );
      worker.postMessage(source);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}
