import { assert, GraphsteadError } from '../../base/index.js';
import type { Key, KeyRun, Page, Range, Snapshot, ValueVisitor } from '../contract.js';
import { DEFAULT_PAGE, rest } from '../page-list.js';
import type { Link, Row } from './link.js';
import { entriesAt, valuesAt } from './sql.js';

/** keys that one statement asks for */
const KEYS = 2_000;

/** A version of the store; each read is a statement of its own. */
export class PostgresSnapshot implements Snapshot {
  #released = false;

  constructor(
    readonly version: number,
    readonly link: Link,
    readonly isClosed: () => boolean,
    readonly onRelease: () => void,
  ) {}

  getMany(keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen();
    return this.#values(keys);
  }

  visit(keys: KeyRun, visit: ValueVisitor): Promise<void> {
    this.#assertOpen();
    return this.#visit(
      Array.from({ length: keys.length }, (_, i) => keys.key(i)),
      visit,
    );
  }

  get(key: Key): Promise<Uint8Array | undefined> {
    this.#assertOpen();
    return this.#values([key]).then(([value]) => value);
  }

  range(range: Range): Promise<Page> {
    this.#assertOpen();
    return this.#range(range, range.limit ?? DEFAULT_PAGE);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.onRelease();
  }

  async #values(keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    const values = new Array<Uint8Array | undefined>(keys.length).fill(undefined);
    for (let from = 0; from < keys.length; from += KEYS) {
      const some = keys.slice(from, from + KEYS).map((key) => Buffer.from(key.buffer, key.byteOffset, key.byteLength));
      for (const { i, v } of this.#whole(await this.link.read(valuesAt(this.version, some)))) {
        if (v !== null) values[from + Number(i) - 1] = copyOf(v);
      }
    }
    return values;
  }

  async #visit(keys: readonly Key[], visit: ValueVisitor): Promise<void> {
    const values = await this.#values(keys);
    values.forEach((value, index) => {
      if (value !== undefined) visit(index, value, 0, value.length);
    });
  }

  async #range(range: Range, limit: number): Promise<Page> {
    const found = this.#whole(await this.link.read(entriesAt(this.version, range, limit + 1)));
    const rows = found.filter(({ k }) => k !== null);
    const more = rows.length > limit;
    if (more) rows.length = limit;
    const keys = rows.map(({ k }) => copyOf(k));
    const values = range.keysOnly ? [] : rows.map(({ v }) => copyOf(v));
    return more ? { keys, values, next: rest(range, keys[limit - 1]) } : { keys, values };
  }

  /** Throws OVERLOADED where rows of this version may have been taken away: by whoever writes since this process was fenced. */
  #whole(rows: readonly Row[]): readonly Row[] {
    const horizon = Number(rows[0]?.['horizon'] ?? Number.POSITIVE_INFINITY);
    if (horizon <= this.version) return rows;
    throw new GraphsteadError('OVERLOADED', `version ${this.version} of the store is gone: another process writes`, {
      fix: 'Try again; where it goes on, this service was replaced by another one.',
    });
  }

  #assertOpen(): void {
    assert(!this.isClosed(), 'the store is closed');
    assert(!this.#released, 'the snapshot was released');
  }
}

/** Bytes come as parts of what the connection has read: they are kept by themselves, and as what the contract names. */
function copyOf(value: unknown): Uint8Array {
  return Uint8Array.from(value as Buffer);
}
