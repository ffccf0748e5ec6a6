import { Worker } from 'node:worker_threads';
import { compiled, type ErrorCode, GraphsteadError, GraphsteadErrors, internal, type Position } from '../base/index.js';
import type { AppSource } from './app-source.js';
import type { Reading } from './read/read-operations.js';

/** What the reading thread sends back. */
export interface WorkerAnswer {
  readonly reading?: Reading;
  readonly errors?: readonly {
    readonly code: ErrorCode;
    readonly message: string;
    readonly position?: Position;
    readonly fix: string;
  }[];
}

/** The program that reads; another version of it may read differently. */
export const READER = compiled('functions/read/worker');

/** Milliseconds that a thread rests before it ends, when its app has closed: tests open one app after the other. */
const REST_MS = 30_000;

/** One that a closed app has left; it keeps no process alive. */
let resting: { readonly worker: Worker; readonly end: NodeJS.Timeout } | undefined;

/**
 * Reads types in a thread of its own. It starts with the first reading and stays until `close`: what it parsed and
 * resolved once, it does not parse again, nor does the next app of this process. One reading at a time.
 */
export class ReadingThread {
  #worker: Worker | undefined;
  #isReading = false;

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
    const worker = this.#worker ?? rested() ?? new Worker(READER);
    this.#worker = worker;
    this.#isReading = true;
    return new Promise<WorkerAnswer>((resolve, reject) => {
      const failed = (error: unknown) => {
        this.#worker = undefined;
        reject(error);
      };
      worker.removeAllListeners();
      worker.once('message', (answer: WorkerAnswer) => {
        this.#isReading = false;
        resolve(answer);
      });
      worker.once('error', failed);
      worker.once('exit', () => failed(internal('the reading of types ended without an answer')));
      worker.postMessage(source);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    if (this.#isReading || resting !== undefined) await worker.terminate();
    else rest(worker);
  }
}

function rest(worker: Worker): void {
  worker.removeAllListeners();
  worker.unref();
  const end = setTimeout(() => void rested()?.terminate(), REST_MS).unref();
  resting = { worker, end };
  // one that ends by itself reads nothing any more
  const forget = () => {
    if (resting?.worker === worker) rested();
  };
  worker.once('error', forget).once('exit', forget);
}

function rested(): Worker | undefined {
  const worker = resting?.worker;
  clearTimeout(resting?.end);
  resting = undefined;
  worker?.ref();
  return worker;
}
