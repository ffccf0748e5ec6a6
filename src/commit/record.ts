import { deserialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { assert, atOnce, GraphsteadError, STEP, type Steps } from '../base/index.js';
import { type Key, KeyReader, KeyWriter, type Put, type Range, type Snapshot } from '../store/index.js';
import type { CommitRecord, IdempotencyClaim } from './contract.js';
import { KIND } from './kind.js';
import { serializePlain } from './plain-data.js';

// One record: a header and the serialised body, cut into values of at most one page under (timestamp, chunk).
//   byte 0      format; the highest bit says that the record before landed in the same batch
//   1..4        checksum (CRC-32) of the body
//   5..8        bytes of the body
//   9..16       wall time
const FORMAT = 1;
const TOGETHER = 0x80;
const HEADER = 17;
const CHUNK = 3_900;
/** Bytes whose checksum is worked out in one step. */
const SUMMED = 1024 * 1024;

const keys = new KeyWriter('commit', Uint8Array.of(KIND.record));
const PREFIX_BYTES = keys.key().length;

/** What a record says, before it has a timestamp. Plain data that v8 can serialise. */
interface RecordBody {
  readonly parts: Readonly<Record<string, unknown>>;
  readonly idempotency?: IdempotencyClaim;
}

/** Throws INVALID_REQUEST for what cannot be stored: functions, symbols, class instances with code. */
export function encodeBody(body: RecordBody): Buffer {
  return atOnce(encodingBody(body));
}

export function* encodingBody(body: RecordBody): Steps<Buffer> {
  try {
    return yield* serializePlain(body.idempotency === undefined ? [body.parts] : [body.parts, body.idempotency]);
  } catch (thrown) {
    throw new GraphsteadError('INVALID_REQUEST', 'a commit holds something that is not plain data', {
      fix: 'give texts, numbers, booleans, lists and plain objects: no functions, and no instances of classes',
      cause: thrown,
    });
  }
}

/** The puts that store one record. Their values are pieces of the body itself, but for the first. */
export function* recordPuts(commitTs: number, wall: number, body: Uint8Array, together = false): Steps<Put[]> {
  const first = Buffer.allocUnsafe(Math.min(HEADER + body.length, CHUNK));
  first[0] = together ? FORMAT | TOGETHER : FORMAT;
  first.writeUInt32BE(yield* checksum(body), 1);
  first.writeUInt32BE(body.length, 5);
  first.writeDoubleBE(wall, 9);
  first.set(body.subarray(0, CHUNK - HEADER), HEADER);
  const puts: Put[] = [{ key: recordKey(commitTs, 0), value: first }];
  for (let at = CHUNK - HEADER; at < body.length; at += CHUNK) {
    if (puts.length % STEP === 0) yield;
    puts.push({ key: recordKey(commitTs, puts.length), value: body.subarray(at, at + CHUNK) });
  }
  return puts;
}

function* checksum(body: Uint8Array): Steps<number> {
  let sum = 0;
  for (let at = 0; at < body.length; at += SUMMED) {
    sum = crc32(body.subarray(at, at + SUMMED), sum);
    if (at + SUMMED < body.length) yield;
  }
  return sum;
}

/** Where a piece of a record is kept; the first one begins with its checksum. */
export function recordKey(commitTs: number, chunk: number): Key {
  return keys.uint(commitTs).uint(chunk).key();
}

/** Records with timestamps above `after`. */
export function recordRange(after: number): Range {
  return { start: keys.uint(after + 1).key(), end: keys.uint(Number.MAX_SAFE_INTEGER).key() };
}

/** The timestamp in a record's key. */
export function timestampOf(key: Key): number {
  return new KeyReader(key, PREFIX_BYTES).uint();
}

/** Wall time of a record and its bytes, from its first chunk. */
export function readHeader(first: Uint8Array): {
  readonly wall: number;
  readonly bytes: number;
  readonly together: boolean;
} {
  const view = new DataView(first.buffer, first.byteOffset, first.byteLength);
  const format = first[0] & ~TOGETHER;
  if (format !== FORMAT) {
    throw new GraphsteadError('STORE_FORMAT', `a commit record has format ${format}`, {
      fix: 'Open it with the version that wrote it, or a newer one.',
    });
  }
  return { wall: view.getFloat64(9), bytes: HEADER + view.getUint32(5), together: (first[0] & TOGETHER) !== 0 };
}

/** Chunks, in order and complete, as a record. Throws STORE_CORRUPT. */
function decodeRecord(commitTs: number, chunks: readonly Uint8Array[]): CommitRecord {
  const { wall, bytes, together } = readHeader(chunks[0]);
  const whole = chunks.length === 1 ? Buffer.from(chunks[0]) : Buffer.concat(chunks);
  const body = whole.subarray(HEADER);
  if (whole.length !== bytes || crc32(body) !== whole.readUInt32BE(1)) throw corrupt(commitTs);
  const [parts, idempotency] = deserialize(body) as [CommitRecord['parts'], IdempotencyClaim | undefined];
  return { commitTs, wall, parts, ...(idempotency ? { idempotency } : {}), ...(together ? { together } : {}) };
}

function corrupt(commitTs: number): GraphsteadError {
  return new GraphsteadError('STORE_CORRUPT', `the commit record ${commitTs} does not match its checksum`, {
    fix: 'Restore the last backup; `graphstead doctor` tells what else is damaged.',
  });
}

const PAGE = 512;

/** Records after `after` of a snapshot, oldest first, page by page. Of those up to `CommitState.trimmed`, parts may be left. */
export async function* readRecords(snapshot: Snapshot, after: number): AsyncGenerator<CommitRecord[]> {
  let chunks: Uint8Array[] = [];
  let open = 0;
  let range: Range | undefined = { ...recordRange(after), limit: PAGE };
  while (range !== undefined) {
    const page = await snapshot.range(range);
    const records: CommitRecord[] = [];
    page.keys.forEach((key, i) => {
      const timestamp = timestampOf(key);
      if (timestamp !== open && chunks.length > 0) records.push(decodeRecord(open, chunks));
      if (timestamp !== open) chunks = [];
      open = timestamp;
      chunks.push(page.values[i]);
    });
    range = page.next;
    if (range === undefined && chunks.length > 0) records.push(decodeRecord(open, chunks));
    if (records.length > 0) yield records;
  }
}

/** Bytes that a record takes in the store. */
export function recordBytes(body: Uint8Array): number {
  assert(body.length < 2 ** 32, 'a record is smaller than 4 GB');
  return HEADER + body.length;
}
