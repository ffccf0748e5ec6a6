import { createHash } from 'node:crypto';
import type { IndexKind } from '../values/index.js';
import { type Key, KeyReader, KeyWriter, prefixEnd } from '../store/index.js';

// Keys of the graph, behind the room's prefix: predicate id, family, then what the family says.
//   block families   block number, part number when above 0
//   spill families   uid, then the chunk: its number for bytes, its first uid for posting lists
//   token families   index kind, token, first uid of every chunk when the list is spilled
//   count families   count, first uid as above
// Predicate id 0 stands for the graph's own records.

/** Families of blocks; what a slot spills lies in the family after it. */
export const FAMILY = {
  value: 0x10,
  lang: 0x20,
  member: 0x30,
  edge: 0x40,
  reverse: 0x50,
  valueFacet: 0x60,
  edgeFacet: 0x70,
} as const;
export type Family = (typeof FAMILY)[keyof typeof FAMILY];

const TOKEN = 0x80;
const COUNT = 0x90;
const REVERSE_COUNT = 0x98;
const HNSW = 0xa0;

/** Kinds of the graph's own records, under predicate id 0. */
export const META = {
  predicate: 1,
  type: 2,
  version: 3,
  uids: 4,
  document: 5,
  job: 6,
  nextPredicate: 7,
  bulk: 8,
} as const;

/** The byte of an index kind inside keys; never changed once given. */
const KIND: Readonly<Record<IndexKind, number>> = {
  term: 1,
  exact: 2,
  hash: 3,
  trigram: 4,
  fulltext: 5,
  int: 6,
  float: 7,
  bool: 8,
  bigfloat: 9,
  year: 10,
  month: 11,
  day: 12,
  hour: 13,
  geo: 14,
  ngram: 15,
  hnsw: 16,
};

const writer = new KeyWriter('graph');

/** All keys of one predicate. */
export function predicateRange(predicate: number): { start: Key; end: Key } {
  return writer.uint(predicate).range();
}

export function blockKey(predicate: number, family: Family, block: number, part: number): Key {
  writer.uint(predicate).byte(family).uint(block);
  return part === 0 ? writer.key() : writer.byte(part).key();
}

/** What stands before the block number in keys of a family's blocks. */
export function blockPrefix(predicate: number, family: Family): Key {
  return writer.uint(predicate).byte(family).key();
}

/** Blocks from `block` on, to the end of the family. */
export function blockRange(predicate: number, family: Family, block: number): { start: Key; end: Key } {
  return {
    start: writer.uint(predicate).byte(family).uint(block).key(),
    end: writer
      .uint(predicate)
      .byte(family + 1)
      .key(),
  };
}

/** The block number of a block family's key. */
export function blockOfKey(key: Key): number {
  const reader = new KeyReader(key);
  reader.uint();
  reader.byte();
  return reader.uint();
}

/** What stands before the chunks of a spilled slot. */
export function spillPrefix(predicate: number, family: Family, uid: number): Key {
  return writer
    .uint(predicate)
    .byte(family + 1)
    .uint(uid)
    .key();
}

/** One chunk: `ordinal` is its number (bytes) or its first uid (posting lists). */
export function chunkKey(prefix: Key, ordinal: number): Key {
  return raw.raw(prefix.subarray(3)).uint(ordinal).key();
}
const raw = new KeyWriter('graph');

/** The first uid in the key of a chunk. */
export function chunkUid(key: Key, prefix: Key): number {
  return new KeyReader(key, prefix.length).uint();
}

/** All chunks of spilled slots of a family. */
export function spillRange(predicate: number, family: Family): { start: Key; end: Key } {
  return writer
    .uint(predicate)
    .byte(family + 1)
    .range();
}

/** The uid and the number of a chunk of bytes. */
export function chunkOfKey(key: Key): { uid: number; chunk: number } {
  const reader = new KeyReader(key);
  reader.uint();
  reader.byte();
  return { uid: reader.uint(), chunk: reader.uint() };
}

/** All chunks behind a prefix. */
export function chunkRange(prefix: Key): { start: Key; end: Key } {
  return { start: chunkKey(prefix, 0), end: prefixEnd(prefix) };
}

