// What async generators around each other do, with one promise a step instead of several, or none: an event passes
// through four such layers for each of its readers.

/** Takes an item. While a promise that it gave is open, it is handed no other. */
export type Take<T> = (item: T) => void | Promise<void>;

/** A source that can hand its items over by itself, so that no promise stands between an item and its reader. */
export interface Pushing<T> extends AsyncIterable<T> {
  /** Resolves when the source has ended or its reader has left; rejects with what the source or `take` threw. */
  push(take: Take<T>, left: Left): Promise<void>;
}

/** Whether the reader has left: an AbortSignal, say. */
export interface Left {
  readonly aborted: boolean;
}

/** Hands over each item of a source, in whichever way it can. */
export async function each<T>(source: AsyncIterable<T>, take: Take<T>, left: Left): Promise<void> {
  if ('push' in source) return (source as Pushing<T>).push(take, left);
  for await (const item of source) {
    if (left.aborted) break;
    const pause = take(item);
    if (pause !== undefined) await pause;
  }
}

/** Each item as `change` shows it. The source is closed when `change` throws, or when its reader leaves. */
export function mapped<T, U>(source: AsyncIterable<T>, change: (item: T) => U): Pushing<U> {
  return {
    [Symbol.asyncIterator]: () => new Mapped(source[Symbol.asyncIterator](), change),
    push: (take, left) => each(source, (item) => take(change(item)), left),
  };
}

/** What `open` resolves with. It is called when the first item is asked for. */
export function opened<T>(open: () => Promise<AsyncIterable<T>>): Pushing<T> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* await open();
    },
    push: async (take, left) => each(await open(), take, left),
  };
}

/** Ends with what `last` makes of an error, whether the source could not be opened or broke. */
export function recovered<T>(open: () => AsyncIterable<T>, last: (thrown: unknown) => T): Pushing<T> {
  return {
    [Symbol.asyncIterator]: () => new Recovered(open, last),
    async push(take, left) {
      try {
        await each(open(), take, left);
      } catch (thrown) {
        if (!left.aborted) await take(last(thrown));
      }
    },
  };
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
