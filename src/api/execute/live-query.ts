import type { OperationDefinitionNode } from 'graphql';
import { within } from '../../base/index.js';
import type { Committer } from '../../commit/index.js';
import { Written } from '../../graph/index.js';
import type { SubscriptionEvent } from '../contract.js';
import { OneATurn } from './one-a-turn.js';
import { type Known, Reads } from './reads.js';
import type { Engine, Request } from './request.js';
import { keyOfValues } from './variables.js';

type Commits = Pick<Committer, 'onCommit'>;
type Batch = readonly SubscriptionEvent[];

/** What a live query does again and again. */
export interface LiveRequest {
  readonly request: Request;
  /** the same request under the definitions that are served now. Throws where they do not take it */
  readonly renew: (request: Request) => Request;
  readonly answer: (request: Request, reads: Reads) => Promise<Answer>;
}

interface Answer {
  readonly body: Buffer;
  /** how well `reads` tells what it was made from */
  readonly known: Known;
  /** an error stands in it that may be over soon, without a commit: too little time, a remote that is away */
  readonly passing: boolean;
}

/** Milliseconds until an answer is made again that holds such an error; twice as many after each, up to the second number. */
const [AGAIN_MS, MOST_AGAIN_MS] = [1_000, 30_000];

/**
 * The live queries of a service. Readers who ask the same as the same caller share one, which is answered once for all of
 * them.
 */
export class LiveQueries {
  /**
   * By what they ask, and what they ask it with. A parsed text is that of the definitions it was parsed under, so nobody
   * gets an answer that was made under the rules before.
   */
  readonly #shared = new WeakMap<OperationDefinitionNode, Map<string, LiveQuery>>();
  readonly #open = new Set<LiveQuery>();
  readonly #turns = new OneATurn();

