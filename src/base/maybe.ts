/**
 * A batch's answer: at once from the embedded store, later from a network store.
 * `await` works on both; hot code may test `instanceof Promise` to stay synchronous.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on at once where the answer is there already: no promise and no turn of the event loop. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
