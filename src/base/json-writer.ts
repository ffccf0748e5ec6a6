const INITIAL = 64 * 1024;
/** A buffer up to this many bytes serves the next writer. */
const KEPT = 4 * 1024 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const POINT = 0x2e;
const HEX = '0123456789abcdef';
/** whole numbers up to this are written digit by digit */
const MOST_DIGITS = 2 ** 31 - 1;

/** bytes from which on a call into the system copies them sooner than a loop */
const MANY = 1024;

/** bytes of a text that are escaped at once */
const ESCAPED = 16_384;

const NOTHING = Buffer.alloc(0);
/** The buffer of a writer that is done: fresh memory costs more than what is written to it. */
let spare: Buffer | undefined;

/** JSON text as bytes, appended to one growing buffer: no intermediate objects or strings. */
export class JsonWriter {
  #buffer: Buffer;
  #length = 0;
  #cuts = 0;
  readonly #limit: number;

  /**
   * @param limit bytes; growing past it throws RangeError
   * @param initial bytes to begin with, for a writer that is kept; others begin with what the last one left
   */
  constructor(limit = Number.POSITIVE_INFINITY, initial?: number) {
    if (initial === undefined && spare) {
      this.#buffer = spare;
      spare = undefined;
    } else this.#buffer = Buffer.allocUnsafe(initial ?? INITIAL);
    this.#limit = limit;
  }

  /** bytes written so far */
  get length(): number {
    return this.#length;
  }

  /** Takes back everything after `length`, for a value that turned out to be empty. */
  truncate(length: number): void {
    if (length < this.#length) this.#cuts++;
    this.#length = length;
  }

  /** How often written bytes were taken back: what was noted about places before the last time may not hold. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Appends bytes that were written before, of [start, end). */
  again(start: number, end: number): void {
    this.#reserve(end - start);
    this.#buffer.copyWithin(this.#length, start, end);
    this.#length += end - start;
  }

  /** The byte before the end, or 0. */
  get last(): number {
    return this.#length === 0 ? 0 : this.#buffer[this.#length - 1];
  }

  #reserve(bytes: number): void {
    const need = this.#length + bytes;
    if (need <= this.#buffer.length && need <= this.#limit) return;
    if (need > this.#limit) throw new RangeError(`answer exceeds ${this.#limit} bytes`);
    const grown = Buffer.allocUnsafe(Math.max(need, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  /** One byte as it is. */
  byte(code: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = code;
  }

  /** ASCII text as it is: punctuation, numbers, literals. */
  ascii(text: string): void {
    this.#reserve(text.length);
    const buffer = this.#buffer;
    let at = this.#length;
    for (let i = 0; i < text.length; i++) buffer[at++] = text.charCodeAt(i);
    this.#length = at;
  }

  /** A whole number in decimal digits. */
  integer(value: number | bigint): void {
    if (typeof value !== 'number' || value < 0 || value > MOST_DIGITS) {
      this.ascii(String(value));
      return;
    }
    let digits = 1;
    for (let bound = 10; bound <= value; bound *= 10) digits++;
    this.#reserve(digits);
    let rest = value;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const tenth = (rest / 10) | 0;
      this.#buffer[at] = 0x30 + rest - tenth * 10;
      rest = tenth;
    }
    this.#length += digits;
  }

  /** A finite number as JavaScript shows it. */
  number(value: number): void {
    const thousand = Math.round(value * 1_000);
    // a decimal of so few digits is the shortest text of the number that it stands for
    if (!(thousand > 0 && thousand <= MOST_DIGITS && thousand / 1_000 === value)) {
      this.ascii(String(value));
      return;
    }
    const whole = (thousand / 1_000) | 0;
    this.integer(whole);
    let rest = thousand - whole * 1_000;
    if (rest === 0) return;
    this.byte(POINT);
    for (let unit = 100; rest > 0; unit = (unit / 10) | 0) {
      const digit = (rest / unit) | 0;
      this.byte(0x30 + digit);
      rest -= digit * unit;
    }
  }

  /** Any text as it is, in UTF-8: an already serialised JSON value. */
  raw(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#buffer.write(text, this.#length, 'utf8');
  }

  /** Bytes as they are: an already serialised JSON value or a prepared `"key":`. */
  bytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.#reserve(end - start);
    const buffer = this.#buffer;
    const at = this.#length;
    if (end - start > MANY) buffer.set(bytes.subarray(start, end), at);
    else for (let i = start; i < end; i++) buffer[at + i - start] = bytes[i];
    this.#length = at + end - start;
  }

  /** A JSON string from UTF-8 bytes, escaped as needed. */
  utf8(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.byte(QUOTE);
    // room for nothing but escapes is six times what most texts take
    for (let from = start; from < end; from += ESCAPED) this.#escaped(bytes, from, Math.min(from + ESCAPED, end));
    this.byte(QUOTE);
  }

  #escaped(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve((end - start) * 6);
    const buffer = this.#buffer;
    let at = this.#length;
    for (let i = start; i < end; i++) {
      const c = bytes[i];
      if (c >= 0x20 && c !== QUOTE && c !== BACKSLASH) {
        buffer[at++] = c;
        continue;
      }
      buffer[at++] = BACKSLASH;
      if (c === QUOTE || c === BACKSLASH) buffer[at++] = c;
      else if (c === 0x0a) buffer[at++] = 0x6e;
      else if (c === 0x0d) buffer[at++] = 0x72;
      else if (c === 0x09) buffer[at++] = 0x74;
      else {
        buffer[at++] = 0x75;
        buffer[at++] = 0x30;
        buffer[at++] = 0x30;
        buffer[at++] = HEX.charCodeAt(c >> 4);
        buffer[at++] = HEX.charCodeAt(c & 15);
      }
    }
    this.#length = at;
  }

  /** A JSON string from JavaScript text. */
  string(text: string): void {
    this.raw(JSON.stringify(text));
  }

  /** A copy of the bytes written, trimmed to size. */
  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  /** The same, for a writer that is done: nothing may be written to it any more. */
  take(): Buffer {
    const bytes = this.finish();
    if (this.#buffer.length >= INITIAL && this.#buffer.length <= KEPT) spare = this.#buffer;
    this.#buffer = NOTHING;
    this.#length = 0;
    return bytes;
  }

  /** The bytes written, valid until the next write. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
