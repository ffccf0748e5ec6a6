// Reads server-sent events from a response, one at a time.
export interface SseEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: string;
}

export interface SseStream {
  readonly status: number;
  readonly headers: Headers;
  /** the next event; undefined at the end */
  next(): Promise<SseEvent | undefined>;
  /** the `data` of the next execution result */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  value(): Promise<any>;
  close(): void;
}

export async function openStream(url: string, init: RequestInit): Promise<SseStream> {
  const controller = new AbortController();
  const response = await fetch(url, { ...init, signal: controller.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  async function next(): Promise<SseEvent | undefined> {
    for (;;) {
      const end = rest.indexOf('\n\n');
      if (end !== -1) {
        const block = rest.slice(0, end);
        rest = rest.slice(end + 2);
        const event = parse(block);
        if (event) return event;
        continue;
      }
      const part = await reader?.read();
      if (!part || part.done) return undefined;
      rest += part.value;
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    next,
    async value() {
      const event = await next();
      return event?.data ? JSON.parse(event.data) : undefined;
    },
    close: () => controller.abort(),
  };
}

function parse(block: string): SseEvent | undefined {
  const fields = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
  if (fields.length === 0) return undefined;
  const get = (name: string) =>
    fields.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
  return { event: get('event')[0], id: get('id')[0], data: get('data').join('\n') };
}
