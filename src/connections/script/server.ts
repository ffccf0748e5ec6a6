import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that reached a scripted server. */
interface Received {
  /** what the script stands for: the first part of the path */
  readonly name: string;
  /** the rest of it with its query, from its slash on */
  readonly path: string;
  readonly request: IncomingMessage;
  readonly body: string;
}

interface ScriptedServer {
  /** Address below which everything is `name`'s. */
  baseUrl(name: string): string;
  close(): Promise<void>;
}

/** An HTTP server on a free port of this machine. What `answer` throws is answered with status 500 and its text. */
export async function openScriptedServer(
  answer: (received: Received, response: ServerResponse) => Promise<void>,
): Promise<ScriptedServer> {
  const server = createServer((request, response) => {
    receive(request)
      .then((received) => answer(received, response))
      .catch((error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function receive(request: IncomingMessage): Promise<Received> {
  const [, name, path] = /^\/([^/?]*)(.*)$/.exec(request.url ?? '') ?? [undefined, '', ''];
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return { name: decodeURIComponent(name), path, request, body: Buffer.concat(parts).toString('utf8') };
}
