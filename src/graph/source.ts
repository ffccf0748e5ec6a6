import { chain, latin1, type MaybePromise } from '../base/index.js';
import {
  compareBytes,
  type Key,
  type KeyRun,
  lowerBound,
  type Page,
  type Range,
  type Snapshot,
  type ValueVisitor,
} from '../store/index.js';

/** What the graph reads from: a snapshot, a group in the making, or a snapshot under a transaction's own changes. */
export interface Source {
  /** values aligned with keys, valid until the next call */
  getMany(keys: readonly Key[]): MaybePromise<(Uint8Array | undefined)[]>;
  /** as a snapshot's; sources without it are read by `getMany` */
  visit?(keys: KeyRun, visit: ValueVisitor): MaybePromise<void>;
  range(range: Range): MaybePromise<Page>;
}

/** Calls `visit` for every key that has a value, in the order of keys; it must not read the source. */
export function visitValues(source: Source, keys: KeyRun, visit: ValueVisitor): MaybePromise<void> {
  return source.visit ? source.visit(keys, visit) : visitEach(source.getMany(keysOf(keys)), visit);
}

function keysOf(run: KeyRun): Key[] {
  return Array.from({ length: run.length }, (_, i) => run.key(i));
}

function visitEach(found: MaybePromise<(Uint8Array | undefined)[]>, visit: ValueVisitor): MaybePromise<void> {
  return chain(found, (values) => {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value) visit(i, value, 0, value.length);
    }
  });
}

/** Where a merge writes to. */
export type PutKey = (key: Key, value: Uint8Array | undefined) => void;

/** Key bytes as text, to look keys up in a Map. */
function keyName(key: Key): string {
  return latin1(key);
}

/** All entries of a range at once; for ranges that are known to be short. */
export function readRange(source: Source, range: Range): MaybePromise<{ keys: Key[]; values: Uint8Array[] }> {
  const keys: Key[] = [];
  const values: Uint8Array[] = [];
  const step = (next: Range): MaybePromise<{ keys: Key[]; values: Uint8Array[] }> =>
    chain(source.range(next), (page) => {
      for (const key of page.keys) keys.push(key);
      for (const value of page.values) values.push(value);
      return page.next ? step(page.next) : { keys, values };
    });
  return step(range);
}

/** A snapshot with puts on top: what a transaction sees of its own staged changes. */
export class OverlaySource implements Source {
  readonly #base: Snapshot;
  readonly #puts = new Map<string, { readonly key: Key; readonly value: Uint8Array | undefined }>();
  #sorted: readonly { readonly key: Key; readonly value: Uint8Array | undefined }[] | undefined;
  #sortedKeys: Key[] = [];

  constructor(base: Snapshot) {
    this.#base = base;
  }

  put(key: Key, value: Uint8Array | undefined): void {
    this.#puts.set(keyName(key), { key, value });
    this.#sorted = undefined;
  }

  getMany(keys: readonly Key[]): MaybePromise<(Uint8Array | undefined)[]> {
    const found = keys.map((key) => this.#puts.get(keyName(key)));
    const missing = keys.filter((_, i) => found[i] === undefined);
    if (missing.length === 0) return found.map((put) => put?.value);
    return chain(this.#base.getMany(missing), (values) => {
      let next = 0;
      return found.map((put) => (put ? put.value : values[next++]));
    });
  }

  visit(keys: KeyRun, visit: ValueVisitor): MaybePromise<void> {
    if (this.#puts.size === 0) return this.#base.visit(keys, visit);
    return visitEach(this.getMany(keysOf(keys)), visit);
  }

  range(range: Range): MaybePromise<Page> {
    const own = this.#between(range.start, range.end);
    if (own.length === 0) return this.#base.range(range);
    return chain(this.#base.range(range), (page) => this.#merged(range, page, own));
  }

  #between(start: Key, end: Key): readonly { readonly key: Key; readonly value: Uint8Array | undefined }[] {
    if (!this.#sorted) {
      this.#sorted = [...this.#puts.values()].sort((a, b) => compareBytes(a.key, b.key));
      this.#sortedKeys = this.#sorted.map((put) => put.key);
    }
    return this.#sorted.slice(lowerBound(this.#sortedKeys, start), lowerBound(this.#sortedKeys, end));
  }

  /** Own puts within what the page covers take the place of its entries. */
  #merged(
    range: Range,
    page: Page,
    all: readonly { readonly key: Key; readonly value: Uint8Array | undefined }[],
  ): Page {
    const own = page.next
      ? all.filter((put) =>
          range.reverse ? compareBytes(put.key, page.next!.end) >= 0 : compareBytes(put.key, page.next!.start) < 0,
        )
      : all;
    const shadowed = new Set(own.map((put) => keyName(put.key)));
    const entries = page.keys
      .map((key, i) => ({ key, value: page.values[i] as Uint8Array | undefined }))
      .filter((entry) => !shadowed.has(keyName(entry.key)));
    for (const put of own) if (put.value) entries.push(put as { key: Key; value: Uint8Array });
    entries.sort((a, b) => (range.reverse ? compareBytes(b.key, a.key) : compareBytes(a.key, b.key)));
    return {
      keys: entries.map((entry) => entry.key),
      values: range.keysOnly ? [] : entries.map((entry) => entry.value as Uint8Array),
      ...(page.next ? { next: page.next } : {}),
    };
  }
}