/** Bytes that a token may take in a key, its zero bytes counted twice. */
const TOKEN_BYTES = 960;
const TOKEN_HEAD = 440;

/** A token whose zero bytes would make its key too long is cut and hashed. */
export function fittedToken(token: Uint8Array): Uint8Array {
  let size = token.length;
  for (let i = 0; i < token.length; i++) if (token[i] === 0) size++;
  if (size <= TOKEN_BYTES) return token;
  return Buffer.concat([token.subarray(0, TOKEN_HEAD), createHash('sha256').update(token).digest()]);
}

/** Root of the posting list of one token. */
export function tokenKey(predicate: number, kind: IndexKind, token: Uint8Array): Key {
  const fitted = fittedToken(token);
  return writer.uint(predicate).byte(TOKEN).byte(KIND[kind]).bytes(fitted).key();
}

/** All tokens of one index. */
export function tokenRange(predicate: number, kind: IndexKind): { start: Key; end: Key } {
  return writer.uint(predicate).byte(TOKEN).byte(KIND[kind]).range();
}

/** The token of a token key, and whether the key is a root (not a chunk of a spilled list). */
export function tokenOfKey(key: Key): { token: Uint8Array; root: boolean } {
  const reader = new KeyReader(key);
  reader.uint();
  reader.byte();
  reader.byte();
  const token = reader.bytes();
  return { token, root: reader.done };
}

/** Root of the list of uids with so many edges or values. */
export function countKey(predicate: number, reverse: boolean, count: number): Key {
  return writer
    .uint(predicate)
    .byte(reverse ? REVERSE_COUNT : COUNT)
    .uint(count)
    .key();
}

export function countRange(predicate: number, reverse: boolean, min: number, max: number): { start: Key; end: Key } {
  const family = reverse ? REVERSE_COUNT : COUNT;
  const start = writer.uint(predicate).byte(family).uint(min).key();
  if (max >= Number.MAX_SAFE_INTEGER)
    return {
      start,
      end: writer
        .uint(predicate)
        .byte(family + 1)
        .key(),
    };
  return {
    start,
    end: writer
      .uint(predicate)
      .byte(family)
      .uint(max + 1)
      .key(),
  };
}

/** All counts, forward or reverse. */
export function countsRange(predicate: number, reverse: boolean): { start: Key; end: Key } {
  return writer
    .uint(predicate)
    .byte(reverse ? REVERSE_COUNT : COUNT)
    .range();
}

/** Whether a count key is a root, and its count. */
export function countOfKey(key: Key): { count: number; root: boolean } {
  const reader = new KeyReader(key);
  reader.uint();
  reader.byte();
  const count = reader.uint();
  return { count, root: reader.done };
}

/** Both families of a block family: blocks and what they spilled. */
export function familyRange(predicate: number, family: Family): { start: Key; end: Key } {
  return {
    start: writer.uint(predicate).byte(family).key(),
    end: writer
      .uint(predicate)
      .byte(family + 2)
      .key(),
  };
}

/** Links of one vector in the hnsw index of a predicate; uid 0 is where searches begin. */
export function hnswKey(predicate: number, uid: number): Key {
  return writer.uint(predicate).byte(HNSW).uint(uid).key();
}

export function hnswRange(predicate: number): { start: Key; end: Key } {
  return writer.uint(predicate).byte(HNSW).range();
}

export function metaKey(kind: number, id = 0): Key {
  return writer.uint(0).byte(kind).uint(id).key();
}

/** Record of a kind that goes by name. */
export function namedKey(kind: number, name: string): Key {
  return writer.uint(0).byte(kind).text(name).key();
}

export function metaRange(kind: number): { start: Key; end: Key } {
  return writer.uint(0).byte(kind).range();
}

/** The chunk number at the end of a text record's key. */
export function ordinalOfRecord(key: Key, kind: number): number {
  const reader = new KeyReader(key);
  reader.uint();
  reader.byte();
  if (kind === META.type || kind === META.document) reader.bytes();
  else reader.uint();
  return reader.uint();
}
