import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Which uid each outside name (a blank node, an IRI) became. Kept in a journal beside the data, written before the
 * batch that uses a new name commits: an import that is started again gives every name the same uid, so that
 * statements which were loaded already change nothing.
 */
export class NameMap {
  readonly #uids = new Map<string, number>();
  readonly #lease: (count: number) => Promise<number>;
  readonly #path: string | undefined;
  #fd: number | undefined;
  #next = 0;
  #end = 0;
  #fresh = '';

  /** @param path of the journal; undefined keeps the names in memory alone */
  constructor(lease: (count: number) => Promise<number>, path?: string) {
    this.#lease = lease;
    this.#path = path;
    if (path !== undefined) this.#open(path);
  }

  #open(path: string): void {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path)) {
      for (const line of readFileSync(path, 'utf8').split('\n')) {
        const space = line.indexOf(' ');
        if (space > 0) this.#uids.set(line.slice(space + 1), Number.parseInt(line.slice(0, space), 16));
      }
      appendFileSync(path, '\n'); // a last line that a crash cut short must not swallow the next one
    }
    this.#fd = openSync(path, 'a');
  }

  get size(): number {
    return this.#uids.size;
  }

  /** Makes sure that `count` new names can be given uids without waiting. */
  async reserve(count: number): Promise<void> {
    if (this.#end - this.#next >= count) return;
    const block = Math.max(count, 10_000);
    this.#next = await this.#lease(block);
    this.#end = this.#next + block;
  }

  /** The name's uid; a new one is taken from what `reserve` holds. */
  uid(name: string): number {
    const known = this.#uids.get(name);
    if (known !== undefined) return known;
    if (this.#next >= this.#end) throw new RangeError('reserve uids first');
    const uid = this.#next++;
    this.#uids.set(name, uid);
    if (this.#fd !== undefined) this.#fresh += `${uid.toString(16)} ${name}\n`;
    return uid;
  }

  /** The names given since the last call are on disk when it returns. */
  flush(): void {
    if (this.#fd === undefined || this.#fresh === '') return;
    writeSync(this.#fd, this.#fresh);
    fsyncSync(this.#fd);
    this.#fresh = '';
  }

  /** The import is complete: the journal has done its work. */
  finish(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#fd = undefined;
  }
}
