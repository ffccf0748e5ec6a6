/** Entries by names that users choose: one such as `constructor` is only there where it was put, as in no plain object. */
export function table<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null), entries);
}
