import type { Batch, Key, Page } from '../contract.js';

/** what an entry takes beside its bytes */
const ENTRY_BYTES = 100;

/**
 * What was read of the newest version, and what the last batches wrote. A version never changes, and the next one differs from it by
 * one batch that this process writes, or by what it asks of those that others wrote: so nothing here is ever out of date.
 */
export class NewestCache {
  readonly #values = new Map<string, Uint8Array | undefined>();
  /** those without a value: forgotten together, and not looked for among all the others */
  readonly #absent = new Set<string>();
  readonly #pages = new Map<string, Page>();
  readonly #most: number;
  #version: number;
  #bytes = 0;

  /** @param most bytes */
  constructor(version: number, most: number) {
    this.#version = version;
    this.#most = most;
  }

  /** The value that a key has, or that it has none; undefined where neither is known. */
  value(version: number, key: Key): { readonly value: Uint8Array | undefined } | undefined {
    if (version !== this.#version) return undefined;
    const name = nameOf(key);
    const value = this.#values.get(name);
    return value !== undefined || this.#values.has(name) ? { value } : undefined;
  }

  page(version: number, name: string): Page | undefined {
    return version === this.#version ? this.#pages.get(name) : undefined;
  }

  /** What was read of a version; it is of no use where that is the newest no more. */
  read(version: number, key: Key, value: Uint8Array | undefined): void {
    if (version === this.#version) this.#keep(nameOf(key), value);
  }

  readPage(version: number, name: string, page: Page): void {
    if (version !== this.#version || this.#pages.has(name)) return;
    this.#pages.set(name, page);
    this.#bytes += pageBytes(name, page);
    this.#trim();
  }

  /** The next version: the batch, over what stands. */
  landed({ version, puts, deleteRanges = [] }: Batch): void {
    this.#version = version;
    this.#forgetPages();
    if (deleteRanges.length > 0) this.#forgetValues();
    for (const { key, value } of puts) this.#keep(nameOf(key), value && copyOf(value));
  }

  /**
   * Another version, that somebody else wrote: values stay but those that have ended since. @param ended undefined where they
   * are too many to name
   */
  moved(version: number, ended: readonly Key[] | undefined): void {
    this.#version = version;
    this.#forgetPages();
    if (ended === undefined) this.#forgetValues();
    else this.#forgetSome(ended);
  }

  #forgetSome(keys: readonly Key[]): void {
    for (const key of keys) this.#forget(nameOf(key));
    // what was not there may be now
    for (const name of this.#absent) this.#forget(name);
  }

  #forget(name: string): void {
    if (!this.#values.has(name)) return;
    this.#bytes -= valueBytes(name, this.#values.get(name));
    this.#values.delete(name);
    this.#absent.delete(name);
  }

  #keep(name: string, value: Uint8Array | undefined): void {
    this.#forget(name); // it becomes the newest
    this.#values.set(name, value);
    if (value === undefined) this.#absent.add(name);
    this.#bytes += valueBytes(name, value);
    this.#trim();
  }

  /** Pages go first: they are not kept beyond their version anyway. */
  #trim(): void {
    if (this.#bytes <= this.#most) return;
    this.#forgetPages();
    for (const name of this.#values.keys()) {
      if (this.#bytes <= this.#most) return;
      this.#forget(name);
    }
  }

  #forgetPages(): void {
    for (const [name, page] of this.#pages) this.#bytes -= pageBytes(name, page);
    this.#pages.clear();
  }

  #forgetValues(): void {
    for (const [name, value] of this.#values) this.#bytes -= valueBytes(name, value);
    this.#values.clear();
    this.#absent.clear();
  }
}

/** A copy: `slice` of a Buffer is none, and callers give and get those too. */
export function copyOf(value: Uint8Array): Uint8Array {
  return new Uint8Array(value);
}

/** Bytes as a text that no others have. */
function nameOf(key: Key): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

function valueBytes(name: string, value: Uint8Array | undefined): number {
  return name.length + (value?.length ?? 0) + ENTRY_BYTES;
}

function pageBytes(name: string, { keys, values }: Page): number {
  const sum = (all: readonly Uint8Array[]) => all.reduce((bytes, one) => bytes + one.length + ENTRY_BYTES, 0);
  return name.length + ENTRY_BYTES + sum(keys) + sum(values);
}
