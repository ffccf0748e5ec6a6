import type { ServerResponse } from 'node:http';

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

export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** follows when the source has ended */
  readonly last?: Frame;
  /** milliseconds between comment lines that keep proxies from closing an idle stream */
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
}

/** characters that are written at once, at the latest */
const AT_ONCE = 64 * 1024;

/** Frames that come in one turn of the event loop go out in one write: of a burst to many readers, writing is the most. */
class FrameWriter {
  #pending = '';

  constructor(readonly response: ServerResponse) {}

  add(text: string): void {
    if (this.#pending === '') process.nextTick(this.flush);
    this.#pending += text;
    if (this.#pending.length >= AT_ONCE) this.flush();
  }

  readonly flush = (): void => {
    const text = this.#pending;
    this.#pending = '';
    if (text !== '' && !this.response.writableEnded) this.response.write(text);
  };
}

/**
 * Sends headers at once, then each frame as it comes (text is a frame already encoded); waits for the socket to drain, so
 * a slow reader slows only its own source. Ends when the source ends or the reader leaves.
 */
export async function sendFrames(
  response: ServerResponse,
  source: AsyncIterable<Frame | string>,
  options: StreamOptions,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    connection: 'keep-alive',
    'x-accel-buffering': 'no',
    ...options.headers,
  });
  response.flushHeaders();
  response.write(':\n\n');
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(':\n\n');
  }, options.heartbeatMs);
  beat.unref();
  const writer = new FrameWriter(response);
  try {
    for await (const frame of source) {
      if (options.signal.aborted) break;
      writer.add(typeof frame === 'string' ? frame : encodeFrame(frame));
      if (response.writableNeedDrain) await drained(response, options.signal);
    }
    if (options.last && !options.signal.aborted) writer.add(encodeFrame(options.last));
  } finally {
    clearInterval(beat);
    writer.flush();
    response.end();
  }
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
