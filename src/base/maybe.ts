/**
 * A batch's answer: at once from the embedded store, later from a network store.
 * `await` works on both; hot code may test `instanceof Promise` to stay synchronous.
 */
export type MaybePromise<T> = T | Promise<T>;
