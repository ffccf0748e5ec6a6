import type { ServerResponse } from 'node:http';
import { each } from '../base/index.js';

/**
 * One server-sent event. `id` is left out where the reader's position must not move. Without `data` it is no event:
 * its id moves the reader's position unseen.
 */
export interface Frame {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
}

export function encodeFrame({ event, id, data }: Frame): string {
  const head = `${event ? `event: ${event}\n` : ''}${id ? `id: ${id}\n` : ''}`;
  if (data === undefined) return `${head}\n`;
  const lines = data.includes('\n') ? data.split('\n').map((line) => `data: ${line}`) : [`data: ${data}`];
  return `${head}${lines.join('\n')}\n\n`;
}

/** Frames that go to many readers as they are: their bytes, and the HTTP chunk around them, are made once. */
export class SharedFrames {
  #chunk: Buffer | undefined;

  constructor(readonly text: string) {}

  get chunk(): Buffer {
    this.#chunk ??= Buffer.from(`${Buffer.byteLength(this.text).toString(16)}\r\n${this.text}\r\n`);
    return this.#chunk;
  }
}

/** characters that are written at once, at the latest */
const AT_ONCE = 64 * 1024;

/** Frames that come in one turn of the event loop go out in one write: of a burst to many readers, writing is the most. */
class FrameWriter {
  #text = '';
  /** waits alone, as it is */
  #shared: SharedFrames | undefined;

  constructor(readonly response: ServerResponse) {}

  add(frames: string | SharedFrames): void {
    if (this.#text === '' && this.#shared === undefined) {
      process.nextTick(this.flush);
      if (typeof frames !== 'string') {
        this.#shared = frames;
        return;
      }
    }
    this.#text += this.#shared?.text ?? '';
    this.#shared = undefined;
    this.#text += typeof frames === 'string' ? frames : frames.text;
    if (this.#text.length >= AT_ONCE) this.flush();
  }

  readonly flush = (): void => {
    const { response } = this;
    const text = this.#text;
    const shared = this.#shared;
    this.#text = '';
    this.#shared = undefined;
    if (response.writableEnded) return;
    if (text !== '') response.write(text);
    else if (shared !== undefined) this.#share(shared);
  };

  /** Past the response, which would write each chunk in four pieces, copied for each reader. */
  #share(frames: SharedFrames): void {
    const { socket, chunkedEncoding } = this.response;
    if (socket?.writable && chunkedEncoding) socket.write(frames.chunk);
    else this.response.write(frames.text);
  }
}

interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** milliseconds between comment lines that keep proxies from closing an idle stream */
  readonly heartbeatMs: number;
  /** aborts when the reader leaves, and at shutdown */
  readonly signal: AbortSignal;
}

/** An answer of server-sent events, whose headers go out at once. */
export class EventStream {
  readonly signal: AbortSignal;
  readonly #response: ServerResponse;
  readonly #writer: FrameWriter;
  readonly #beat: NodeJS.Timeout | undefined;
  /** one for all sources that wait */
  #drained: Promise<void> | undefined;

  constructor(response: ServerResponse, { headers, heartbeatMs, signal }: EventStreamOptions) {
    this.signal = signal;
    this.#response = response;
    this.#writer = new FrameWriter(response);
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
      ...headers,
    });
    if (response.req.method === 'HEAD') {
      response.end(); // what is asked next on the connection would wait for it
      return;
    }
    response.flushHeaders();
    // a byte for proxies that keep the headers back until one comes; no blank line: some readers take the first for an event's end
    response.write(':\n');
    this.#beat = setInterval(() => {
      if (!response.writableNeedDrain) response.write(':\n\n');
    }, heartbeatMs).unref();
  }

  /** A text is a frame already encoded. */
  add(frame: Frame | string | SharedFrames): void {
    this.#writer.add(typeof frame === 'string' || frame instanceof SharedFrames ? frame : encodeFrame(frame));
  }

  /**
   * Adds each frame of a source as it comes, until it ends or its reader leaves. Waits for the socket to drain, so that a slow
   * reader slows only its own sources.
   */
  async send(source: AsyncIterable<Frame | string | SharedFrames>, left: AbortSignal = this.signal): Promise<void> {
    if (this.#response.writableEnded) return;
    await each(
      source,
      (frame) => {
        this.add(frame);
        return needsDrain(this.#response) ? this.#untilDrained() : undefined;
      },
      left,
    );
  }

  end(): void {
    clearInterval(this.#beat);
    this.#writer.flush();
    this.#response.end();
  }

  #untilDrained(): Promise<void> {
    this.#drained ??= drained(this.#response, this.signal).then(() => {
      this.#drained = undefined;
    });
    return this.#drained;
  }
}

/** The socket's own need tells of what went past the response. */
function needsDrain({ writableNeedDrain, socket }: ServerResponse): boolean {
  return writableNeedDrain || socket?.writableNeedDrain === true;
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  const { socket } = response;
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      socket?.off('drain', done);
      response.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done); // it has no socket yet while it waits behind another answer
    socket?.once('drain', done);
    response.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
