import { reasonOf } from './close.js';

/** A frame of a client (RFC 6455, 5.2). */
interface Frame {
  readonly isLast: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
  /** bytes of the whole of it */
  readonly length: number;
}

export const OPCODE = { continued: 0, text: 1, close: 8 } as const;
/** opcodes from here on say something of the connection, and may stand within a message */
export const CONTROL = 8;

const MASK_BYTES = 4;

/** The frame that begins at `from`; undefined where it has not come whole. */
export function frameAt(bytes: Buffer, from: number): Frame | undefined {
  const head = bytes.subarray(from);
  if (head.length < 2) return undefined;
  const isMasked = (head[1] & 0x80) !== 0;
  const size = sizeOf(head);
  if (size === undefined) return undefined;
  const begin = size.end + (isMasked ? MASK_BYTES : 0);
  const length = begin + size.bytes;
  if (head.length < length) return undefined;
  const payload = Buffer.from(head.subarray(begin, length));
  if (isMasked) for (let i = 0; i < payload.length; i++) payload[i] ^= head[size.end + (i % MASK_BYTES)];
  return { isLast: (head[0] & 0x80) !== 0, opcode: head[0] & 0x0f, payload, length };
}

/** How long the payload is, and where that is said to its end: in 7 bits, in 16 or in 64. */
function sizeOf(head: Buffer): { readonly bytes: number; readonly end: number } | undefined {
  const short = head[1] & 0x7f;
  if (short < 126) return { bytes: short, end: 2 };
  if (short === 126) return head.length < 4 ? undefined : { bytes: head.readUInt16BE(2), end: 4 };
  return head.length < 10 ? undefined : { bytes: Number(head.readBigUInt64BE(2)), end: 10 };
}

/** A frame of the service that ends the connection. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reasonOf(reason));
  const frame = Buffer.alloc(4 + text.length);
  frame[0] = 0x80 | OPCODE.close;
  frame[1] = 2 + text.length;
  frame.writeUInt16BE(code, 2);
  text.copy(frame, 4);
  return frame;
}