  constructor(commits: Commits) {
    commits.onCommit((records) => {
      if (this.#open.size === 0) return;
      const written = records.map(Written.by).filter((each) => each !== undefined);
      for (const query of this.#open) query.committed(written);
    });
  }

  /** Ends when the signal aborts. Throws what makes the query impossible to answer now. */
  async *read(asked: LiveRequest, signal: AbortSignal): AsyncIterable<Batch> {
    yield* this.#queryOf(asked).read(signal);
  }

  /** Other definitions are served: what was asked may mean something else now, or be refused. */
  redefined(): void {
    for (const query of this.#open) query.wake();
  }

  #queryOf(asked: LiveRequest): LiveQuery {
    const { engine, operation, variables, context } = asked.request;
    if (hasCalls(engine)) return this.#begin(asked);
    const queries = within(this.#shared, operation, () => new Map<string, LiveQuery>());
    const key = keyOfValues([variables, context.claims, context.trusted, context.readOnly]);
    return within(queries, key, () => this.#begin(asked, () => queries.delete(key)));
  }

  #begin(asked: LiveRequest, ended?: () => void): LiveQuery {
    const query = new LiveQuery(asked, this.#turns, () => {
      this.#open.delete(query);
      ended?.();
    });
    this.#open.add(query);
    return query;
  }
}

const calling = new WeakMap<Engine['model'], boolean>();

/** Whether an answer may hold what remotes gave: no commit tells that it is old, and they may be sent the caller's headers. */
function hasCalls({ model }: Engine): boolean {
  const isCustom = () => model.objects.some(({ fields }) => fields.some(({ role }) => role === 'custom'));
  return within(calling, model, () => model.queries.length > 0 || isCustom());
}

/** Lets one wait until another notifies it. */
class Notifier {
  #resolve: (() => void) | undefined;

  readonly notify = (): void => this.#resolve?.();

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}

/** commits that are kept to be judged */
const MEANWHILE = 100;

/**
 * A query that runs again after commits that may have changed its answer, as long as somebody reads it. Several commits while it
 * runs count as one.
 */
class LiveQuery {
  readonly #asked: LiveRequest;
  readonly #turns: OneATurn;
  readonly #ended: () => void;
  /** of its own: it goes on when the reader leaves that came first */
  readonly #over = new AbortController();
  /** notified when something was committed, or nobody reads any more */
  readonly #change = new Notifier();
  /** of those that read */
  readonly #readers = new Set<Notifier>();
  readonly #reads = new Reads();
  #dirty = true;
  /** what was committed while the answer in the making was made, which cannot be judged before it is */
  #meanwhile: Written[] | undefined;
  #begun = 0;
  #done = 0;
  /** the newest answer, as all readers are handed it */
  #newest: Batch = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(asked: LiveRequest, turns: OneATurn, ended: () => void) {
    this.#asked = asked;
    this.#turns = turns;
    this.#ended = ended;
    void this.#run();
  }

  committed(written: readonly Written[]): void {
    if (this.#dirty) return;
    if (this.#meanwhile === undefined) {
      if (this.#reads.areOld(written)) this.wake();
    } else if (this.#meanwhile.length + written.length > MEANWHILE) this.wake();
    else this.#meanwhile.push(...written);
  }

  wake(): void {
    this.#dirty = true;
    this.#change.notify();
  }

  async *read(signal: AbortSignal): AsyncIterable<Batch> {
    // what was committed before a reader came is in its first answer
    const first = this.#begun + (this.#dirty || this.#meanwhile?.length ? 1 : 0);
    const notifier = new Notifier();
    this.#readers.add(notifier);
    signal.addEventListener('abort', notifier.notify, { once: true });
    let sent: Batch | undefined;
    try {
      while (!signal.aborted) {
        if (this.#failure) throw this.#failure.error;
        if (this.#done >= first && this.#newest !== sent) yield (sent = this.#newest);
        else await notifier.wait();
      }
    } finally {
      signal.removeEventListener('abort', notifier.notify);
      this.#readers.delete(notifier);
      if (this.#readers.size === 0) this.#end();
    }
  }

  async #run(): Promise<void> {
    const { request, renew, answer } = this.#asked;
    const { signal } = this.#over;
    const context = { ...request.context, signal, gone: signal };
    let current: Request = { ...request, context, run: { ...request.run, signal } };
    let last: Buffer | undefined;
    let failed = 0;
    try {
      while (!signal.aborted) {
        await this.#turns.wait();
        if (signal.aborted) return;
        this.#dirty = false;
        this.#begun++;
        this.#meanwhile = [];
        current = renew(current);
        this.#reads.begin();
        const { body, known, passing } = await answer(current, this.#reads);
        this.#reads.end(known);
        this.#judge(this.#meanwhile);
        this.#meanwhile = undefined;
        if (!last?.equals(body)) this.#newest = [{ body }];
        last = body;
        this.#done++;
        this.#tell();
        failed = passing ? failed + 1 : 0;
        await this.#sleep(failed);
      }
    } catch (error) {
      this.#failure = { error };
      this.#end();
    }
  }

  /** Until the answer is old. @param failed so many were made in a row that hold an error which may pass */
  async #sleep(failed: number): Promise<void> {
    const ms = Math.min(MOST_AGAIN_MS, AGAIN_MS * 2 ** (failed - 1));
    const again = failed > 0 && setTimeout(() => this.wake(), ms).unref();
    while (!this.#dirty && !this.#over.signal.aborted) await this.#change.wait();
    if (again) clearTimeout(again);
  }

  /** An answer that nothing of meanwhile concerns is as good as one that was made after it. */
  #judge(meanwhile: readonly Written[]): void {
    if (meanwhile.length === 0 || this.#dirty) return;
    if (this.#reads.areOld(meanwhile)) this.#dirty = true;
    else this.#done = this.#begun++;
  }

  #tell(): void {
    for (const { notify } of this.#readers) notify();
  }

  #end(): void {
    if (this.#over.signal.aborted) return;
    this.#ended();
    this.#over.abort();
    this.#change.notify();
    this.#tell();
  }
}
