import { latin1, type MaybePromise } from '../base/index.js';
import { compareBytes, type Key, type Put, type Snapshot } from '../store/index.js';
import type { GroupState } from './contract.js';

/** Collects the puts of one group and lets its appliers read through them. */
export class GroupWrites implements GroupState {
  readonly snapshot: Snapshot;
  readonly ranges: { start: Key; end: Key }[] = [];
  #puts: Put[] = [];
  // Built when somebody reads after a put: most groups put once, at the end, and read before.
  readonly #index = new Map<string, Put>();
  #indexed = 0;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  get puts(): readonly Put[] {
    return this.#puts;
  }

  get(key: Key): MaybePromise<Uint8Array | undefined> {
    const written = this.#written(key);
    return written === undefined ? this.snapshot.get(key) : written.value;
  }

  getMany(keys: readonly Key[]): MaybePromise<(Uint8Array | undefined)[]> {
    const stored = this.snapshot.getMany(keys);
    if (this.#puts.length === 0 && this.ranges.length === 0) return stored;
    return stored instanceof Promise
      ? stored.then((values) => this.#overlay(keys, values))
      : this.#overlay(keys, stored);
  }

  put(key: Key, value: Uint8Array | undefined): void {
    this.#puts.push({ key, value });
  }

  putAll(puts: readonly Put[]): void {
    for (const put of puts) this.#puts.push(put);
  }

  // A batch deletes its ranges before it puts, so what was put before this call goes here.
  deleteRange(start: Key, end: Key): void {
    this.ranges.push({ start, end });
    this.#puts = this.#puts.filter(({ key }) => !within(key, start, end));
    this.#index.clear();
    this.#indexed = 0;
  }

  #overlay(keys: readonly Key[], stored: (Uint8Array | undefined)[]): (Uint8Array | undefined)[] {
    return stored.map((value, i) => {
      const written = this.#written(keys[i]);
      return written === undefined ? value : written.value;
    });
  }

  /** What this group did to a key; undefined when it did nothing. */
  #written(key: Key): Put | undefined {
    if (this.#puts.length > 0) {
      for (; this.#indexed < this.#puts.length; this.#indexed++) {
        const put = this.#puts[this.#indexed];
        this.#index.set(latin1(put.key), put);
      }
      const put = this.#index.get(latin1(key));
      if (put !== undefined) return put;
    }
    return this.ranges.some(({ start, end }) => within(key, start, end)) ? { key, value: undefined } : undefined;
  }
}

function within(key: Key, start: Key, end: Key): boolean {
  return compareBytes(key, start) >= 0 && compareBytes(key, end) < 0;
}
