import { assert } from '../base/index.js';
import type { UidList } from './contract.js';
import { readVarint, varintEnd, varintLength, writeVarint } from './varint.js';

// One chunk of a posting list: kind byte, count, first uid, then the smallest of
//   DELTAS   differences of neighbours as varints
//   OFFSETS  distances from the first uid as 16-bit numbers
//   BITMAP   one bit for each uid from the first to the last

const DELTAS = 0;
const OFFSETS = 1;
const BITMAP = 2;

/** Bytes that a chunk is filled to when a list is cut. */
const CHUNK_TARGET = 1_500;
/** Bytes above which a chunk is cut. */
export const CHUNK_SPLIT = 1_900;
/** Bytes below which a chunk joins its neighbour. */
export const CHUNK_MERGE = 500;

/** Bytes of kind, count and first uid, at most. */
const HEAD = 1 + 5 + 8;

/** Encodes uids[from, to), at least one, ascending. */
export function encodeChunk(uids: UidList, from = 0, to = uids.length): Uint8Array {
  const count = to - from;
  assert(count > 0, 'a chunk holds at least one uid');
  const first = uids[from];
  const span = uids[to - 1] - first;
  let deltas = 0;
  for (let i = from + 1; i < to; i++) deltas += varintLength(uids[i] - uids[i - 1]);
  const offsets = span < 65_536 ? (count - 1) * 2 : Number.POSITIVE_INFINITY;
  const bitmap = Math.floor(span / 8) + 1;
  const body = Math.min(deltas, offsets, bitmap);
  const out = new Uint8Array(1 + varintLength(count) + varintLength(first) + body);
  out[0] = body === bitmap ? BITMAP : body === offsets ? OFFSETS : DELTAS;
  let at = writeVarint(out, writeVarint(out, 1, count), first);
  if (out[0] === BITMAP) {
    for (let i = from; i < to; i++) {
      const bit = uids[i] - first;
      out[at + (bit >>> 3)] |= 1 << (bit & 7);
    }
  } else if (out[0] === OFFSETS) {
    for (let i = from + 1; i < to; i++) {
      const offset = uids[i] - first;
      out[at++] = offset & 255;
      out[at++] = offset >>> 8;
    }
  } else for (let i = from + 1; i < to; i++) at = writeVarint(out, at, uids[i] - uids[i - 1]);
  return out;
}

/** How many uids a chunk holds. */
export function chunkCount(bytes: Uint8Array): number {
  return readVarint(bytes, 1);
}

/**
 * Writes the uids of a chunk, which lies in `bytes` from `start` to `stop`, at `at`, and returns the index behind them;
 * the target must be large enough.
 */
export function decodeChunkInto(
  bytes: Uint8Array,
  target: Float64Array,
  at: number,
  start = 0,
  stop = bytes.length,
): number {
  const count = readVarint(bytes, start + 1);
  let from = varintEnd(bytes, start + 1);
  const first = readVarint(bytes, from);
  from = varintEnd(bytes, from);
  if (bytes[start] === BITMAP) return decodeBitmap(bytes, from, stop, first, target, at);
  target[at] = first;
  const end = at + count;
  if (bytes[start] === OFFSETS) {
    for (let i = at + 1; i < end; i++, from += 2) target[i] = first + bytes[from] + (bytes[from + 1] << 8);
    return end;
  }
  let uid = first;
  for (let i = at + 1; i < end; i++) {
    const byte = bytes[from];
    if (byte < 0x80) {
      uid += byte;
      from++;
    } else {
      uid += readVarint(bytes, from);
      from = varintEnd(bytes, from);
    }
    target[i] = uid;
  }
  return end;
}

function decodeBitmap(
  bytes: Uint8Array,
  from: number,
  stop: number,
  first: number,
  target: Float64Array,
  at: number,
): number {
  let index = at;
  for (let b = from, base = first; b < stop; b++, base += 8) {
    let byte = bytes[b];
    while (byte !== 0) {
      target[index++] = base + 31 - Math.clz32(byte & -byte);
      byte &= byte - 1;
    }
  }
  return index;
}

/** The uids of one chunk. */
export function decodeChunk(bytes: Uint8Array, start = 0, stop = bytes.length): UidList {
  const out = new Float64Array(readVarint(bytes, start + 1));
  decodeChunkInto(bytes, out, 0, start, stop);
  return out;
}

/** Index behind the last uid that still fits a chunk of `target` bytes that begins at `from`. */
function chunkEnd(uids: UidList, from: number, target: number): number {
  const room = target - HEAD;
  const first = uids[from];
  let bytes = 0;
  let deltas = from + 1;
  while (deltas < uids.length) {
    bytes += varintLength(uids[deltas] - uids[deltas - 1]);
    if (bytes > room) break;
    deltas++;
  }
  let offsets = Math.min(uids.length, from + 1 + (room >> 1));
  while (offsets > deltas && uids[offsets - 1] - first > 65_535) offsets--;
  let bitmap = Math.max(deltas, offsets);
  const reach = first + room * 8;
  while (bitmap < uids.length && uids[bitmap] < reach) bitmap++;
  return bitmap;
}

/** Cuts a list into chunks of about CHUNK_TARGET bytes; one chunk when all of it stays below `limit`. */
export function cutChunks(uids: UidList, limit = CHUNK_SPLIT): Uint8Array[] {
  if (uids.length === 0) return [];
  if (chunkEnd(uids, 0, limit) === uids.length) return [encodeChunk(uids)];
  const chunks: Uint8Array[] = [];
  for (let from = 0; from < uids.length; ) {
    let to = chunkEnd(uids, from, CHUNK_TARGET);
    // a short rest goes into the last chunk
    if (to < uids.length && chunkEnd(uids, from, CHUNK_SPLIT) === uids.length) to = uids.length;
    chunks.push(encodeChunk(uids, from, to));
    from = to;
  }
  return chunks;
}

/** First uid of a chunk. */
export function chunkFirst(bytes: Uint8Array): number {
  return readVarint(bytes, varintEnd(bytes, 1));
}
