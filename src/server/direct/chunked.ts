const LINE_END = Buffer.from('\r\n');
const LAST = Buffer.from('0\r\n\r\n');

/** A body of unknown length, as HTTP/1.1 frames it. */
export async function* chunked(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    if (part.length > 0) yield Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, LINE_END]);
  }
  yield LAST;
}
