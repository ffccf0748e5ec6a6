/** Messages of a PostgreSQL client out of the bytes that come. */
export class PgReader {
  #bytes: Buffer = Buffer.alloc(0);

  take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
  }

  /** The first message, which has no type; undefined until it is there. */
  startup(): { readonly type: string; readonly body: Buffer } | undefined {
    return this.#cut(0);
  }

  next(): { readonly type: string; readonly body: Buffer } | undefined {
    return this.#cut(1);
  }

  #cut(from: number): { readonly type: string; readonly body: Buffer } | undefined {
    const bytes = this.#bytes;
    if (bytes.length < from + 4) return undefined;
    const end = from + bytes.readInt32BE(from);
    if (bytes.length < end) return undefined;
    this.#bytes = bytes.subarray(end);
    return { type: bytes.toString('latin1', 0, from), body: bytes.subarray(from + 4, end) };
  }
}

/** Messages to a PostgreSQL client: begun by `message`, filled, ended by `end`. */
export class PgWriter {
  #done: Buffer[] = [];
  #parts: Buffer[] = [];
  #type = '';

  message(type: string): this {
    this.#type = type;
    this.#parts = [];
    return this;
  }

  byte(value: number): this {
    this.#parts.push(Buffer.of(value));
    return this;
  }

  int16(value: number): this {
    const bytes = Buffer.alloc(2);
    bytes.writeInt16BE(value);
    this.#parts.push(bytes);
    return this;
  }

  int32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    this.#parts.push(bytes);
    return this;
  }

  /** text and the zero behind it */
  text(value: string): this {
    this.#parts.push(Buffer.from(`${value}\0`));
    return this;
  }

  /** a value of a row with its length */
  value(text: string | null): this {
    if (text === null) return this.int32(-1);
    const bytes = Buffer.from(text);
    this.int32(bytes.length);
    this.#parts.push(bytes);
    return this;
  }

  end(): void {
    const body = Buffer.concat(this.#parts);
    const head = Buffer.alloc(5);
    head.write(this.#type, 'latin1');
    head.writeInt32BE(body.length + 4, 1);
    this.#done.push(head, body);
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#done);
    this.#done = [];
    return bytes;
  }
}
