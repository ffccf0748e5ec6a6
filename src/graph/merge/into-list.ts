import { type ScalarType, storedType } from '../../values/index.js';
import { decodeEntries, type EntryMap, encodeEntries } from '../entry-map.js';
import { memberEntry, membersOf } from '../member.js';
import { retyped } from '../retype.js';
import type { PredicateMerge } from './predicate-merge.js';

/**
 * What an alter to a list, or to another type of its members, asks of one uid, whose families were loaded: a single value
 * and those of its languages become members, all members get the type, and their facets go with them.
 */
export function intoList(uid: number, work: PredicateMerge): void {
  const single = work.value.get(uid);
  const langs = work.lang.get(uid);
  const members = work.member.get(uid);
  const type = work.record.type as ScalarType;
  if (!single && !langs && isOf(type, members)) return;
  const facets = decodeEntries(work.record.hasFacets ? work.valueFacet.get(uid) : undefined);
  const list: EntryMap = new Map();
  const add = (value: Uint8Array, facetKey: string): void => {
    // one that cannot be converted stays; the alter looked for such before it began
    const entry = memberEntry(retyped(value, type) ?? value);
    // the facets of a member that came meanwhile are newer
    moveEntry(facets, facetKey, list.has(entry.key) ? undefined : entry.key);
    list.set(entry.key, entry.value);
  };
  for (const value of members ? membersOf(members) : []) add(value, memberEntry(value).key);
  if (single) add(single, '');
  for (const [lang, value] of decodeEntries(langs)) add(value, lang);
  work.member.set(uid, encodeEntries(list));
  if (single) work.value.set(uid, undefined);
  if (langs) work.lang.set(uid, undefined);
  if (work.record.hasFacets) work.valueFacet.set(uid, facets.size > 0 ? encodeEntries(facets) : undefined);
}

/** Members are converted together: the first one tells. */
function isOf(type: ScalarType, members: Uint8Array | undefined): boolean {
  const [first] = members ? membersOf(members, 1) : [];
  return first === undefined || storedType(first) === type;
}

/** @param to undefined: nothing has it any longer */
function moveEntry(entries: EntryMap, from: string, to: string | undefined): void {
  if (from === to) return;
  const moved = entries.get(from);
  entries.delete(from);
  if (moved && to !== undefined) entries.set(to, moved);
}
