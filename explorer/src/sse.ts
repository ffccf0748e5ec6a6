/** One server-sent event. */
export interface Frame {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/** Reads a body of server-sent events; EventSource cannot send headers, and the key is one. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const frame = parse(part);
        if (frame) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(text: string): Frame | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue; // a comment keeps the connection open
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id') id = value;
  }
  if (data.length === 0 && event === 'message') return undefined;
  return { event, data: data.join('\n'), ...(id === undefined ? {} : { id }) };
}
