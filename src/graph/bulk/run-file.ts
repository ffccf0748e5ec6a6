import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Cursor, NO_BYTES } from './cursor.js';

const WRITE_BYTES = 1024 * 1024;
const READ_BYTES = 256 * 1024;
/** a, b and the number of bytes */
const HEAD = 20;

/** Reads a run. At its end its file goes, unless it is kept to be read again. */
export type OpenRun = (keep?: boolean) => Cursor;

/** A folder for runs that do not fit in memory. It is gone after `remove`, and is made when the first run needs it. */
export class RunFolder {
  readonly #path: string;
  #count = 0;

  constructor(path: string) {
    this.#path = path;
    this.remove(); // what a crash has left
  }

  /** Writes all records that the cursor walks. Answers with the way to read them. */
  write(records: Cursor): OpenRun {
    mkdirSync(this.#path, { recursive: true });
    const path = join(this.#path, String(++this.#count));
    const file = openSync(path, 'w');
    try {
      writeRecords(file, records);
    } finally {
      closeSync(file);
    }
    return (keep = false) => new FileCursor(path, keep);
  }

  remove(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }
}

function writeRecords(file: number, records: Cursor): void {
  let buffer = Buffer.allocUnsafe(WRITE_BYTES);
  let at = 0;
  const flush = (): void => {
    for (let done = 0; done < at; ) done += writeSync(file, buffer, done, at - done);
    at = 0;
  };
  while (records.next()) {
    const length = records.end - records.start;
    if (at + HEAD + length > buffer.length) {
      flush();
      if (HEAD + length > buffer.length) buffer = Buffer.allocUnsafe(HEAD + length);
    }
    at = buffer.writeDoubleLE(records.a, at);
    at = buffer.writeDoubleLE(records.b, at);
    at = buffer.writeUInt32LE(length, at);
    buffer.set(records.bytes.subarray(records.start, records.end), at);
    at += length;
  }
  flush();
}

class FileCursor implements Cursor {
  a = 0;
  b = 0;
  bytes = NO_BYTES;
  start = 0;
  end = 0;
  readonly #path: string;
  readonly #keep: boolean;
  readonly #file: number;
  #buffer = Buffer.alloc(0);
  #at = 0;

  constructor(path: string, keep: boolean) {
    this.#path = path;
    this.#keep = keep;
    this.#file = openSync(path, 'r');
  }

  next(): boolean {
    if (!this.#have(HEAD)) {
      closeSync(this.#file);
      if (!this.#keep) rmSync(this.#path);
      return false;
    }
    const length = this.#buffer.readUInt32LE(this.#at + 16);
    this.#have(HEAD + length);
    this.a = this.#buffer.readDoubleLE(this.#at);
    this.b = this.#buffer.readDoubleLE(this.#at + 8);
    this.bytes = this.#buffer;
    this.start = this.#at + HEAD;
    this.end = this.#at = this.start + length;
    return true;
  }

  /** Reads on until so many bytes stand behind `#at`; in a new buffer, since views of the old one were handed out. */
  #have(bytes: number): boolean {
    const rest = this.#buffer.subarray(this.#at);
    if (rest.length >= bytes) return true;
    const buffer = Buffer.allocUnsafeSlow(Math.max(READ_BYTES, bytes));
    rest.copy(buffer);
    let length = rest.length;
    while (length < bytes) {
      const read = readSync(this.#file, buffer, length, buffer.length - length, null);
      if (read === 0) break;
      length += read;
    }
    this.#buffer = buffer.subarray(0, length);
    this.#at = 0;
    return length >= bytes;
  }
}
