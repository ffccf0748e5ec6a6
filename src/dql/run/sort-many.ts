import type { MaybePromise } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import type { OrderKey } from '../syntax/index.js';
import type { Execution } from './execution.js';
import { numberOrder } from './number-order.js';
import { RUN, sortInSteps } from './sort-in-steps.js';
import { readSortColumn, type SortColumn } from './sort-column.js';

/** Positions that are looked at between two pauses. */
const AT_ONCE = 65_536;

interface ManyOptions {
  /** those without a value for a descending key stand in descending order */
  readonly lateFirst: boolean;
  /** which places of the order are asked for */
  readonly range: readonly [start: number, end: number];
}

/** Where those stand that the keys so far do not tell apart: from, to, from, to. */
type Ties = number[];

/**
 * Positions of many uids in the order of the keys. They are sorted by one key after the other, each only among those that
 * the ones before left side by side and that reach into the range: only their values are read.
 */
export async function sortMany(
  uids: UidList,
  keys: readonly OrderKey[],
  { lateFirst, range }: ManyOptions,
  execution: Execution,
): Promise<Uint32Array> {
  const order = new Uint32Array(uids.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  let ties: Ties = [0, order.length];
  for (const key of keys) {
    if (ties.length === 0) break;
    const tied = await tiedPositions(order, ties, execution);
    const column = await readSortColumn(key, tied.length === uids.length ? uids : pick(uids, tied), execution);
    if (!column) continue;
    const sort = new KeySort(column, order, tied, { lateFirst, range }, execution);
    for (let i = 0; i < ties.length; i += 2) {
      const sorting = sort.among(ties[i], ties[i + 1]);
      if (sorting) await sorting;
    }
    ties = sort.ties;
  }
  return order;
}

/** Some places of a column, all of which have values, in the order of these. */
export async function sortPlaces(column: SortColumn, places: Uint32Array, execution: Execution): Promise<Uint32Array> {
  const order = places.slice();
  const sort = new KeySort(column, order, order, { lateFirst: false, range: [0, order.length] }, execution);
  await sort.among(0, order.length);
  return order;
}

/** The positions that stand in ties, ascending. */
async function tiedPositions(order: Uint32Array, ties: Ties, execution: Execution): Promise<Uint32Array> {
  const isTied = new Uint8Array(order.length);
  let count = 0;
  for (let i = 0; i < ties.length; i += 2) {
    if (i % RUN === 0) await execution.checkpoint();
    for (let at = ties[i]; at < ties[i + 1]; at++) isTied[order[at]] = 1;
    count += ties[i + 1] - ties[i];
  }
  const tied = new Uint32Array(count);
  for (let position = 0, n = 0; n < count; position++) if (isTied[position]) tied[n++] = position;
  return tied;
}

function pick(uids: UidList, positions: Uint32Array): UidList {
  const out = new Float64Array(positions.length);
  for (let i = 0; i < positions.length; i++) out[i] = uids[positions[i]];
  return out;
}

/** Sorts parts of an order by one key. */
class KeySort {
  /** what the key leaves side by side, in the range */
  readonly ties: Ties = [];
  readonly #column: SortColumn;
  readonly #order: Uint32Array;
  /** where in the column each position stands; undefined: at its own number */
  readonly #places: Uint32Array | undefined;
  readonly #options: ManyOptions;
  readonly #execution: Execution;
  #sorted = 0;

  constructor(column: SortColumn, order: Uint32Array, tied: Uint32Array, options: ManyOptions, execution: Execution) {
    this.#column = column;
    this.#order = order;
    this.#options = options;
    this.#execution = execution;
    if (tied.length === order.length) return;
    this.#places = new Uint32Array(order.length);
    for (let i = 0; i < tied.length; i++) this.#places[tied[i]] = i;
  }

  /** Sorts order[from, to), whose positions ascend. */
  among(from: number, to: number): MaybePromise<void> {
    if (!this.#isWanted(from, to)) return undefined;
    const valued = this.#valuesFirst(this.#order.subarray(from, to));
    if (valued instanceof Promise) return valued.then((count) => this.#split(from, from + count, to));
    return this.#split(from, from + valued, to);
  }

  /** Goes on with those that have a value, and leaves the others behind them. */
  #split(from: number, valued: number, to: number): MaybePromise<void> {
    if (valued < to) {
      if (this.#options.lateFirst && this.#column.descending) this.#order.subarray(valued, to).reverse();
      else this.#tie(valued, to);
    }
    return this.#valued(from, valued);
  }

  /** Whether some of [from, to) are asked for, and there is something to be sorted. */
  #isWanted(from: number, to: number): boolean {
    const [start, end] = this.#options.range;
    return to - from > 1 && from < end && to > start;
  }

  #tie(from: number, to: number): void {
    if (this.#isWanted(from, to)) this.ties.push(from, to);
  }

  #place(position: number): number {
    return this.#places === undefined ? position : this.#places[position];
  }

  /** Puts those without a value behind the others; answers how many have one. */
  #valuesFirst(order: Uint32Array): MaybePromise<number> {
    const missing: number[] = [];
    if (order.length > AT_ONCE) return this.#manyValuesFirst(order, missing);
    const valued = this.#takeValued(order, 0, 0, missing);
    order.set(missing, valued);
    return valued;
  }

  async #manyValuesFirst(order: Uint32Array, missing: number[]): Promise<number> {
    let valued = 0;
    for (let at = 0; at < order.length; at += AT_ONCE) {
      await this.#execution.checkpoint();
      valued = this.#takeValued(order, at, valued, missing);
    }
    for (let i = 0; i < missing.length; i++) order[valued + i] = missing[i];
    return valued;
  }

  /** Takes those from a place on that have a value to the `n` that are there; answers how many there are then. */
  #takeValued(order: Uint32Array, from: number, n: number, missing: number[]): number {
    const to = Math.min(from + AT_ONCE, order.length);
    let valued = n;
    for (let i = from; i < to; i++) {
      if (this.#column.has(this.#place(order[i]))) order[valued++] = order[i];
      else missing.push(order[i]);
    }
    return valued;
  }

  /** Sorts order[from, to), all of which have values. */
  #valued(from: number, to: number): MaybePromise<void> {
    if (!this.#isWanted(from, to)) return undefined;
    if (to - from > RUN) return this.#large(from, to);
    this.#small(from, to);
    this.#sorted += to - from;
    if (this.#sorted < RUN) return undefined;
    this.#sorted = 0;
    return this.#execution.checkpoint();
  }

  #small(from: number, to: number): void {
    const { at, compare, descending } = this.#column;
    const direction = descending ? -1 : 1;
    const items = Array.from(this.#order.subarray(from, to), (position) => ({
      position,
      value: at(this.#place(position)),
    }));
    items.sort((a, b) => direction * compare(a.value, b.value));
    for (let i = 0; i < items.length; i++) this.#order[from + i] = items[i].position;
    this.#tieRuns(from, to, (a, b) => compare(items[a - from].value, items[b - from].value) === 0);
  }

  async #large(from: number, to: number): Promise<void> {
    const pause = () => this.#execution.checkpoint();
    await pause();
    const positions = this.#order.slice(from, to);
    const places = this.#places ? positions.map((position) => this.#place(position)) : positions;
    const numbers = await this.#column.numbers?.(places, pause);
    if (!numbers) return await this.#compared(from, places, positions);
    const sorted = await numberOrder(numbers, pause);
    await this.#put(from, positions, sorted);
    for (let start = 0, i = 1; i <= sorted.length; i++) {
      if (i % AT_ONCE === 0) await pause();
      if (i < sorted.length && numbers[sorted[i]] === numbers[sorted[start]]) continue;
      if (i - start > 1) await this.#sameNumber(from + start, from + i, to - from);
      start = i;
    }
  }

  /** order[from, ...) becomes the positions at some places. */
  async #put(from: number, positions: Uint32Array, places: Uint32Array): Promise<void> {
    for (let at = 0; at < places.length; at += AT_ONCE) {
      await this.#execution.checkpoint();
      const to = Math.min(at + AT_ONCE, places.length);
      for (let i = at; i < to; i++) this.#order[from + i] = positions[places[i]];
    }
  }

  /** Those that have one number: of many the same may be asked again, and tells more of them unless it is true of all. */
  async #sameNumber(from: number, to: number, of: number): Promise<void> {
    if (!this.#isWanted(from, to)) return;
    if (await this.#isOneValue(from, to)) this.#tie(from, to);
    else if (to - from < of) await this.#valued(from, to);
    else
      await this.#compared(
        from,
        this.#order.slice(from, to).map((position) => this.#place(position)),
      );
  }

  async #isOneValue(from: number, to: number): Promise<boolean> {
    const { at, compare } = this.#column;
    const first = at(this.#place(this.#order[from]));
    for (let i = from + 1; i < to; i++) {
      if (i % RUN === 0) await this.#execution.checkpoint();
      if (compare(first, at(this.#place(this.#order[i]))) !== 0) return false;
    }
    return true;
  }

  /** Sorts order[from, ...) by comparing values. */
  async #compared(
    from: number,
    places: Uint32Array,
    positions = this.#order.slice(from, from + places.length),
  ): Promise<void> {
    const { at, compare, descending } = this.#column;
    const direction = descending ? -1 : 1;
    const items: unknown[] = [];
    for (const place of places) if (items.push(at(place)) % RUN === 0) await this.#execution.checkpoint();
    const sorted = await sortInSteps(items.length, (a, b) => direction * compare(items[a], items[b]), this.#execution);
    await this.#put(from, positions, sorted);
    const value = (i: number) => items[sorted[i - from]];
    this.#tieRuns(from, from + sorted.length, (a, b) => compare(value(a), value(b)) === 0);
  }

  #tieRuns(from: number, to: number, same: (a: number, b: number) => boolean): void {
    for (let start = from, i = from + 1; i <= to; i++) {
      if (i < to && same(start, i)) continue;
      this.#tie(start, i);
      start = i;
    }
  }
}
