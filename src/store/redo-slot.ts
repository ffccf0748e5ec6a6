import { crc32 } from 'node:zlib';
import type { Batch, Key, Put } from './contract.js';

// One batch as it stands in a slot of the redo log. Numbers are little endian.
//   0..3     bytes behind this header; 0 for an empty slot
//   4..7     checksum (CRC-32) of them
//   8..15    version of the batch
//   16..23   version of the batch before
//   24..27   number of ranges, then each as two keys: start, end
//   ..       puts to the end: a key, the bytes of its value and 1 (0 deletes) in two bytes, the value
// A key is led by its bytes, in two.
export const HEADER = 8;
const ENTRIES = 28;

/** A batch as it was written, and the version that it was made for. */
export interface RedoEntry {
  readonly version: number;
  readonly previous: number;
  /** the slot from its start on */
  readonly slot: Buffer;
}

/** Writes a batch to the start of `slot`. Answers with the bytes used; undefined when it does not fit. */
export function encodeSlot(slot: Buffer, batch: Batch, previous: number): number | undefined {
  const { puts, deleteRanges = [], version } = batch;
  let at: number | undefined = ENTRIES;
  for (const { start, end } of deleteRanges) {
    at = writeKey(slot, at, start);
    at = at && writeKey(slot, at, end);
    if (at === undefined) return undefined;
  }
  for (let i = 0; i < puts.length; i++) {
    at = writePut(slot, at, puts[i]);
    if (at === undefined) return undefined;
  }
  slot.writeUInt32LE(at - HEADER, 0);
  slot.writeDoubleLE(version, 8);
  slot.writeDoubleLE(previous, 16);
  slot.writeUInt32LE(deleteRanges.length, 24);
  slot.writeUInt32LE(crc32(slot.subarray(HEADER, at)), 4);
  return at;
}

/** What stands in a slot; undefined where nothing does, or half of something. */
export function entryIn(slot: Buffer): RedoEntry | undefined {
  if (slot.length < ENTRIES) return undefined;
  const end = endOf(slot);
  if (end < ENTRIES || end > slot.length || crc32(slot.subarray(HEADER, end)) !== slot.readUInt32LE(4))
    return undefined;
  return { version: slot.readDoubleLE(8), previous: slot.readDoubleLE(16), slot };
}

/** bytes that an entry takes */
export function endOf(slot: Buffer): number {
  return HEADER + slot.readUInt32LE(0);
}

/** The batch of an entry. */
export function decodeBatch({ version, slot }: RedoEntry): Batch {
  const reader = new Reader(slot, ENTRIES);
  const deleteRanges = Array.from({ length: slot.readUInt32LE(24) }, () => ({
    start: reader.key(),
    end: reader.key(),
  }));
  const puts: Put[] = [];
  for (const end = endOf(slot); reader.at < end; ) puts.push(reader.put());
  return { version, deleteRanges, puts };
}

function writeKey(slot: Buffer, at: number, key: Key): number | undefined {
  const length = key.length;
  if (at + 2 + length > slot.length) return undefined;
  slot[at] = length & 0xff;
  slot[at + 1] = length >> 8;
  for (let i = 0; i < length; i++) slot[at + 2 + i] = key[i];
  return at + 2 + length;
}

function writePut(slot: Buffer, from: number, { key, value }: Put): number | undefined {
  const at = writeKey(slot, from, key);
  const length = value === undefined ? 0 : value.length;
  if (at === undefined || at + 2 + length > slot.length) return undefined;
  const size = value === undefined ? 0 : length + 1;
  slot[at] = size & 0xff;
  slot[at + 1] = size >> 8;
  if (value !== undefined) slot.set(value, at + 2);
  return at + 2 + length;
}

class Reader {
  constructor(
    readonly bytes: Buffer,
    public at: number,
  ) {}

  key(): Key {
    return this.#take(this.#size());
  }

  put(): Put {
    const key = this.key();
    const size = this.#size();
    return { key, value: size === 0 ? undefined : this.#take(size - 1) };
  }

  #size(): number {
    this.at += 2;
    return this.bytes.readUInt16LE(this.at - 2);
  }

  #take(length: number): Uint8Array {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}
