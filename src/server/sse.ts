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
  /** milliseconds between comment lines that keep proxies from closing an idle stream */
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends headers at once, then each frame as it comes; waits for the socket to drain, so a slow reader slows only its
 * own source. Ends when the source ends or the reader leaves.
 */
export async function sendFrames(
  response: ServerResponse,
  source: AsyncIterable<Frame>,
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
  try {
    for await (const frame of source) {
      if (options.signal.aborted) break;
      if (!response.write(encodeFrame(frame))) await drained(response, options.signal);
    }
  } finally {
    clearInterval(beat);
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
