// A real HTTP server that tests point custom logic at: it remembers every call and answers as told.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface RemoteCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  json(): any;
}

interface RemoteReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** text as it is; anything else as JSON */
  readonly body: unknown;
}

export interface Remote {
  readonly url: string;
  readonly calls: RemoteCall[];
  /** how a path is answered from now on */
  on(path: string, answer: (call: RemoteCall) => RemoteReply | Promise<RemoteReply>): void;
  clear(): void;
  close(): Promise<void>;
}

export async function startRemote(): Promise<Remote> {
  const calls: RemoteCall[] = [];
  const answers = new Map<string, (call: RemoteCall) => RemoteReply | Promise<RemoteReply>>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString('utf8');
    const call: RemoteCall = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body,
      json: () => JSON.parse(body),
    };
    calls.push(call);
    const path = decodeURIComponent((request.url ?? '').split('?')[0]);
    const answer =
      answers.get(path) ??
      [...answers].find(([known]) => known.endsWith('*') && path.startsWith(known.slice(0, -1)))?.[1];
    const reply = answer
      ? await answer(call)
      : { status: 404, body: { errors: [{ message: `no answer for ${path}` }] } };
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    on: (path, answer) => answers.set(path, answer),
    clear() {
      calls.length = 0;
      answers.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
