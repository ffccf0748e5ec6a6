import { assert, GraphsteadError } from '../../base/index.js';
import type { Key, KeyRun, Page, Range, Snapshot, ValueVisitor } from '../contract.js';
import { DEFAULT_PAGE, rest } from '../page-list.js';
import { copyOf, type NewestCache } from './cache.js';
import type { Link, Row } from './link.js';
import { entriesAt, valuesAt } from './sql.js';

/** keys that one statement asks for */
const KEYS = 2_000;

/** What a snapshot needs of its store. */
interface Origin {
  readonly link: Link;
  readonly cache: NewestCache;
  isClosed(): boolean;
  /** another snapshot of the same version */
  again(): Snapshot;
  onRelease(): void;
}

/** A version of the store; each read is a statement of its own. */
export class PostgresSnapshot implements Snapshot {
  readonly version: number;
  readonly #origin: Origin;
  #released = false;

  constructor(version: number, origin: Origin) {
    this.version = version;
    this.#origin = origin;
  }

  getMany(keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen();
    return this.#values(keys).then((values) => values.map((value) => value && copyOf(value)));
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
    return this.#values([key]).then(([value]) => value && copyOf(value));
  }

  range(range: Range): Promise<Page> {
    this.#assertOpen();
    return this.#range(range, range.limit ?? DEFAULT_PAGE);
  }

  again(): Snapshot {
    this.#assertOpen();
    return this.#origin.again();
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#origin.onRelease();
  }

  /** As they are kept for others: copies go to whoever may keep them. */
  async #values(keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    const values = new Array<Uint8Array | undefined>(keys.length).fill(undefined);
    const unknown: number[] = [];
    for (const [at, key] of keys.entries()) {
      const known = this.#origin.cache.value(this.version, key);
      if (known === undefined) unknown.push(at);
      else values[at] = known.value;
    }
    for (let from = 0; from < unknown.length; from += KEYS) {
      const places = unknown.slice(from, from + KEYS);
      const some = places.map((at) => Buffer.from(keys[at])); // the caller's are its own again
      for (const { i, v } of this.#whole(await this.#origin.link.read(valuesAt(this.version, some)))) {
        const at = Number(i) - 1;
        const value = v === null ? undefined : copyOf(v as Buffer);
        values[places[at]] = value;
        this.#origin.cache.read(this.version, some[at], value);
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
    const name = nameOf(range, limit);
    const known = this.#origin.cache.page(this.version, name);
    if (known !== undefined) return copied(known);
    const page = await this.#read(range, limit);
    this.#origin.cache.readPage(this.version, name, copied(page));
    return page;
  }

  async #read(range: Range, limit: number): Promise<Page> {
    const found = this.#whole(await this.#origin.link.read(entriesAt(this.version, range, limit + 1)));
    const rows = found.filter(({ k }) => k !== null);
    const more = rows.length > limit;
    if (more) rows.length = limit;
    const keys = rows.map(({ k }) => copyOf(k as Buffer));
    const values = range.keysOnly ? [] : rows.map(({ v }) => copyOf(v as Buffer));
    return more ? { keys, values, next: rest(range, keys[limit - 1]) } : { keys, values };
  }

  /** Throws OVERLOADED where rows of this version may be missing: whoever writes since took them away, or they never came there. */
  #whole(rows: readonly Row[]): readonly Row[] {
    const horizon = Number(rows[0]?.['horizon'] ?? Number.POSITIVE_INFINITY);
    if (horizon <= this.version) return rows;
    if (horizon === Number.POSITIVE_INFINITY) {
      this.#origin.link.renew();
      throw new GraphsteadError(
        'OVERLOADED',
        `the database that answered has no version ${this.version} of the store`,
        {
          fix: 'Try again; where it goes on, look whether its address leads to a replica that lags behind, or to an older copy.',
        },
      );
    }
    throw new GraphsteadError('OVERLOADED', `version ${this.version} of the store is gone: another process writes`, {
      fix: 'Try again; where it goes on, this service was replaced by another one.',
    });
  }

  #assertOpen(): void {
    assert(!this.#origin.isClosed(), 'the store is closed');
    assert(!this.#released, 'the snapshot was released');
  }
}

function nameOf({ start, end, reverse = false, keysOnly = false }: Range, limit: number): string {
  return `${Buffer.from(start).toString('hex')} ${Buffer.from(end).toString('hex')} ${reverse} ${keysOnly} ${limit}`;
}

/** Its keys and values are the caller's to keep. */
function copied({ keys, values, next }: Page): Page {
  const page = { keys: keys.map(copyOf), values: values.map(copyOf) };
  return next === undefined ? page : { ...page, next };
}
