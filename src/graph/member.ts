import { hash } from 'node:crypto';
import { latin1 } from '../base/index.js';
import type { StoredValue } from '../values/index.js';
import { eachEntry } from './entry-map.js';

// A member of a list of scalars is an entry: short values are their own key, long ones stand behind their hash.

/** Values up to this many bytes are their own key. */
const OWN_KEY_BYTES = 100;
const OWN = 'v';
const HASHED = 'h';
const NONE = new Uint8Array(0);

/** The entry of a member: two equal values have the same key. */
export function memberEntry(value: StoredValue): { key: string; value: Uint8Array } {
  if (value.length <= OWN_KEY_BYTES) {
    return { key: OWN + latin1(value), value: NONE };
  }
  return { key: HASHED + hash('sha256', value, 'binary'), value };
}

const OWN_BYTE = OWN.charCodeAt(0);

/** The members of a list, `most` at most, in the order in which they came; views into `payload`. */
export function membersOf(payload: Uint8Array, most = Number.POSITIVE_INFINITY): StoredValue[] {
  const members: StoredValue[] = [];
  eachEntry(payload, (keyAt, keyEnd, valueAt, valueEnd) => {
    const isOwn = payload[keyAt] === OWN_BYTE;
    return members.push(isOwn ? payload.subarray(keyAt + 1, keyEnd) : payload.subarray(valueAt, valueEnd)) >= most;
  });
  return members;
}
