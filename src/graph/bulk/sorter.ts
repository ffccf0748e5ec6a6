import { byteOrder } from './byte-order.js';
import { type Cursor, MergeCursor, NO_BYTES, type SortedBy } from './cursor.js';
import type { OpenRun, RunFolder } from './run-file.js';
import { stableOrder } from './stable-order.js';

const FIRST = 64;
const RECORDS = 1 << 19;
const BYTES = 16 * 1024 * 1024;

/** What all sorters of one load may hold in memory together; above it the largest writes a run. */
export class SorterBudget {
  readonly #limit: number;
  readonly #sorters = new Set<Sorter>();
  #held = 0;

  constructor(
    limit: number,
    readonly folder: RunFolder,
  ) {
    this.#limit = limit;
  }

  /** Writes runs until so many bytes more fit, or nothing is left to write. */
  makeRoom(bytes: number): void {
    while (this.#held + bytes > this.#limit) {
      let largest: Sorter | undefined;
      for (const sorter of this.#sorters) if (sorter.held > (largest?.held ?? 0)) largest = sorter;
      if (!largest) return;
      largest.spill();
    }
  }

  hold(bytes: number, sorter: Sorter): void {
    this.#held += bytes;
    this.#sorters.add(sorter);
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }

  forget(sorter: Sorter): void {
    this.#sorters.delete(sorter);
  }
}

/** Records in columns, some of which a shape leaves out. */
interface Columns {
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

const EMPTY: Columns = {
  a: new Float64Array(0),
  b: new Float64Array(0),
  ends: new Uint32Array(0),
  bytes: new Uint8Array(0),
};

/** Sorts any number of records: runs in memory while the budget lasts, then in files, merged when they are read. */
export class Sorter {
  readonly #by: SortedBy;
  readonly #budget: SorterBudget;
  readonly #hasBytes: boolean;
  readonly #runs: { open: OpenRun; bytes: number }[] = [];
  #columns = EMPTY;
  #count = 0;
  #length = 0;
  #charged = 0;
  /** records ever added */
  size = 0;

  /** @param hasBytes whether records carry bytes; those sorted by bytes do */
  constructor(by: SortedBy, budget: SorterBudget, hasBytes = by !== 'ab') {
    this.#by = by;
    this.#budget = budget;
    this.#hasBytes = hasBytes;
  }

  /** bytes in memory */
  get held(): number {
    return this.#charged + this.#runs.reduce((sum, run) => sum + run.bytes, 0);
  }

  add(a: number, b: number): void {
    if (this.#count === this.#columns.a.length) this.#grow(0);
    this.#columns.a[this.#count] = a;
    this.#columns.b[this.#count++] = b;
    this.size++;
  }

  addBytes(a: number, bytes: Uint8Array): void {
    const { length } = bytes;
    if (this.#count === this.#columns.a.length || this.#length + length > this.#columns.bytes.length)
      this.#grow(length);
    const { bytes: target } = this.#columns;
    const at = this.#length;
    if (length > 24) target.set(bytes, at);
    else for (let i = 0; i < length; i++) target[at + i] = bytes[i];
    this.#columns.a[this.#count] = a;
    this.#columns.ends[this.#count++] = this.#length = at + length;
    this.size++;
  }

  /** Makes room for a record with so many bytes. */
  #grow(bytes: number): void {
    if (this.#count >= RECORDS || (this.#count > 0 && this.#length + bytes > BYTES)) this.#seal();
    this.#budget.makeRoom(this.#charged + bytes); // this very sorter may be written
    const old = this.#columns;
    const records = this.#count === old.a.length ? Math.min(RECORDS, Math.max(FIRST, this.#count * 2)) : old.a.length;
    const needed = this.#length + bytes;
    const size = needed <= old.bytes.length ? old.bytes.length : Math.max(needed, Math.min(BYTES, needed * 2));
    this.#columns = {
      a: grown(old.a, records),
      b: this.#hasBytes ? old.b : grown(old.b, records),
      ends: this.#hasBytes ? grown(old.ends, records) : old.ends,
      bytes: grown(old.bytes, size),
    };
    const held = records * (this.#hasBytes ? 12 : 16) + size;
    this.#budget.hold(held - this.#charged, this);
    this.#charged = held;
  }

  /** What stands in the columns becomes a sorted run in memory. */
  #seal(): void {
    if (this.#count === 0) return;
    const [columns, count] = [this.#columns, this.#count];
    const order = this.#ordered(columns, count);
    this.#runs.push({ open: () => new MemoryCursor(columns, order), bytes: this.#charged + order.byteLength });
    this.#budget.hold(order.byteLength, this);
    this.#columns = EMPTY;
    this.#count = this.#length = this.#charged = 0;
  }

  #ordered({ a, b, ends, bytes }: Columns, count: number): Uint32Array {
    if (this.#by === 'bytes') return byteOrder({ bytes, ends }, count);
    return stableOrder(a, count, this.#by === 'ab' ? stableOrder(b, count) : undefined);
  }

  /** Moves everything in memory to a file. */
  spill(): void {
    this.#seal();
    const held = this.held;
    const inMemory = this.#runs.filter((run) => run.bytes > 0);
    if (inMemory.length === 0) return;
    this.#runs.length -= inMemory.length; // the newest are in memory
    const merged = new MergeCursor(
      this.#by,
      inMemory.map((run) => run.open()),
    );
    this.#runs.push({ open: this.#budget.folder.write(merged), bytes: 0 });
    this.#budget.release(held);
  }

  /** All records in order, which stay. It is to be walked to its end, and nothing added meanwhile. */
  look(): Cursor {
    this.#seal();
    return this.#merged(this.#runs.map((run) => run.open(true)));
  }

  /** All records in order; the sorter is empty from then on. Its memory counts until `done`. */
  sorted(): { readonly cursor: Cursor; done(): void } {
    this.#seal();
    const held = this.held;
    const runs = this.#runs.splice(0).map((run) => run.open());
    this.#budget.forget(this);
    return { cursor: this.#merged(runs), done: () => this.#budget.release(held) };
  }

  #merged(runs: readonly Cursor[]): Cursor {
    return runs.length === 1 ? runs[0] : new MergeCursor(this.#by, runs);
  }
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(from: T, size: number): T {
  if (size === from.length) return from;
  const to = new (from.constructor as new (size: number) => T)(size);
  to.set(from);
  return to;
}

class MemoryCursor implements Cursor {
  a = 0;
  b = 0;
  bytes: Uint8Array;
  start = 0;
  end = 0;
  readonly #columns: Columns;
  readonly #order: Uint32Array;
  readonly #hasBytes: boolean;
  #at = 0;

  constructor(columns: Columns, order: Uint32Array) {
    this.#columns = columns;
    this.#order = order;
    this.#hasBytes = columns.ends.length > 0;
    this.bytes = this.#hasBytes ? columns.bytes : NO_BYTES;
  }

  next(): boolean {
    if (this.#at >= this.#order.length) return false;
    const index = this.#order[this.#at++];
    this.a = this.#columns.a[index];
    if (this.#hasBytes) {
      this.start = index === 0 ? 0 : this.#columns.ends[index - 1];
      this.end = this.#columns.ends[index];
    } else this.b = this.#columns.b[index];
    return true;
  }
}
