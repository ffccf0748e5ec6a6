import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Journal text that is gathered before it is written. */
const FRESH_CHARACTERS = 1024 * 1024;
/** Uids that are leased at once: as many as were given so far, within these. */
const LEASE = { least: 10_000, most: 1_000_000 };
/** Names that one Map takes; the engine's own bound is not far above. */
const MAP_NAMES = 16_000_000;

/**
 * Which uid each outside name (a blank node, an IRI) became. Kept in a journal beside the data, written before the
 * batch that uses a new name commits: an import that is started again gives every name the same uid, so that
 * statements which were loaded already change nothing.
 */
export class NameMap {
  /** the newest last; each holds MAP_NAMES */
  readonly #maps = [new Map<string, number>()];
  #newest = this.#maps[0];
  readonly #lease: (count: number) => Promise<number>;
  readonly #path: string | undefined;
  #fd: number | undefined;
  #next = 0;
  #end = 0;
  #lastBlank = '';
  #lastUid = 0;
  #fresh = '';
  #unsynced = false;

  /** @param path of the journal; undefined keeps the names in memory alone */
  constructor(lease: (count: number) => Promise<number>, path?: string) {
    this.#lease = lease;
    this.#path = path;
    if (path !== undefined) this.#open(path);
  }

  #open(path: string): void {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path)) {
      for (const line of wholeLines(path)) {
        const space = line.indexOf(' ');
        this.#keep(line.slice(space + 1), Number.parseInt(line.slice(0, space), 16));
      }
    }
    this.#fd = openSync(path, 'a');
  }

  get size(): number {
    return this.#maps.reduce((sum, map) => sum + map.size, 0);
  }

  #keep(name: string, uid: number): void {
    if (this.#newest.size >= MAP_NAMES) this.#maps.push((this.#newest = new Map()));
    this.#newest.set(name, uid);
  }

  #known(name: string): number | undefined {
    for (let i = this.#maps.length - 1; i >= 0; i--) {
      const uid = this.#maps[i].get(name);
      if (uid !== undefined) return uid;
    }
    return undefined;
  }

  /** No name gets a uid that the files name themselves, as far as they were read. */
  avoid(uid: number): void {
    if (uid >= this.#next && uid < this.#end) this.#next = uid + 1;
  }

  /** Makes sure that `count` new names can be given uids without waiting. */
  async reserve(count: number): Promise<void> {
    if (this.#end - this.#next >= count) return;
    const block = Math.max(count, LEASE.least, Math.min(LEASE.most, this.size));
    const first = await this.#lease(block);
    this.#next = first;
    this.#end = first + block;
  }

  /** The uid of the blank node `_:name`. Files tell what they know of one node in a row: the last one is remembered. */
  blank(name: string): number {
    if (name === this.#lastBlank) return this.#lastUid;
    const uid = this.uid(`_:${name}`);
    this.#lastBlank = name;
    this.#lastUid = uid;
    return uid;
  }

  /** The name's uid; a new one is taken from what `reserve` holds. */
  uid(name: string): number {
    const known = this.#known(name);
    if (known !== undefined) return known;
    const uid = this.fresh();
    this.give(name, uid);
    return uid;
  }

  has(name: string): boolean {
    return this.#known(name) !== undefined;
  }

  /** A uid of what `reserve` holds. */
  fresh(): number {
    if (this.#next >= this.#end) throw new RangeError('reserve uids first');
    return this.#next++;
  }

  /** From now on the name, which has none yet, has this uid. */
  give(name: string, uid: number): void {
    this.#keep(ownText(name), uid);
    if (this.#fd !== undefined) this.#fresh += `${uid.toString(16)} ${name}\n`;
    if (this.#fresh.length > FRESH_CHARACTERS) this.#write();
  }

  /** The names given since the last call are on disk when it returns. */
  flush(): void {
    if (this.#fd === undefined) return;
    this.#write();
    if (this.#unsynced) fsyncSync(this.#fd);
    this.#unsynced = false;
  }

  #write(): void {
    if (this.#fd === undefined || this.#fresh === '') return;
    const bytes = Buffer.from(this.#fresh);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    this.#fresh = '';
    this.#unsynced = true;
  }

  /** The import is complete: the journal has done its work. */
  finish(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#fd = undefined;
  }
}

/**
 * The lines of a journal, without a last one that a kill cut short: what is left of its name may be another node's whole name. It is cut
 * off, so that it neither counts later nor swallows the next line. No batch that needs it was sent.
 */
function* wholeLines(path: string): Iterable<string> {
  const fd = openSync(path, 'r+');
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let [rest, whole] = [Buffer.alloc(0), 0];
    for (let read = 0; (read = readSync(fd, piece)) > 0; ) {
      const bytes = Buffer.concat([rest, piece.subarray(0, read)]);
      const end = bytes.lastIndexOf(LINE_BREAK) + 1;
      yield* bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
      rest = bytes.subarray(end);
      whole += end;
    }
    if (rest.length > 0) ftruncateSync(fd, whole);
  } finally {
    closeSync(fd);
  }
}
/** A journal may be longer than a text, or what is read at once, can be. */
const PIECE_BYTES = 4 * 1024 * 1024;
const LINE_BREAK = 0x0a;

/** A name cut out of a file's text would keep all of that text in memory. */
function ownText(name: string): string {
  return name.length < SHORT ? name : Buffer.from(name).toString();
}
/** Texts below this length are copies anyway. */
const SHORT = 13;
