// What async generators around each other do, with one promise a step instead of several: a burst of events passes through
// four such layers for each of its readers.

/** Each item as `change` shows it. The source is closed when `change` throws, or when its reader leaves. */
export function mapped<T, U>(source: AsyncIterable<T>, change: (item: T) => U): AsyncIterable<U> {
  return { [Symbol.asyncIterator]: () => new Mapped(source[Symbol.asyncIterator](), change) };
}

/** Ends with what `last` makes of an error, whether the source could not be opened or broke. */
export function recovered<T>(open: () => AsyncIterable<T>, last: (thrown: unknown) => T): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new Recovered(open, last) };
}

class Mapped<T, U> implements AsyncIterator<U> {
  constructor(
    readonly source: AsyncIterator<T>,
    readonly change: (item: T) => U,
  ) {}

  next(): Promise<IteratorResult<U>> {
    return this.source.next().then((step) => {
      if (step.done) return { done: true, value: undefined };
      try {
        return { done: false, value: this.change(step.value) };
      } catch (thrown) {
        return this.return().then(() => Promise.reject(thrown));
      }
    });
  }

  async return(): Promise<IteratorResult<U>> {
    await this.source.return?.();
    return { done: true, value: undefined };
  }
}

class Recovered<T> implements AsyncIterator<T> {
  #source: AsyncIterator<T> | undefined;
  #ended = false;

  constructor(
    readonly open: () => AsyncIterable<T>,
    readonly last: (thrown: unknown) => T,
  ) {}

  next(): Promise<IteratorResult<T>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    try {
      this.#source ??= this.open()[Symbol.asyncIterator]();
      return this.#source.next().catch(this.#broke);
    } catch (thrown) {
      return Promise.resolve(this.#broke(thrown));
    }
  }

  readonly #broke = (thrown: unknown): IteratorResult<T> => {
    this.#ended = true;
    return { done: false, value: this.last(thrown) };
  };

  async return(): Promise<IteratorResult<T>> {
    this.#ended = true;
    await this.#source?.return?.();
    return { done: true, value: undefined };
  }
}
