import { assert, GraphsteadError } from '../base/index.js';
import type { Batch, Key } from './contract.js';
import { compareBytes } from './order.js';

// What a store refuses, whatever the batch: keys and values of the size of a page or more would ruin it. All that is written is
// cut to fit, so that these are no limits that one may set.
/** bytes of one key */
const KEY_BYTES = 1_024;
/** bytes of one value: it fits one page */
const VALUE_BYTES = 3_900;

/**
 * Checks a whole batch before the first put, since a store below may keep what stood before a throw.
 * Throws KEY_TOO_LARGE, VALUE_TOO_LARGE. Returns the bytes of all puts.
 */
export function checkBatch(batch: Batch, lastVersion: number): number {
  assert(batch.version > lastVersion, `batch version ${batch.version} is not above ${lastVersion}`);
  for (const range of batch.deleteRanges ?? []) {
    assert(compareBytes(range.start, range.end) <= 0, 'a range ends before it starts');
  }
  let bytes = 0;
  for (const { key, value } of batch.puts) {
    checkKey(key);
    const size = value === undefined ? 0 : value.length;
    if (size > VALUE_BYTES) throw valueTooLarge(size);
    bytes += key.length + size;
  }
  return bytes;
}

function checkKey(key: Key): void {
  assert(key.length > 0, 'a key is not empty');
  if (key.length <= KEY_BYTES) return;
  throw new GraphsteadError('KEY_TOO_LARGE', `a key of ${key.length} bytes; a store takes ${KEY_BYTES}`, {
    fix: 'Shorten the value or name that the key is made of.',
  });
}

function valueTooLarge(size: number): GraphsteadError {
  return new GraphsteadError('VALUE_TOO_LARGE', `a stored value of ${size} bytes; a store takes ${VALUE_BYTES}`, {
    fix: 'Split the value into chunks under consecutive keys.',
  });
}
