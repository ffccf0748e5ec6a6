import { decodeValue, type IndexKind, storedType, TOKEN_BYTES, tokensOf, type Value } from '../../values/index.js';
import { type EntryMap, encodeEntries, keyText, textKey } from '../entry-map.js';
import { FAMILY, type Family, fittedToken } from '../key.js';
import { memberEntry } from '../member.js';
import { uniqueViolation } from '../merge/group-merge.js';
import { readVarint, varintEnd, varintLength, writeVarint } from '../varint.js';
import { BlockWriter } from './block-writer.js';
import { bytesOf, type Cursor, NO_BYTES } from './cursor.js';
import type { PutSink } from './put-sink.js';
import type { Sorter } from './sorter.js';

/** Where what follows from values goes. */
export interface ValueTargets {
  readonly tokens: readonly { readonly kind: IndexKind; readonly sorter: Sorter }[];
  readonly counts: Sorter | undefined;
  /** of @unique predicates: language and value, to find two nodes that have the same */
  readonly claims: Sorter | undefined;
}

/** One edit of an entry map: the key, then the value; without a value the entry goes. */
export function entryRecord(key: string, value: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafe(varintLength(key.length + 1) + key.length + value.length);
  let at = writeVarint(out, 0, key.length + 1);
  at += out.write(key, at, 'latin1');
  out.set(value, at);
  return out;
}

/** The edit that empties an entry map. */
export const CLEAR_RECORD = Uint8Array.of(0);

interface EntryEdit {
  /** undefined for all of them */
  readonly key: string | undefined;
  readonly value: Uint8Array;
}

function editOf(record: Uint8Array): EntryEdit {
  const length = readVarint(record, 0) - 1;
  if (length < 0) return { key: undefined, value: record.subarray(1) };
  const start = varintEnd(record, 0);
  const key = Buffer.from(record.buffer, record.byteOffset + start, length).toString('latin1');
  return { key, value: record.subarray(start + length) };
}

/** Plays the edits of entry maps, in the order in which they were made, and writes the maps. */
export async function mergeEntries(predicate: number, family: Family, records: Cursor, sink: PutSink): Promise<void> {
  const blocks = new BlockWriter(predicate, family, sink.put);
  for (let more = records.next(); more; ) {
    const uid = records.a;
    const entries: EntryMap = new Map();
    do {
      const { key, value } = editOf(bytesOf(records));
      if (key === undefined) entries.clear();
      else if (value.length > 0) entries.set(key, value);
      else entries.delete(key);
      more = records.next();
    } while (more && records.a === uid);
    if (entries.size > 0) blocks.bytes(uid, encodeEntries(entries));
    if (sink.full) await sink.flush();
  }
  blocks.flush();
}

/** Whether any node has two values that differ. */
export function hasSeveral(records: Cursor): boolean {
  let several = false;
  let uid = 0;
  let value = NO_BYTES;
  while (records.next()) {
    const bytes = bytesOf(records);
    if (records.a === uid && Buffer.compare(bytes, value) !== 0) several = true;
    uid = records.a;
    value = bytes;
  }
  return several;
}

/** Writes members of lists, in the order in which they first came, and tells their tokens and counts. */
export async function mergeMembers(
  predicate: number,
  records: Cursor,
  sink: PutSink,
  targets: ValueTargets,
): Promise<void> {
  const blocks = new BlockWriter(predicate, FAMILY.member, sink.put);
  for (let more = records.next(); more; ) {
    const uid = records.a;
    const entries: EntryMap = new Map();
    do {
      const value = bytesOf(records);
      const entry = memberEntry(value);
      if (!entries.has(entry.key)) emit(uid, value, '', targets);
      entries.set(entry.key, entry.value);
      more = records.next();
    } while (more && records.a === uid);
    blocks.bytes(uid, encodeEntries(entries));
    targets.counts?.add(entries.size, uid);
    if (sink.full) await sink.flush();
  }
  blocks.flush();
}

/** Writes single values (none where the last is empty) and those with languages, the last of each, and tells their tokens and counts. */
export async function mergeScalars(
  predicate: number,
  plain: Cursor,
  tagged: Cursor,
  sink: PutSink,
  targets: ValueTargets,
): Promise<void> {
  const values = new BlockWriter(predicate, FAMILY.value, sink.put);
  const langs = new BlockWriter(predicate, FAMILY.lang, sink.put);
  let morePlain = plain.next();
  let moreTagged = tagged.next();
  while (morePlain || moreTagged) {
    const uid = !moreTagged || (morePlain && plain.a <= tagged.a) ? plain.a : tagged.a;
    let count = 0;
    if (morePlain && plain.a === uid) {
      let value: Uint8Array;
      do {
        value = bytesOf(plain);
        morePlain = plain.next();
      } while (morePlain && plain.a === uid);
      if (value.length > 0) {
        values.bytes(uid, value);
        emit(uid, value, '', targets);
        count++;
      }
    }
    if (moreTagged && tagged.a === uid) {
      const entries: EntryMap = new Map();
      do {
        const { key, value } = editOf(bytesOf(tagged));
        if (key !== undefined) entries.set(key, value);
        moreTagged = tagged.next();
      } while (moreTagged && tagged.a === uid);
      langs.bytes(uid, encodeEntries(entries));
      for (const [key, value] of entries) emit(uid, value, keyText(key), targets);
      count += entries.size;
    }
    if (count > 0) targets.counts?.add(count, uid);
    if (sink.full) await sink.flush();
  }
  values.flush();
  langs.flush();
}

function emit(uid: number, stored: Uint8Array, lang: string, { tokens, claims }: ValueTargets): void {
  claims?.addBytes(uid, entryRecord(textKey(lang), stored));
  let value: Value | undefined;
  for (const { kind, sorter } of tokens) {
    const own = ownToken(kind, stored);
    if (own) {
      sorter.addBytes(uid, fittedToken(own));
      continue;
    }
    value ??= decodeValue(stored);
    for (const token of tokensOf(kind, value, lang)) sorter.addBytes(uid, fittedToken(token));
  }
}

/** The one token of a value whose stored bytes behind the type are the token: it need not be decoded. */
function ownToken(kind: IndexKind, stored: Uint8Array): Uint8Array | undefined {
  if (stored.length > TOKEN_BYTES) return undefined;
  const type = storedType(stored);
  const isOwn = kind === 'exact' ? type === 'string' || type === 'default' : OWN_KINDS.has(kind) && type === kind;
  return isOwn ? stored.subarray(1) : undefined;
}

const OWN_KINDS: ReadonlySet<IndexKind> = new Set<IndexKind>(['int', 'float', 'bool']);

/** Throws UNIQUE_VIOLATION when two nodes claim the same value; the claims are in order. */
export function checkClaims(name: string, claims: Cursor): void {
  let [before, uid]: [Uint8Array | undefined, number] = [undefined, 0];
  while (claims.next()) {
    const claim = bytesOf(claims);
    if (before && uid !== claims.a && Buffer.compare(before, claim) === 0) {
      throw uniqueViolation(name, editOf(claim).value);
    }
    [before, uid] = [claim, claims.a];
  }
}
