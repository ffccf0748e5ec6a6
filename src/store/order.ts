/** Bytewise order of two keys, a shorter one before its extensions: negative, 0 or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = a[i] - b[i];
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Index of the first key that is not before `key` in an ascending list; its length when there is none. */
export function lowerBound(keys: readonly Uint8Array[], key: Uint8Array): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(keys[middle], key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
