import { GraphsteadError } from '../base/index.js';
import type { Beginning, BuildInTurn, Committed, Intent } from './contract.js';

/** One `commitInTurn` that waits for the writer. */
export class Turn {
  readonly result: Promise<Committed | undefined>;
  readonly #build: BuildInTurn;
  readonly #ms: number;
  #resolve: (committed: Committed | undefined) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(build: BuildInTurn, ms: number) {
    this.#build = build;
    this.#ms = ms;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Builds the intent and commits it, within the time; settles `result` and never throws. */
  async run(beginning: Beginning, commit: (intent: Intent) => Promise<Committed>): Promise<void> {
    try {
      const intent = await this.#built(beginning);
      this.#resolve(intent === undefined ? undefined : await commit(intent));
    } catch (thrown) {
      this.#reject(thrown);
    }
  }

  fail(reason: GraphsteadError): void {
    this.#reject(reason);
  }

  async #built(beginning: Beginning): Promise<Intent | undefined> {
    const stop = new AbortController();
    const late = timeout(this.#ms, stop);
    const building = (async () => this.#build(beginning, stop.signal))();
    // It may read on after the time is over: its snapshot goes when it is done.
    const done = building.finally(() => beginning.snapshot.release());
    done.catch(() => undefined);
    try {
      return await Promise.race([done, late.promise]);
    } finally {
      late.clear();
    }
  }
}

function timeout(ms: number, stop: AbortController): { readonly promise: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = new GraphsteadError('TIMEOUT', `an upsert held the writer for more than ${ms} ms`, {
        fix: 'Let its query touch fewer nodes, with an index.',
      });
      stop.abort(reason);
      reject(reason);
    }, ms);
  });
  return { promise, clear: () => clearTimeout(timer) };
}
