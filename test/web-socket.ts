// One client of a WebSocket, that says and hears message by message.
import { once } from 'node:events';
import { WebSocket } from 'ws';

type Message = Readonly<Record<string, unknown>>;

export class TestSocket {
  /** what came and was not heard yet */
  readonly #came: Message[] = [];
  #wake: (() => void) | undefined;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      this.#came.push(JSON.parse(String(data)) as Message);
      this.#wake?.();
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  /** @param url of the service. Rejects with the status of a handshake that was refused */
  static async open(
    url: string,
    {
      protocol = 'graphql-transport-ws',
      path = '/graphql',
      headers = {},
    }: { readonly protocol?: string; readonly path?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<TestSocket> {
    const socket = new WebSocket(url.replace('http', 'ws') + path, protocol, { headers });
    const opened = new TestSocket(socket);
    await Promise.race([
      once(socket, 'open'),
      once(socket, 'unexpected-response').then(async ([, response]) => {
        let body = '';
        for await (const part of response) body += String(part);
        throw Object.assign(new Error(body), { status: response.statusCode });
      }),
    ]);
    return opened;
  }

  say(message: Message | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async hear(): Promise<Message> {
    for (;;) {
      const message = this.#came.shift();
      if (message !== undefined) return message;
      const woken = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
      });
      const closed = await Promise.race([woken, this.closed]);
      if (closed !== undefined) throw new Error(`closed: ${closed.code} ${closed.reason}`);
    }
  }

  /** Says who it is, and hears that it is taken. */
  async greet(payload: Message = {}): Promise<void> {
    this.say({ type: 'connection_init', payload });
    await this.hear();
  }

  /** Asks, and hears the first answer. */
  async ask(query: string, id = '1', type = 'subscribe'): Promise<Message> {
    this.say({ id, type, payload: { query } });
    return await this.hear();
  }
}
