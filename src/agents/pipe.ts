import { deserialize, serialize } from 'node:v8';
import type { Socket } from 'node:net';
import { GraphsteadError } from '../base/index.js';

// How the main process and a host process reach each other: one socket pair, one frame a tick each way.
//   byte 0..3   bytes of the body, little endian
//   byte 4      codec
//   5..         an array of messages
const HEADER = 5;
const CODEC = { json: 0, v8: 1 } as const;

/** What becomes of one message that cannot go: another that tells so, or nothing. */
type Refused<Out> = (message: Out, error: unknown) => Out | undefined;

interface PipeOptions<In, Out> {
  /** bytes of one message, either way; what arrives larger closes the pipe */
  readonly messageBytes: number;
  take(batch: readonly In[]): void;
  readonly refused: Refused<Out>;
  /** What arrived cannot be read, and the pipe is closed. Without it that is thrown. */
  readonly unreadable?: (error: unknown) => void;
  /** how messages travel, where that differs from what they are */
  readonly codec?: { pack(message: Out): unknown; unpack(travelled: unknown): In };
}

/** One end of the pipe. Messages of a tick go out together: each on its own would cost more than the turn it reports. */
export class Pipe<In, Out> {
  #queue: Out[] = [];
  /** something in the queue is more than JSON holds */
  #rich = false;
  readonly #socket: Socket;
  readonly #refused: Refused<Out>;
  readonly #pack: ((message: Out) => unknown) | undefined;
  #messageBytes: number;

  constructor(socket: Socket, { messageBytes, take, refused, unreadable, codec }: PipeOptions<In, Out>) {
    this.#socket = socket;
    this.#messageBytes = messageBytes;
    this.#refused = refused;
    this.#pack = codec?.pack;
    const frames = new Frames(codec ? (batch) => take(batch.map(codec.unpack)) : (batch) => take(batch as In[]));
    socket.on('data', (part: Buffer) => {
      try {
        // a sender cuts its frames: whoever sends more is not ours any more
        if (!frames.push(part, this.#messageBytes)) socket.destroy();
      } catch (error) {
        if (unreadable === undefined) throw error;
        socket.destroy();
        unreadable(error);
      }
    });
    // what ends the pipe ends a process, and that is told by its exit
    socket.on('error', () => undefined);
  }

  /** From now on; see `PipeOptions`. */
  limit(messageBytes: number): void {
    this.#messageBytes = messageBytes;
  }

  /** Puts a message on this tick's frame. `given` is what app code put into it: values of any kind, or none. */
  tell(message: Out, given?: unknown): void {
    if (this.#queue.length === 0) setImmediate(() => this.flush());
    if (given !== undefined && !this.#rich) this.#rich = !isPlain(given);
    this.#queue.push(message);
  }

  /** Sends what waits. */
  flush(): void {
    const batch = this.#queue;
    const rich = this.#rich;
    this.#queue = [];
    this.#rich = false;
    if (batch.length === 0 || !this.#socket.writable) return;
    try {
      this.#socket.write(this.#frame(batch, rich));
    } catch {
      for (const message of batch) this.#alone(message, rich);
    }
  }

  #alone(message: Out, rich: boolean): void {
    try {
      this.#socket.write(this.#frame([message], rich));
    } catch (error) {
      const instead = this.#refused(message, error);
      if (instead !== undefined) this.#socket.write(this.#frame([instead], false));
    }
  }

  #frame(batch: readonly Out[], rich: boolean): Buffer {
    const packed = this.#pack === undefined ? batch : batch.map(this.#pack);
    return rich ? v8Frame(packed, this.#messageBytes) : jsonFrame(packed, this.#messageBytes);
  }
}

/** Puts frames together again from the parts that arrive. */
class Frames {
  readonly #take: (batch: readonly unknown[]) => void;
  #parts: Buffer[] = [];
  #held = 0;
  /** bytes of the frame that is arriving, as far as it is known */
  #wanted = HEADER;

  constructor(take: (batch: readonly unknown[]) => void) {
    this.#take = take;
  }

  /** False for a frame of more than `most` bytes: nothing is to be pushed any more. */
  push(part: Buffer, most: number): boolean {
    this.#parts.push(part);
    this.#held += part.length;
    while (this.#held >= this.#wanted) {
      const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts, this.#held);
      const whole = HEADER + bytes.readUInt32LE(0);
      if (whole > HEADER + most) return false;
      this.#parts = [bytes];
      if (bytes.length < whole) {
        this.#wanted = whole;
        return true;
      }
      const rest = bytes.subarray(whole);
      this.#parts = rest.length === 0 ? [] : [rest];
      this.#held = rest.length;
      this.#wanted = HEADER;
      this.#take(decode(bytes.subarray(4, whole)) as unknown[]);
    }
    return true;
  }
}

function decode(body: Buffer): unknown {
  return body[0] === CODEC.v8 ? deserialize(body.subarray(1)) : JSON.parse(body.toString('utf8', 1));
}

function jsonFrame(batch: readonly unknown[], most: number): Buffer {
  const text = JSON.stringify(batch);
  const bytes = Buffer.byteLength(text);
  assertFits(bytes, most);
  const frame = Buffer.allocUnsafe(HEADER + bytes);
  head(frame, CODEC.json).write(text, HEADER, 'utf8');
  return frame;
}

function v8Frame(batch: readonly unknown[], most: number): Buffer {
  const body = serialize(batch);
  assertFits(body.length, most);
  const frame = Buffer.allocUnsafe(HEADER + body.length);
  head(frame, CODEC.v8).set(body, HEADER);
  return frame;
}

function assertFits(bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new GraphsteadError('LIMIT_EXCEEDED', `${bytes} bytes at once; limits.hostMessageBytes is ${most}`, {
    fix: 'hand over less at once: a page of it, or a stream',
  });
}

function head(frame: Buffer, codec: number): Buffer {
  frame.writeUInt32LE(frame.length - HEADER, 0);
  frame[4] = codec;
  return frame;
}

/** values that are looked at before JSON is given up: what is larger, deeper or circular goes the other way */
const LOOKED_AT = 256;

/** JSON gives it back as it was. What throws when it is looked at is not plain. */
export function isPlain(value: unknown): boolean {
  let left = LOOKED_AT;
  const plain = (one: unknown): boolean => {
    if (--left < 0) return false;
    if (one === null || typeof one === 'string' || typeof one === 'boolean') return true;
    if (typeof one === 'number') return Number.isFinite(one) && !Object.is(one, -0);
    if (typeof one !== 'object') return false;
    if (Array.isArray(one)) {
      for (let i = 0; i < one.length; i++) if (!plain(one[i])) return false; // a hole is undefined
      return true;
    }
    if (Object.getPrototypeOf(one) !== Object.prototype || 'toJSON' in one) return false;
    return Object.values(one).every(plain);
  };
  try {
    return plain(value);
  } catch {
    return false;
  }
}
