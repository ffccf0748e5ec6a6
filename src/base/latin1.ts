/** V8 keeps typed arrays up to so many bytes in its own heap. */
const ON_HEAP = 64;

/** Bytes as text, one character a byte: they can then be keys of a Map. */
export function latin1(bytes: Uint8Array): string {
  if (bytes instanceof Buffer) return bytes.toString('latin1');
  // asked for its `buffer`, V8 moves such an array out of its heap, which takes longer than all else
  if (bytes.length <= ON_HEAP) return String.fromCharCode.apply(null, bytes as unknown as number[]);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
