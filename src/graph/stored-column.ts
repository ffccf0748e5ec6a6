import { assert } from '../base/index.js';
import type { StoredValue } from '../values/index.js';

/** Places of one part; all but the last part of a column have so many. */
const PART_BITS = 13;
const PART = 1 << PART_BITS;
/** Bytes that a part begins with for each of its places. */
const ROOM = 16;
/** Up to this many bytes are copied one by one: a view for `set` costs more. */
const SMALL_COPY = 96;

interface Part {
  bytes: StoredValue;
  used: number;
  /** start and end of each value, side by side; both are 0 where there is none: no value is without bytes */
  readonly bounds: Uint32Array;
}

/** Memory that is written before it is read. */
function unwritten(bytes: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer);
}

function partOf(places: number): Part {
  return {
    bytes: unwritten(places * ROOM),
    used: 0,
    bounds: new Uint32Array(places * 2),
  };
}

/**
 * Stored values aligned with a list of uids, one behind the other in a few buffers: no object for each value. It is
 * filled by `put`, and not changed any more once it was handed out.
 */
export class StoredColumn {
  readonly length: number;
  readonly #parts: Part[];
  /** where the value lies that `seek` found */
  bytes: StoredValue = new Uint8Array(0);
  start = 0;
  end = 0;

  constructor(length: number, parts?: Part[]) {
    this.length = length;
    this.#parts = parts ?? [];
    if (parts) return;
    for (let at = 0; at < length; at += PART) this.#parts.push(partOf(Math.min(PART, length - at)));
  }

  static of(values: readonly (StoredValue | undefined)[]): StoredColumn {
    const column = new StoredColumn(values.length);
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value) column.put(i, value, 0, value.length);
    }
    return column;
  }

  /** Columns one after the other; each but the last has a multiple of COLUMN_BATCH values. */
  static join(columns: readonly StoredColumn[]): StoredColumn {
    if (columns.length === 1) return columns[0];
    let length = 0;
    for (const column of columns) {
      assert(length % PART === 0, 'only the last of joined columns ends within a part');
      length += column.length;
    }
    return new StoredColumn(
      length,
      columns.flatMap((column) => column.#parts),
    );
  }

  /** Sets a value to a copy of bytes[start, end). */
  put(index: number, bytes: Uint8Array, start: number, end: number): void {
    const part = this.#parts[index >>> PART_BITS];
    const place = index & (PART - 1);
    const size = end - start;
    const at = part.used;
    if (at + size > part.bytes.length) grow(part, size);
    const target = part.bytes;
    if (size > SMALL_COPY) target.set(bytes.subarray(start, end), at);
    else for (let i = 0; i < size; i++) target[at + i] = bytes[start + i];
    part.used = at + size;
    part.bounds[place * 2] = at;
    part.bounds[place * 2 + 1] = at + size;
  }

  /** Finds a value: `bytes`, `start` and `end` tell where it lies until the next call. False where there is none. */
  seek(index: number): boolean {
    const part = this.#parts[index >>> PART_BITS];
    const place = index & (PART - 1);
    const end = part.bounds[place * 2 + 1];
    if (end === 0) return false;
    this.bytes = part.bytes;
    this.start = part.bounds[place * 2];
    this.end = end;
    return true;
  }

  has(index: number): boolean {
    return this.#parts[index >>> PART_BITS].bounds[(index & (PART - 1)) * 2 + 1] > 0;
  }

  /** The value as bytes of its own, good for as long as they are held; undefined where there is none. */
  at(index: number): StoredValue | undefined {
    return this.seek(index) ? this.bytes.subarray(this.start, this.end) : undefined;
  }

  map<T>(each: (value: StoredValue | undefined, index: number) => T): T[] {
    const out = new Array<T>(this.length);
    for (let i = 0; i < this.length; i++) out[i] = each(this.at(i), i);
    return out;
  }
}

/** Values in a column that may be joined to others. */
export const COLUMN_BATCH = PART;

function grow(part: Part, size: number): void {
  const grown = unwritten(Math.max(part.bytes.length * 2, part.used + size));
  grown.set(part.bytes.subarray(0, part.used));
  part.bytes = grown;
}
