import { readVarint, varintEnd, varintLength, writeVarint } from './varint.js';

// A small map inside one slot: languages of a value, members of a list, facets by edge. Keys are bytes, held as
// latin1 text so that they can be keys of a Map. Entries keep the order in which they were added.

export type EntryMap = Map<string, Uint8Array>;

/** UTF-8 text as an entry's key. */
export function textKey(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The text of an entry's key. */
export function keyText(key: string): string {
  return Buffer.from(key, 'latin1').toString('utf8');
}

export function encodeEntries(entries: EntryMap): Uint8Array {
  let size = 0;
  for (const [key, value] of entries) {
    size += varintLength(key.length) + key.length + varintLength(value.length) + value.length;
  }
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [key, value] of entries) {
    at = writeVarint(out, at, key.length);
    at += out.write(key, at, 'latin1');
    at = writeVarint(out, at, value.length);
    out.set(value, at);
    at += value.length;
  }
  return out;
}

/** Told where an entry lies, its key and its value; ends the walk by true. */
type EntryVisitor = (keyAt: number, keyEnd: number, valueAt: number, valueEnd: number) => boolean;

/**
 * Visits the entries in bytes[start, end): a map of all of them costs several times that. Answers where the entry begins that comes
 * next, or the end.
 */
export function eachEntry(bytes: Uint8Array, visit: EntryVisitor, start = 0, end = bytes.length): number {
  let at = start;
  while (at < end) {
    const keyAt = varintEnd(bytes, at);
    const keyEnd = keyAt + readVarint(bytes, at);
    const valueAt = varintEnd(bytes, keyEnd);
    at = valueAt + readVarint(bytes, keyEnd);
    if (visit(keyAt, keyEnd, valueAt, at)) break;
  }
  return at;
}

/** The entries; values are views into `bytes`. */
export function decodeEntries(bytes: Uint8Array | undefined): EntryMap {
  const entries: EntryMap = new Map();
  if (!bytes) return entries;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  eachEntry(bytes, (keyAt, keyEnd, valueAt, valueEnd) => {
    entries.set(buffer.toString('latin1', keyAt, keyEnd), bytes.subarray(valueAt, valueEnd));
    return false;
  });
  return entries;
}

/** How many entries the encoded map has. */
export function entryCount(bytes: Uint8Array): number {
  let count = 0;
  eachEntry(bytes, () => {
    count++;
    return false;
  });
  return count;
}
