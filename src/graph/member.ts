import { createHash } from 'node:crypto';
import { latin1 } from '../base/index.js';
import type { StoredValue } from '../values/index.js';

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
  return { key: HASHED + createHash('sha256').update(value).digest('binary'), value };
}

/** The member of an entry. */
export function memberValue(key: string, value: Uint8Array): StoredValue {
  return key.startsWith(OWN) ? Buffer.from(key.slice(1), 'latin1') : value;
}
