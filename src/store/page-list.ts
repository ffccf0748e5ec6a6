import type { Key, Page, Range } from './contract.js';
import { compareBytes, lowerBound } from './order.js';

const PAGE_ENTRIES = 64;
/** entries of one answered page of a range when the caller names no limit */
export const DEFAULT_PAGE = 256;

/** A run of entries in key order. Frozen once its list was handed out; a batch works on copies that it owns. */
interface Leaf {
  readonly keys: Key[];
  readonly values: Uint8Array[];
}

/**
 * Sorted entries in small copy-on-write pages: `edit()` copies only the pages that it touches, so that a list that was
 * handed out never changes.
 */
export class PageList {
  static readonly empty = new PageList([]);
  readonly #leaves: readonly Leaf[];

  private constructor(leaves: readonly Leaf[]) {
    this.#leaves = leaves;
  }

  get(key: Key): Uint8Array | undefined {
    const leaf = this.#leaves[leafIndex(this.#leaves, key)];
    if (leaf === undefined) return undefined;
    const at = lowerBound(leaf.keys, key);
    return at < leaf.keys.length && compareBytes(leaf.keys[at], key) === 0 ? leaf.values[at] : undefined;
  }

  get size(): number {
    return this.#leaves.reduce((sum, leaf) => sum + leaf.keys.length, 0);
  }

  /** One page of a range; see `Snapshot.range`. */
  range(range: Range): Page {
    const limit = range.limit ?? DEFAULT_PAGE;
    const entries = range.reverse ? this.#down(range) : this.#up(range);
    const keys: Key[] = [];
    const values: Uint8Array[] = [];
    for (const [key, value] of entries) {
      if (keys.length === limit) return { keys, values, next: rest(range, keys[limit - 1]) };
      keys.push(key.slice());
      if (!range.keysOnly) values.push(value.slice());
    }
    return { keys, values };
  }

  *#up(range: Range): Generator<readonly [Key, Uint8Array]> {
    const first = Math.max(0, leafIndex(this.#leaves, range.start));
    for (let l = first; l < this.#leaves.length; l++) {
      const { keys, values } = this.#leaves[l];
      for (let i = l === first ? lowerBound(keys, range.start) : 0; i < keys.length; i++) {
        if (compareBytes(keys[i], range.end) >= 0) return;
        yield [keys[i], values[i]];
      }
    }
  }

  *#down(range: Range): Generator<readonly [Key, Uint8Array]> {
    const last = leafIndex(this.#leaves, range.end);
    for (let l = last; l >= 0; l--) {
      const { keys, values } = this.#leaves[l];
      for (let i = (l === last ? lowerBound(keys, range.end) : keys.length) - 1; i >= 0; i--) {
        if (compareBytes(keys[i], range.start) < 0) return;
        yield [keys[i], values[i]];
      }
    }
  }

  /** A changed copy; this list stays as it is. */
  edit(change: (editor: PageEditor) => void): PageList {
    const editor = new PageEditor([...this.#leaves]);
    change(editor);
    return new PageList(editor.leaves);
  }
}

/** The range that goes on behind `last`, the last entry of a page. */
export function rest(range: Range, last: Key): Range {
  if (range.reverse) return { ...range, end: last };
  const start = new Uint8Array(last.length + 1);
  start.set(last);
  return { ...range, start };
}

/** Puts and deletes on pages that are copied at the first touch. */
class PageEditor {
  readonly leaves: Leaf[];
  readonly #owned = new Set<Leaf>();

  constructor(leaves: Leaf[]) {
    this.leaves = leaves;
  }

  put(key: Key, value: Uint8Array): void {
    if (this.leaves.length === 0) {
      this.leaves.push(this.#own({ keys: [key.slice()], values: [value.slice()] }));
      return;
    }
    const index = Math.max(0, leafIndex(this.leaves, key));
    const leaf = this.#touch(index);
    const at = lowerBound(leaf.keys, key);
    if (at < leaf.keys.length && compareBytes(leaf.keys[at], key) === 0) {
      leaf.values[at] = value.slice();
      return;
    }
    leaf.keys.splice(at, 0, key.slice());
    leaf.values.splice(at, 0, value.slice());
    if (leaf.keys.length > PAGE_ENTRIES) this.#split(index, leaf);
  }

  delete(key: Key): void {
    const index = leafIndex(this.leaves, key);
    if (index < 0) return;
    const at = lowerBound(this.leaves[index].keys, key);
    if (at === this.leaves[index].keys.length || compareBytes(this.leaves[index].keys[at], key) !== 0) return;
    const leaf = this.#touch(index);
    leaf.keys.splice(at, 1);
    leaf.values.splice(at, 1);
    if (leaf.keys.length === 0) this.leaves.splice(index, 1);
  }

  deleteRange(start: Key, end: Key): void {
    let index = Math.max(0, leafIndex(this.leaves, start));
    while (index < this.leaves.length && compareBytes(this.leaves[index].keys[0], end) < 0) {
      const { keys } = this.leaves[index];
      const from = lowerBound(keys, start);
      const to = lowerBound(keys, end);
      if (from === 0 && to === keys.length) {
        this.leaves.splice(index, 1);
        continue;
      }
      if (to > from) {
        const leaf = this.#touch(index);
        leaf.keys.splice(from, to - from);
        leaf.values.splice(from, to - from);
      }
      index++;
    }
  }

  #split(index: number, leaf: Leaf): void {
    const half = leaf.keys.length >> 1;
    this.leaves.splice(index + 1, 0, this.#own({ keys: leaf.keys.splice(half), values: leaf.values.splice(half) }));
  }

  #touch(index: number): Leaf {
    const leaf = this.leaves[index];
    if (this.#owned.has(leaf)) return leaf;
    return (this.leaves[index] = this.#own({ keys: [...leaf.keys], values: [...leaf.values] }));
  }

  #own(leaf: Leaf): Leaf {
    this.#owned.add(leaf);
    return leaf;
  }
}

/** Index of the leaf whose first key is the last one not above `key`; -1 when all are above. */
function leafIndex(leaves: readonly Leaf[], key: Key): number {
  let low = 0;
  let high = leaves.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(leaves[middle].keys[0], key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
