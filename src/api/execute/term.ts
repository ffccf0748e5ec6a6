import { each, type Left, LONGEST_TIMER, type Pushing, type Take } from '../../base/index.js';
import type { RequestContext } from '../operation.js';
import type { Request } from './request.js';

/** What a subscription is opened with: `signal` aborts also when the token expires that it was asked with. */
type OpenInTerm<T> = (context: RequestContext) => AsyncIterable<T>;

/** A subscription that ends, without an error, when its reader leaves or the token expires that it was asked with. */
export function untilExpiry<T>(request: Request, open: OpenInTerm<T>): AsyncIterable<T> {
  const { context, engine } = request;
  const { exp } = context.claims ?? {};
  if (typeof exp !== 'number') return open(context);
  // as long as it would be taken: one that came just after `exp` would else end at once, and be opened again and again
  const end = exp * 1000 + engine.limits.tokenSkewMs;
  const expired: Pushing<T> = {
    async *[Symbol.asyncIterator]() {
      const term = new Term(context, end - engine.clock.wall());
      try {
        yield* open(term.context);
      } catch (error) {
        term.pass(error);
      } finally {
        term.close();
      }
    },
    async push(take: Take<T>, left: Left) {
      const term = new Term(context, end - engine.clock.wall());
      try {
        await each(open(term.context), take, left);
      } catch (error) {
        term.pass(error);
      } finally {
        term.close();
      }
    },
  };
  return expired;
}

class Term {
  readonly context: RequestContext;
  readonly #over = new AbortController();
  readonly #asked: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #end = (): void => this.#over.abort();

  constructor(context: RequestContext, ms: number) {
    this.#asked = context.signal;
    this.#asked.addEventListener('abort', this.#end, { once: true });
    if (this.#asked.aborted) this.#end();
    this.#timer = setTimeout(this.#end, Math.min(Math.max(ms, 0), LONGEST_TIMER));
    this.#timer.unref();
    const { signal } = this.#over;
    this.context = { ...context, signal, gone: signal };
  }

  /** What a source that was told to end ends with says nothing to its reader. */
  pass(error: unknown): void {
    if (!this.#over.signal.aborted) throw error;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked.removeEventListener('abort', this.#end);
  }
}
