const encoder = new TextEncoder();
const SHORT = 64;

/**
 * UTF-8 bytes of a text behind `room` bytes of zeros, in memory of their own: small Buffers share a slab, which values
 * and tokens that live long would keep alive. Short ASCII texts are copied here, which is faster than a call.
 */
export function utf8Bytes(text: string, room = 0): Uint8Array {
  if (text.length > SHORT) return encoded(text, room);
  const bytes = new Uint8Array(room + text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return encoded(text, room);
    bytes[room + i] = unit;
  }
  return bytes;
}

function encoded(text: string, room: number): Uint8Array {
  if (room === 0) return encoder.encode(text);
  const bytes = new Uint8Array(room + Buffer.byteLength(text));
  encoder.encodeInto(text, bytes.subarray(room));
  return bytes;
}

/** Order by code point, which is the order of UTF-8 bytes; JavaScript's own order is that of UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return ranked(x) < ranked(y) ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

/** Surrogates stand for the highest code points, above those that UTF-16 puts behind them. */
function ranked(unit: number): number {
  return unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
