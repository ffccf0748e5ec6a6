import { crc32 } from 'node:zlib';
import { FORMAT_MAJOR } from './lmdb-meta.js';

/** What of the data file is on disk for sure, and counts where the rest was lost. */
export interface CheckpointRecord {
  /** major format of the data file: what a newer version wrote is left as it is */
  readonly format: number;
  /** the higher one is the later */
  readonly sequence: number;
  /** of the data file, so that the log of another one is known */
  readonly incarnation: string;
  /** the cache that holds what is newer (`cacheOf`); absent where LMDB itself waits for the disk with each batch */
  readonly cache?: string;
  /** the head of the data file, in base64 */
  readonly head: string;
}

// Numbers are little endian.
//   0..3     bytes behind these eight
//   4..7     checksum (CRC-32) of them
//   8..      the record as JSON
const HEADER = 8;

/** Writes a record to the start of a page, which must have room for it. */
export function encodeCheckpoint(page: Buffer, record: Omit<CheckpointRecord, 'format'>): void {
  const length = page.write(JSON.stringify({ format: FORMAT_MAJOR, ...record }), HEADER);
  page.writeUInt32LE(length, 0);
  page.writeUInt32LE(crc32(page.subarray(HEADER, HEADER + length)), 4);
}

/** The record on a page; undefined where there is none, or half of one. */
export function decodeCheckpoint(page: Buffer): CheckpointRecord | undefined {
  if (page.length < HEADER) return undefined;
  const text = page.subarray(HEADER, HEADER + page.readUInt32LE(0));
  if (text.length === 0 || crc32(text) !== page.readUInt32LE(4)) return undefined;
  try {
    return JSON.parse(text.toString()) as CheckpointRecord;
  } catch {
    return undefined;
  }
}
