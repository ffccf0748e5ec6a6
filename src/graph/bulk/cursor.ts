import { compareSpans } from './byte-order.js';

/** What records are sorted by; equal ones keep the order in which they came. */
export type SortedBy = 'a' | 'ab' | 'bytes';

/** Walks records in order. Its fields tell the record that `next` moved to; views of `bytes` stay valid. */
export interface Cursor {
  a: number;
  b: number;
  bytes: Uint8Array;
  start: number;
  end: number;
  /** false behind the last */
  next(): boolean;
}

export const NO_BYTES: Uint8Array = new Uint8Array(0);

/** The bytes of the record that a cursor stands on. */
export function bytesOf(cursor: Cursor): Uint8Array {
  return cursor.bytes.subarray(cursor.start, cursor.end);
}

function compare(by: SortedBy, x: Cursor, y: Cursor): number {
  if (by === 'bytes') return compareSpans(x.bytes, x.start, x.end, y.bytes, y.start, y.end);
  return x.a - y.a || (by === 'ab' ? x.b - y.b : 0);
}

/** Several sorted runs as one; of equal records those of an earlier run come first. */
export class MergeCursor implements Cursor {
  a = 0;
  b = 0;
  bytes = NO_BYTES;
  start = 0;
  end = 0;
  readonly #by: SortedBy;
  /** runs that are not over, the one with the least record first; each stands on its record */
  readonly #runs: { readonly cursor: Cursor; readonly age: number }[] = [];
  #begun = false;

  constructor(by: SortedBy, runs: readonly Cursor[]) {
    this.#by = by;
    runs.forEach((cursor, age) => {
      if (cursor.next()) this.#runs.push({ cursor, age });
    });
    this.#runs.sort((x, y) => this.#order(x, y));
  }

  #order(x: { readonly cursor: Cursor; readonly age: number }, y: { readonly cursor: Cursor; readonly age: number }) {
    return compare(this.#by, x.cursor, y.cursor) || x.age - y.age;
  }

  next(): boolean {
    const runs = this.#runs;
    if (this.#begun) {
      if (!runs[0].cursor.next()) runs.shift();
      else this.#sink();
    }
    this.#begun = runs.length > 0;
    if (!this.#begun) return false;
    const { cursor } = runs[0];
    this.a = cursor.a;
    this.b = cursor.b;
    this.bytes = cursor.bytes;
    this.start = cursor.start;
    this.end = cursor.end;
    return true;
  }

  /** Brings the first run, which has moved on, to its place. */
  #sink(): void {
    const runs = this.#runs;
    const moved = runs[0];
    let at = 0;
    for (; at + 1 < runs.length && this.#order(runs[at + 1], moved) < 0; at++) runs[at] = runs[at + 1];
    runs[at] = moved;
  }
}
