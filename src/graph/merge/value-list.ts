import type { StoredValue } from '../../values/index.js';
import { decodeEntries, keyText } from '../entry-map.js';
import { membersOf } from '../member.js';

/** One value of a uid under one predicate. */
export interface TaggedValue {
  readonly lang: string;
  readonly value: StoredValue;
}

/** All values of a uid from the payloads of its families. */
export function taggedValues(
  value: Uint8Array | undefined,
  langs: Uint8Array | undefined,
  members: Uint8Array | undefined,
): TaggedValue[] {
  const all: TaggedValue[] = [];
  if (value) all.push({ lang: '', value });
  if (langs) for (const [key, bytes] of decodeEntries(langs)) all.push({ lang: keyText(key), value: bytes });
  if (members) for (const member of membersOf(members)) all.push({ lang: '', value: member });
  return all;
}
